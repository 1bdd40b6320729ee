import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import {
  controlPlaneScripts,
  approveKubeletCertificatesProgram,
} from "../../../../components/kubeadm/node-scripts.js";
import {
  controlPlaneMachine,
  controlPlaneValues,
  runControlPlane,
} from "../../../support/machine/control-plane.js";
import { Sandbox } from "../../../support/machine/sandbox.js";

const openssl = (args: readonly string[]): string => {
  const done = spawnSync("openssl", args, { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
};

/** Returns a certificate request like kubelet's, with a new key. */
const request = (subject: string, ...names: readonly string[]): string =>
  openssl([
    ...["req", "-new", "-newkey", "ed25519", "-nodes", "-keyout", "/dev/null", "-subj", subject],
    ...(names.length === 0 ? [] : ["-addext", `subjectAltName=${names.join(",")}`]),
  ]);
const subjectOf = (node: string): string => `/O=system:nodes/CN=system:node:${node}`;

const nodes = [
  "dev-control-plane-0 10.0.0.5 control-plane",
  "dev-control-plane-0 203.0.113.7 control-plane",
  "dev-general-0 10.0.0.9",
  "dev-general-0 fd00::9",
  "dev-general-0 203.0.113.7",
  "dev-general-1 10.0.0.10",
  "dev-general-1 10.0.0.100",
];
const worker = "dev-general-0";
const own = ["DNS:dev-general-0", "IP:10.0.0.9"];

describe("approve-kubelet-certificates.sh", () => {
  let machine: Sandbox;
  let apiCertificate: string;
  before(() => {
    apiCertificate = openssl([
      ...["req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", "/dev/null", "-subj", "/CN=a"],
      ...["-addext", "subjectAltName=DNS:api.dev.internal,IP:10.0.0.5,IP:10.0.0.100"],
    ]);
  });
  beforeEach(() => {
    const real = (name: string) => `exec /usr/bin/${name} "$@"`;
    machine = new Sandbox({ openssl: real("openssl"), getent: real("getent") });
    machine.put("etc/kubernetes/pki/apiserver.crt", apiCertificate);
    machine.put("nodes", `${nodes.join("\n")}\n`);
  });
  afterEach(() => {
    machine.close();
  });

  /**
   * Returns the decisions about these requests. The stub lists one `NAME USER REQUEST` per line.
   */
  const decided = (...requests: readonly (readonly [user: string, pem: string])[]) => {
    const lines = requests.map(([user, pem], index) =>
      [`csr-${String(index)}`, user, Buffer.from(pem).toString("base64")].join(" "),
    );
    machine.put("requests", `${lines.join("\n")}\n`);
    machine.stub(
      "kubectl",
      'case "$*" in "get certificatesigning"*) cat "$root/requests" ;; "get nodes"*) cat "$root/nodes" ;; esac',
    );
    const once = approveKubeletCertificatesProgram.replace(
      "while ((SECONDS < end))",
      "for _ in once",
    );
    const { code, stderr, calls } = machine.execute(once);
    assert.equal(code, 0, stderr);
    const watch = calls.find((call) => call.startsWith("kubectl get certificatesigning")) ?? "";
    assert.match(watch, /--watch .*spec\.signerName=kubernetes\.io\/kubelet-serving /);
    return calls.flatMap((call) => /^kubectl certificate (.*)$/.exec(call)?.[1] ?? []);
  };
  const asked = (node: string, ...names: readonly string[]) =>
    [`system:node:${node}`, request(subjectOf(node), ...names)] as const;

  it("approves a node's own name and addresses in any notation, and skips other requests", () => {
    assert.deepEqual(
      decided(
        asked(worker, "IP:10.0.0.1"),
        asked(worker, ...own, "IP:fd00:0::9"),
        asked("dev-control-plane-0", "DNS:dev-control-plane-0", "IP:10.0.0.5", "IP:203.0.113.7"),
      ),
      ["approve csr-1", "approve csr-2"],
    );
  });

  const refused: Readonly<Record<string, () => readonly [string, string]>> = {
    "another node's address": () => asked(worker, ...own, "IP:10.0.0.10"),
    "an address that another node reports": () => asked(worker, ...own, "IP:203.0.113.7"),
    "an address of no node": () => asked(worker, ...own, "IP:10.0.0.77"),
    "an address of the API": () => asked("dev-general-1", "IP:10.0.0.100"),
    "the API's name": () => asked(worker, ...own, "DNS:api.dev.internal"),
    "another node's name": () => asked(worker, "DNS:dev-general-1", "IP:10.0.0.9"),
    "a name that begins with the node's name": () =>
      asked(worker, "DNS:dev-general-01", "IP:10.0.0.9"),
    "a request without names": () => asked(worker),
    "an email address": () => asked(worker, ...own, "email:root@dev-general-0"),
    "a subject that differs from the user": () => [
      `system:node:${worker}`,
      request(subjectOf("dev-general-1"), "DNS:dev-general-1", "IP:10.0.0.10"),
    ],
    "a subject with another group": () => [
      `system:node:${worker}`,
      request(`/O=system:masters${subjectOf(worker)}`, ...own),
    ],
    "a user that is not a node": () => [worker, request(subjectOf(worker), ...own)],
    "two requests in one": () => [
      `system:node:${worker}`,
      request(subjectOf(worker), ...own) + request(subjectOf("dev-general-1"), "DNS:x"),
    ],
    "a malformed request": () => [`system:node:${worker}`, "-----BEGIN nothing\n"],
  };
  for (const [what, of] of Object.entries(refused))
    it(`does not approve ${what}`, () => {
      assert.deepEqual(decided(of()), []);
    });

  it("approves no worker's address while the API server's certificate cannot be read", () => {
    machine.put("etc/kubernetes/pki/apiserver.crt");
    assert.deepEqual(decided(asked("dev-general-1", "IP:10.0.0.100"), asked(worker, ...own)), []);
  });

  it("approves a worker's address even if openssl exits with 1 for an address that does not match", () => {
    machine.stub(
      "openssl",
      'case "$*" in *-checkip*) /usr/bin/openssl "$@" | (read -r said; echo "$said"; [[ $said == *" does match "* ]]) ;; *) exec /usr/bin/openssl "$@" ;; esac',
    );
    assert.deepEqual(decided(asked(worker, ...own)), ["approve csr-0"]);
    assert.deepEqual(decided(asked("dev-general-1", "IP:10.0.0.100")), []);
  });

  it("does not approve a name after a line break", () => {
    const names = "DER:" + sequence([dns(`${worker}\n`), dns("api.dev.internal")]);
    const pem = openssl([
      ...["req", "-new", "-newkey", "ed25519", "-nodes", "-keyout", "/dev/null"],
      ...["-subj", subjectOf(worker), "-addext", `subjectAltName=${names}`],
    ]);
    assert.deepEqual(decided([`system:node:${worker}`, pem]), []);
  });
});

/** Returns a DNS name of a certificate in DER; it must be shorter than 128 bytes. */
const dns = (name: string): Buffer =>
  Buffer.concat([Buffer.from([0x82, name.length]), Buffer.from(name)]);
const sequence = (parts: readonly Buffer[]): string => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]).toString("hex");
};

/** Returns the scripts with shorter waits. */
const impatient = (scripts: readonly string[]): readonly string[] =>
  scripts.map((text) => text.replace("poll 120 test -e", "poll 1 test -e"));

describe("install-kubelet-certificate-approver.sh", () => {
  const KUBELET_CONFIGURATION =
    "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nserverTLSBootstrap: true\n";
  const program = "usr/local/sbin/stackadm-serving";
  let machine: Sandbox;
  beforeEach(() => {
    machine = controlPlaneMachine();
    machine.put("var/lib/kubelet/config.yaml", "serverTLSBootstrap: true\n");
    machine.put("kubelet-map", KUBELET_CONFIGURATION);
    machine.stub(
      "kubectl",
      `case "$*" in *kubelet-config*jsonpath*) cat "$root/kubelet-map" ;; *) ${machine.bodyOf("kubectl")} ;; esac`,
    );
  });
  afterEach(() => {
    machine.close();
  });

  it("installs and starts the approver", () => {
    machine.put("var/lib/kubelet/pki/kubelet-server-current.pem");
    const { code, stderr, calls } = runControlPlane(machine, { KUBELET_CONFIGURATION });
    assert.equal(code, 0, stderr);
    assert.match(machine.file(program) ?? "", /kubectl certificate approve/);
    assert.ok(calls.includes("systemctl enable stackadm-serving.service"));
    assert.ok(calls.includes("systemctl restart stackadm-serving.service"));
  });

  it("fails if the machine's own serving certificate is not approved", () => {
    const values = { ...controlPlaneValues, KUBELET_CONFIGURATION };
    const { code, stderr } = machine.run(impatient(controlPlaneScripts), values);
    assert.equal(code, 1);
    assert.match(stderr, /reason: kubelet of dev-control-plane-0 got no serving certificate/);
  });

  it("stops and deletes the approver if serverTLSBootstrap is no longer set", () => {
    machine.put("var/lib/kubelet/pki/kubelet-server-current.pem");
    runControlPlane(machine, { KUBELET_CONFIGURATION });
    const { code, stderr, calls } = runControlPlane(machine, {}, "update");
    assert.equal(code, 0, stderr);
    assert.ok(calls.includes("systemctl disable --now stackadm-serving.service"));
    assert.equal(machine.file(program), undefined);
    assert.ok(!calls.includes("systemctl restart stackadm-serving.service"));
  });
});
