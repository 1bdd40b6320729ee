import { strict as assert } from "node:assert";
import { readScriptResult } from "../../../../components/remote-scripts/script-result.js";
import {
  controlPlaneMachine,
  controlPlaneValues,
  initialisations,
  runControlPlane,
} from "../../../support/machine/control-plane.js";
import { boundOf, kubeadmSeconds, pulls } from "../../../support/machine/join-stubs.js";
import { Sandbox } from "../../../support/machine/sandbox.js";
import { flag } from "../../../support/machine/static-pod-stubs.js";

describe("control-plane.sh", () => {
  let machine: Sandbox;
  const run = (over?: Partial<typeof controlPlaneValues>, occasion?: "update") =>
    runControlPlane(machine, over, occasion);
  beforeEach(() => {
    machine = controlPlaneMachine();
  });
  afterEach(() => {
    machine.close();
  });

  it("initializes the cluster once, and returns the same output in later runs", () => {
    const first = run();
    assert.equal(first.code, 0, first.stderr);
    assert.equal(initialisations(first.calls), 1);
    const again = run();
    assert.equal(initialisations(again.calls), 0);
    assert.equal(again.stdout, first.stdout);
    assert.deepEqual(readScriptResult(first.stdout), {
      caCertHash: "sha256:abc123",
      kubeconfig: Buffer.from("CONF\n").toString("base64"),
      name: "dev-0123456789ab",
      node: "dev-control-plane-0",
      uid: "the-uid",
      kubernetes: "1.36.3",
    });
  });

  it("removes the taint and the label for user pods once, and restores both once", () => {
    const of = ({ calls }: { readonly calls: readonly string[] }): string[] =>
      calls.flatMap(
        (call) => / (taint|label) node dev-control-plane-0 (.*)$/.exec(call)?.[0] ?? [],
      );
    const taint = "node-role.kubernetes.io/control-plane";
    const label = "node.kubernetes.io/exclude-from-external-load-balancers";
    const name = "node dev-control-plane-0";
    assert.deepEqual(of(run()), [], "kubeadm's own is left alone");
    machine.stub(
      "kubectl",
      'case "$*" in *readyz*) printf ok ;; *namespace*) printf "uid: the-uid\\nclusterName: dev-0123456789ab\\n" ;; *"get node"*) printf NoSchedule ;; esac',
    );
    assert.deepEqual(of(run({ SCHEDULABLE: "yes" })), [
      ...[` taint ${name} ${taint}-`, ` label ${name} ${label}-`],
    ]);
    assert.deepEqual(of(run({ SCHEDULABLE: "yes" })), []);
    assert.deepEqual(of(run({ SCHEDULABLE: "no" })), [
      ...[
        ` taint ${name} --overwrite ${taint}=:NoSchedule`,
        ` label ${name} --overwrite ${label}=`,
      ],
    ]);
    assert.deepEqual(of(run({ SCHEDULABLE: "no" })), []);
  });

  it("runs the user's afterKubeadm step last, once the API answers", () => {
    const { code, calls } = run({ AFTER_KUBEADM: "kubectl own step" });
    assert.equal(code, 0);
    assert.equal(calls.filter((call) => call.startsWith("kubectl")).at(-1), "kubectl own step");
  });

  it("returns the name that the cluster was created with, quoted or not", () => {
    for (const [written, name] of [
      ["old", "old"],
      ['\\"off\\"', "off"],
    ]) {
      machine.stub(
        "kubectl",
        `case "$*" in *readyz*) printf ok ;; *namespace*) printf "uid: the-uid\nclusterName: ${written ?? ""}\n" ;; esac`,
      );
      assert.equal(readScriptResult(run().stdout)?.["name"], name);
    }
  });

  it("repeats the API request until the answer contains name and UID", () => {
    machine.stub(
      "kubectl",
      'case "$*" in *readyz*) printf ok ;; *namespace*) printf "clusterName: dev\\n"; if [ -e "$root/asked" ]; then printf "uid: the-uid\\n"; else touch "$root/asked"; fi ;; esac',
    );
    const { code, stdout } = run();
    assert.equal(code, 0);
    assert.match(stdout, /"name": "dev", "node": "dev-control-plane-0", "uid": "the-uid"/);
  });

  it("allows kubeadm more time than kubeadm's own limits, so that kubeadm reports the cause", () => {
    // kubeadm waits for: kubelet's health, health of the control plane's components, API calls.
    assert.ok(boundOf(run().calls, "init") >= 3 * kubeadmSeconds + pulls);
  });

  it("deletes the token of kubeadm init once, and keeps no kubeadm document", () => {
    const tokens = "delete secret --field-selector type=bootstrap.kubernetes.io/token --wait=false";
    assert.equal(run().calls.filter((call) => call.endsWith(tokens)).length, 1);
    assert.ok(!run().calls.some((call) => call.endsWith(tokens)), "later ones are others'");
    assert.equal(machine.file("run/stackadm/kubeadm.yaml"), undefined);
  });

  it("resets the machine after a partial initialization", () => {
    machine.put("etc/kubernetes/pki/ca.crt");
    const { code, calls } = run();
    assert.equal(code, 0);
    const reset = calls.indexOf("kubeadm reset -f");
    assert.ok(reset >= 0 && reset < calls.findIndex((call) => call.startsWith("kubeadm init")));
  });

  it("waits for a running initialization instead of starting another", () => {
    machine.stub(
      "systemctl",
      // Reports "active" twice, then that the unit has finished.
      'case "$*" in *ActiveState*) echo x >>$root/looks; if [ $(wc -l <$root/looks) -lt 3 ]; then echo activating; else mkdir -p /etc/kubernetes/pki /var/lib/stackadm; echo CONF >/etc/kubernetes/admin.conf; echo CA >/etc/kubernetes/pki/ca.crt; touch /var/lib/stackadm/init.done; echo inactive; fi ;; esac',
    );
    machine.stub("wc", 'exec /usr/bin/wc "$@"');
    const { code, calls, stderr } = run();
    assert.equal(code, 0, stderr);
    assert.equal(initialisations(calls), 0);
    assert.ok(!calls.some((call) => call.startsWith("kubeadm reset")));
  });

  const configured = {
    CONFIGURATION: flag("good"),
    CONFIGURATION_FILES: `new.yaml ${Buffer.from("NEW").toString("base64")}`,
    PATCHES: `etcd+merge.yaml ${Buffer.from("PATCH").toString("base64")}`,
  };
  const phases = ({ calls }: { readonly calls: readonly string[] }): string[] =>
    calls.filter((call) => call.startsWith("kubeadm init phase"));

  it("makes no further kubeadm call for settings that kubeadm init applied", () => {
    machine.put("etc/kubernetes/stackadm/old.yaml", "OLD");
    const first = run(configured);
    assert.equal(first.code, 0, first.stderr);
    assert.deepEqual(phases(first), []);
    assert.equal(machine.file("etc/kubernetes/stackadm/old.yaml"), undefined);
    assert.deepEqual(phases(run(configured, "update")), []);
  });

  it("reports fields that kubeadm init dropped, and applies all settings in the next run", () => {
    const fields = {
      KUBELET_CONFIGURATION: "maxPods: 50\n",
      KUBE_PROXY_CONFIGURATION: "mode: x\n",
    };
    const first = run({ ...configured, ...fields });
    assert.deepEqual(phases(first), []);
    assert.match(first.stderr, /\[INVALID_CONFIG\] kubernetes\.kubelet: .* no field maxPods; c/);
    machine.stub(
      "kubectl",
      `case "$*" in *"get configmap kubelet-config"*) echo "maxPods: 50" ;;
      *"get configmap kube-proxy"*) echo "mode: x" ;; *) ${machine.bodyOf("kubectl")} ;; esac`,
    );
    // A configuration that kubeadm refused is applied like any other change.
    assert.notDeepEqual(phases(run({ ...configured, ...fields }, "update")), []);
  });

  it("makes no request for the settings of a failed initialization", () => {
    const kubeadm = machine.bodyOf("kubeadm");
    machine.stub("kubeadm", "exit 1");
    const fields = {
      KUBELET_CONFIGURATION: "maxPods: 50\n",
      KUBE_PROXY_CONFIGURATION: "mode: x\n",
    };
    assert.equal(run({ ...configured, ...fields }).code, 1);
    machine.stub("kubeadm", kubeadm);
    const { code, stderr, calls } = run();
    assert.equal(code, 0, stderr);
    assert.ok(
      !calls.some((call) => /configmap kube(let-config|-proxy)/.test(call)),
      calls.join("\n"),
    );
  });

  it("starts few programs between kubeadm init and the script's output, since other machines wait", () => {
    const { calls } = run({ ...configured, ENCRYPTION: "0123456789ab RU5D UExBSU4=" });
    const after = calls.slice(calls.findIndex((call) => call.startsWith("kubeadm init")) + 1);
    const started = after.filter((call) => /^(kube|crictl|systemctl (?!show))/.test(call));
    assert.deepEqual(
      started.map((call) => call.replace(/ --?kubeconfig \S+/, "").replace(/ -o .*/, "")),
      [
        "kubectl -n kube-system delete secret --field-selector type=bootstrap.kubernetes.io/token --wait=false",
        "systemctl daemon-reload",
        "systemctl enable stackadm-certificates-back.service",
        "systemctl enable --now stackadm-certificates.timer",
        "systemctl start --no-block stackadm-certificates.service",
        "kubectl get --raw /readyz",
        "kubectl annotate node dev-control-plane-0 --overwrite stackadm.io/encryption=0123456789ab",
        "kubectl delete clusterrolebinding kubeadm:node-autoapprove-bootstrap --ignore-not-found",
        "kubectl -n kube-system get namespace/kube-system configmap/kubeadm-config",
      ],
    );
  });

  it("applies all settings after an initialization that an interrupted run started", () => {
    const active =
      'case "$*" in *ActiveState*) if [ -e "$root/seen" ]; then touch /var/lib/stackadm/init.done; echo inactive; else touch "$root/seen"; echo active; fi ;; esac';
    machine.stub("systemctl", active);
    machine.put("var/lib/stackadm/kept-configuration", "not finished");
    machine.put("etc/kubernetes/admin.conf", "CONF\n");
    for (const name of ["apiserver", "controller-manager", "scheduler"])
      machine.put(`etc/kubernetes/manifests/kube-${name}.yaml`, "manifest\n");
    machine.put("etc/kubernetes/pki/ca.crt", "CA\n");
    const { code, stderr, calls } = run(configured);
    assert.equal(code, 0, stderr);
    assert.deepEqual([initialisations(calls), phases({ calls }).length], [4, 4]);
  });

  it("fails with the end of kubeadm's log if kubeadm fails", () => {
    machine.stub(
      "kubeadm",
      'case "$1" in init) mkdir -p /etc/kubernetes/pki; echo "preflight: NumCPU"; exit 1 ;; esac',
    );
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(stderr, /kubeadm init failed on dev-control/);
    assert.match(stderr, /preflight: NumCPU/);
  });

  it("reports kubeadm's error in the last line", () => {
    machine.stub(
      "kubeadm",
      'case "$1" in init) mkdir -p /etc/kubernetes/pki; echo "error: no"; echo "To see the stack trace of this error execute with --v=5 or higher"; exit 1 ;; esac',
    );
    assert.match(run().stderr, /\nreason: kubeadm init failed on dev-control-plane-0: no\n$/);
  });

  const frozen = "var/lib/stackadm/frozen";
  const other = controlPlaneValues.FROZEN.replace("r.example", "s.example");

  it("refuses to change immutable values of a cluster", () => {
    run();
    const { code, stderr, calls } = run({ FROZEN: other });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /keeps its values: cluster\.kubernetes\.registry\.prefix: r\.example cannot/,
    );
    assert.equal(initialisations(calls), 0);
  });

  it("records the values of a failed initialization, and accepts other values in the next run", () => {
    machine.stub("kubeadm", 'case "$1" in init) mkdir -p /etc/kubernetes/pki; exit 1 ;; esac');
    assert.equal(run().code, 1);
    assert.equal(machine.file(frozen), `${controlPlaneValues.FROZEN}\n`);
    assert.equal(run({ FROZEN: other }).code, 1);
    assert.equal(machine.file(frozen), `${other}\n`);
  });

  it("admits only certificates of the program's signer, from the machines' range only", () => {
    run();
    assert.equal(
      machine.file("var/lib/stackadm-join/.ssh/authorized_keys"),
      'cert-authority,restrict,from="10.0.0.0/24" ssh-ed25519 AAAASIGNER\n',
    );
  });

  it("deletes kubeadm's automatic approval of nodes in each run, once the join user exists", () => {
    const words = "delete clusterrolebinding kubeadm:node-autoapprove-bootstrap --ignore-not-found";
    for (const occasion of [undefined, "update"] as const) {
      const { calls } = run({}, occasion);
      const approval = calls.findIndex((call) => call.endsWith(words));
      const offered = calls.findIndex((call) => call.startsWith("usermod"));
      assert.ok(offered >= 0 && approval > offered, calls.join("\n"));
    }
  });

  it("adds the API's name with the machine's own address to /etc/hosts once", () => {
    run();
    run();
    assert.equal(
      machine.file("etc/hosts"),
      "127.0.0.1 localhost\n10.0.0.5 api.dev.internal # stackadm\n",
    );
  });

  it("refuses to initialize a cluster on a recreated machine without peers", () => {
    const { code, stderr, calls } = run({}, "update");
    assert.equal(code, 1);
    assert.equal(initialisations(calls), 0);
    assert.match(
      stderr,
      /reason: dev-control-plane-0 was created again, and there is no other control plane to join\. If the cluster had several, write their number/,
    );
  });
});
