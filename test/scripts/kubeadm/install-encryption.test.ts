import { strict as assert } from "node:assert";
import {
  renderEncryptionFiles,
  getEncryptionFlags,
} from "../../../components/kubeadm/secrets-encryption.js";
import { startEncryptionProgram } from "../../../components/kubeadm/node-scripts.js";
import { controlPlaneMachine, runControlPlane } from "../../support/machine/control-plane.js";
import { askerValues, controlPlaneRequests } from "../../support/machine/join-stubs.js";
import { Sandbox } from "../../support/machine/sandbox.js";
import { converge, flag, staticPods } from "../../support/machine/static-pod-stubs.js";

const kubernetes = {
  apiServer: { extraArgs: {} },
  encryptionKey: Buffer.alloc(32, 7).toString("base64"),
};
const ENCRYPTION = renderEncryptionFiles(kubernetes);
const [digest = "", encrypts = "", plain = ""] = ENCRYPTION.split(" ");
const file = String(getEncryptionFlags(kubernetes)?.["encryption-provider-config"]).slice(1);
const decoded = (data: string): string => Buffer.from(data, "base64").toString();

/** Sets the states that the control planes report, one per line. */
const says = (machine: Sandbox, ...lines: readonly string[]): void => {
  machine.put("says", `${lines.join("\n")}\n`);
  machine.stub(
    "kubectl",
    `case "$*" in *"get nodes -l"*) cat "$root/says" ;; esac; ${machine.bodyOf("kubectl")}`,
  );
};
const own = `"${digest}"`;

describe("encryption of Secrets on a control plane", () => {
  let machine: Sandbox;
  afterEach(() => {
    machine.close();
  });
  const text = (): string | undefined => machine.file(file);

  it("encrypts from the first API server of a new cluster on", () => {
    machine = controlPlaneMachine();
    says(machine, own);
    machine.stub(
      "kubeadm",
      `case "$1 $2" in "init --config") cp /${file} "$root/before" ;; esac; ${machine.bodyOf("kubeadm")}`,
    );
    machine.stub("cp", 'exec /bin/cp "$@"');
    const { code, stderr } = runControlPlane(machine, { ENCRYPTION });
    assert.equal(code, 0, stderr);
    assert.equal(machine.file("before"), decoded(encrypts));
    assert.equal(machine.file("etc/systemd/system/stackadm-encrypt.timer"), undefined);
    assert.equal(text(), decoded(encrypts));
  });

  it("waits until every control plane of an existing cluster reads the key, and retries by a timer", () => {
    machine = staticPods();
    says(machine, own, "none");
    const { code, stderr, calls } = converge(machine, { ENCRYPTION });
    assert.equal(code, 0, stderr);
    assert.equal(text(), decoded(plain));
    assert.ok(
      calls.some((call) =>
        call.endsWith(
          `annotate node dev-control-plane-0 --overwrite stackadm.io/encryption=${digest}`,
        ),
      ),
    );
    assert.ok(calls.includes("systemctl enable --now stackadm-encrypt.timer"));
    machine.put("says", `${own}\n${own}\n`);
    assert.equal(machine.execute(startEncryptionProgram, "settle", digest).code, 0);
    assert.equal(text(), decoded(encrypts));
    const settled = converge(machine, { ENCRYPTION });
    assert.equal(text(), decoded(encrypts), "what was settled stays");
    assert.ok(settled.calls.includes("systemctl disable --now stackadm-encrypt.timer"));
    assert.ok(!settled.calls.some((call) => call.includes("get nodes -l")), "no node is listed");
  });

  it("deletes key and annotation if the user sets a file, and starts over once the user removes the file", () => {
    machine = staticPods();
    says(machine, own);
    converge(machine, { ENCRYPTION });
    assert.equal(machine.execute(startEncryptionProgram, "settle", digest).code, 0);
    const { code, stderr, calls } = converge(machine, { CONFIGURATION: flag("mine") });
    assert.equal(code, 0, stderr);
    assert.equal(text(), undefined);
    const told = "annotate node dev-control-plane-0 stackadm.io/encryption-";
    assert.ok(calls.some((call) => call.endsWith(told)));
    assert.ok(calls.includes("systemctl disable --now stackadm-encrypt.timer"));
    says(machine, own, "none");
    converge(machine, { ENCRYPTION });
    assert.equal(text(), decoded(plain), "the others do not read it yet");
  });

  it("accepts the wait's exit code in the systemd unit, and runs the timer on time", () => {
    machine = staticPods();
    says(machine, own, "none");
    converge(machine, { ENCRYPTION });
    const unit = (end: string) => machine.file(`etc/systemd/system/stackadm-encrypt.${end}`) ?? "";
    assert.match(unit("service"), /^SuccessExitStatus=1$/m);
    // With systemd's default of one minute, data would not be encrypted within two minutes.
    assert.match(unit("timer"), /^AccuracySec=1$/m);
  });

  it("annotates the node only after the API server runs with the key", () => {
    machine = staticPods();
    says(machine, own);
    const { code, calls } = converge(machine, {
      ENCRYPTION,
      CONFIGURATION: 'apiServer:\n  extraArgs:\n    - name: broken\n      value: "1"\n',
    });
    assert.equal(code, 1);
    assert.ok(!calls.some((call) => call.includes("annotate")));
    assert.equal(text(), decoded(plain));
  });

  for (const [answer, first] of [
    ["exit 0", encrypts],
    ["exit 3", plain],
    ["exit 64", plain],
    ["exit 255", plain],
  ] as const)
    it(`lets a joining machine write ${first === plain ? "plain" : "encrypted"} data if a peer answers ${answer}`, () => {
      machine = controlPlaneMachine();
      says(machine, "none");
      machine.stub(
        "ssh",
        `case "$*" in *encrypts*) ${answer} ;; *token*) echo "abcdef.0123456789abcdef sha256:abc123 KEY" ;; esac`,
      );
      runControlPlane(machine, { PEERS: askerValues.PEERS, ENCRYPTION, KUBEADM_INIT: "" });
      assert.equal(text(), decoded(first));
    });

  describe("on a joining machine with a peer's file", () => {
    const joining = (values: object, encryptsElsewhere: string): string => {
      machine = controlPlaneMachine();
      says(machine, "none");
      const given = `stackadm-encryption/${digest}.yaml ${Buffer.from("FORMER").toString("base64")}`;
      machine.stub(
        "ssh",
        `case "$*" in *encrypts*) ${encryptsElsewhere} ;; *files) echo "${given}" ;; *token*) echo "abcdef.0123456789abcdef sha256:abc123 KEY" ;; esac`,
      );
      machine.stub("stat", 'exec /usr/bin/stat "$@"');
      machine.stub(
        "kubeadm",
        `case "$1" in join) { cat /${file}; stat -c ' %a' /etc/kubernetes/stackadm-encryption /${file}; } >$root/when; mkdir -p /etc/kubernetes/pki; echo CONF >/etc/kubernetes/admin.conf; echo CA >/etc/kubernetes/pki/ca.crt ;; esac`,
      );
      runControlPlane(machine, { PEERS: askerValues.PEERS, KUBEADM_INIT: "", ...values });
      return machine.file("when") ?? "";
    };

    it("provides the file when kubeadm starts the API server, and then deletes the file if encryption is off", () => {
      assert.equal(joining({}, "exit 64"), "FORMER 700\n 600\n");
      assert.equal(text(), undefined);
    });

    it("keeps the machine's own file if encryption is on", () => {
      assert.equal(joining({ ENCRYPTION }, "exit 3"), `${decoded(plain)} 700\n 600\n`);
    });
  });

  it("sends no encryption request to peers if encryption is off", () => {
    machine = controlPlaneMachine();
    machine.stub(
      "ssh",
      'case "$*" in *token*) echo "abcdef.0123456789abcdef sha256:abc123 K" ;; esac',
    );
    const { calls } = runControlPlane(machine, { PEERS: askerValues.PEERS, KUBEADM_INIT: "" });
    assert.ok(!controlPlaneRequests(calls).some((wish) => wish.includes("encrypts")));
  });
});

describe("start-encryption.sh", () => {
  it("fails if the API lists no control plane, does not answer, or lists another key", () => {
    for (const answer of ["exit 0", "exit 1", `printf '"%s"\\n"000000000000"\\n' ${digest}`]) {
      const machine = new Sandbox({ kubectl: answer, systemctl: "exit 0" });
      assert.notEqual(machine.execute(startEncryptionProgram, "readable", digest).code, 0, answer);
      machine.close();
    }
  });
});
