import { strict as assert } from "node:assert";
import {
  controlPlaneMachine,
  controlPlaneValues,
  runControlPlane,
} from "../../../support/machine/control-plane.js";
import type { Outcome, Sandbox } from "../../../support/machine/sandbox.js";

/** Stub of kubeadm: creates the files that exist before it waits for the API server, then fails. */
const givesUp =
  'case "$1" in init) mkdir -p /etc/kubernetes/pki; echo CONF >/etc/kubernetes/admin.conf; echo SUPER >/etc/kubernetes/super-admin.conf; echo CA >/etc/kubernetes/pki/ca.crt; echo "error: context deadline exceeded"; exit 1 ;; reset) rm -f /etc/kubernetes/*.conf ;; esac';

describe("kubeadm init after a failed attempt", () => {
  let machine: Sandbox;
  let succeeds: string;
  const run = (over?: Partial<typeof controlPlaneValues>) => runControlPlane(machine, over);
  const kubeadm = ({ calls }: Outcome): string[] =>
    calls.flatMap((call) => /^kubeadm ((?:init|reset) -.*)$/.exec(call)?.[1] ?? []);
  const fresh = /^init --config \S*\/run\/stackadm\/kubeadm\.yaml$/;
  const checks =
    "FileAvailable--etc-kubernetes-manifests-kube-apiserver.yaml,FileAvailable--etc-kubernetes-manifests-kube-controller-manager.yaml,FileAvailable--etc-kubernetes-manifests-kube-scheduler.yaml,FileAvailable--etc-kubernetes-manifests-etcd.yaml,DirAvailable--var-lib-etcd,Port-6443,Port-10250,Port-10257,Port-10259,Port-2379,Port-2380";
  beforeEach(() => {
    machine = controlPlaneMachine();
    succeeds = machine.bodyOf("kubeadm");
    machine.stub("kubeadm", givesUp);
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(
      stderr,
      /reason: kubeadm init failed on dev-control-plane-0: context deadline exceeded\n$/,
    );
    machine.stub("kubeadm", succeeds);
  });
  afterEach(() => {
    machine.close();
  });

  it("continues the attempt if the API server answers in the meantime", () => {
    const again = run();
    assert.equal(again.code, 0, again.stderr);
    const [words = "", ...more] = kubeadm(again);
    assert.deepEqual(more, []);
    assert.ok(words.endsWith(` --ignore-preflight-errors ${checks}`), words);
    assert.match(again.stderr, /the API server of an interrupted kubeadm init answers; going on/);
    const asked = again.calls.find((call) => call.includes("super-admin.conf")) ?? "";
    assert.match(asked, /--server https:\/\/10\.0\.0\.5:6443 get --raw \/readyz$/);
    assert.equal(machine.file("var/lib/stackadm/init.begun"), undefined);
  });

  it("continues the attempt if only timeoutFactor changed", () => {
    const flags = [
      "leader-elect-lease-duration",
      "node-monitor-grace-period",
      "etcd-readycheck-timeout",
    ]
      .map((name) => `    - name: ${name}\n      value: 60s\n`)
      .join("");
    const lease = "nodeStatusUpdateFrequency: 8s\nnodeLeaseDurationSeconds: 160\n";
    const again = run({
      KUBEADM_INIT: `${controlPlaneValues.KUBEADM_INIT}${flags}patches:\n  directory: /etc/kubernetes/stackadm-patches\n${lease}`,
      PATCHES: "kube-apiserver-slow+strategic.json e30=\nkube-scheduler-slow+strategic.json e30=",
    });
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stderr, /the API server of an interrupted kubeadm init answers; going on/);
  });

  it("adds no ignored check if the user ignores all checks", () => {
    const again = run({ IGNORED_ERRORS: "all" });
    assert.equal(again.code, 0, again.stderr);
    const [words = "", ...more] = kubeadm(again);
    assert.match(words, fresh);
    assert.deepEqual(more, []);
  });

  it("resets the machine first if the API server does not answer", () => {
    const answers = machine.bodyOf("kubectl");
    machine.stub("kubectl", `case "$*" in *super-admin*) exit 1 ;; esac; ${answers}`);
    const again = run();
    assert.equal(again.code, 0, again.stderr);
    const [reset, words = ""] = kubeadm(again);
    assert.equal(reset, "reset -f");
    assert.match(words, fresh);
    assert.match(
      again.stderr,
      /starting again after an interrupted kubeadm init: its API server does not answer\n/,
    );
  });

  for (const [what, over] of [
    ["document", { KUBEADM_INIT: "kind: InitConfiguration\nother: yes\n" }],
    ["file", { CONFIGURATION_FILES: `new.yaml ${Buffer.from("NEW").toString("base64")}` }],
    ["patch", { PATCHES: `etcd+merge.yaml ${Buffer.from("PATCH").toString("base64")}` }],
  ] as const)
    it(`resets the machine first if the attempt had another ${what}`, () => {
      const again = run(over);
      assert.equal(again.code, 0, again.stderr);
      assert.equal(kubeadm(again)[0], "reset -f");
      assert.match(again.stderr, /kubeadm init: it had other settings\n/);
      assert.ok(!again.calls.some((call) => call.includes("super-admin.conf")));
    });

  it("continues an attempt only once", () => {
    machine.stub("kubeadm", givesUp);
    assert.equal(kubeadm(run()).length, 1);
    const third = kubeadm(run());
    assert.equal(third[0], "reset -f");
    assert.match(third[1] ?? "", fresh);
  });

  it("resets the machine first if the attempt left no record", () => {
    machine.put("var/lib/stackadm/init.begun", "");
    assert.equal(kubeadm(run())[0], "reset -f");
  });
});
