import { strict as assert } from "node:assert";
import { parseAllDocuments } from "yaml";
import type { controlPlaneValues } from "../../support/machine/control-plane.js";
import type { Outcome, Sandbox } from "../../support/machine/sandbox.js";
import {
  converge,
  flag,
  kubeadmCalls,
  staticPods,
} from "../../support/machine/static-pod-stubs.js";

const kubelet = (field: string): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${field}\n`;
const proxy = (field: string): string =>
  `apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n${field}\n`;

describe("component configuration on a control plane", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = staticPods();
  });
  afterEach(() => {
    machine.close();
  });
  const run = (over?: Partial<typeof controlPlaneValues>): Outcome => converge(machine, over);
  const manifest = (name: string): string =>
    machine.file(`etc/kubernetes/manifests/kube-${name}.yaml`) ?? "";

  it("makes no kubeadm call and no change if no setting was ever configured", () => {
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(kubeadmCalls(done), []);
    assert.ok(
      !done.calls.some((call) => /crictl|restart kubelet|configmap kube(let|-proxy)/.test(call)),
    );
  });

  describe("flags", () => {
    it("writes flags through kubeadm once, and updates the cluster once the component is healthy", () => {
      const done = run({ CONFIGURATION: flag("good") });
      assert.equal(done.code, 0, done.stderr);
      const document = "run/stackadm/configuration.yaml";
      const phases = kubeadmCalls(done).map((call) => call.replace(/ --config.*/, ""));
      assert.deepEqual(phases, [
        ...["apiserver", "controller-manager", "scheduler"].map(
          (name) => `kubeadm init phase control-plane ${name}`,
        ),
        "kubeadm init phase upload-config kubeadm",
      ]);
      const [cluster] = parseAllDocuments(machine.file(document) ?? "").map(
        (each) => each.toJS() as unknown,
      );
      assert.deepEqual(cluster, {
        apiServer: {
          certSANs: ["api.dev.internal", "203.0.113.7"],
          extraArgs: [{ name: "good", value: "1" }],
        },
        clusterName: "dev",
      });
      assert.deepEqual(kubeadmCalls(run({ CONFIGURATION: flag("good") })), []);
    });

    it("removes flags that are no longer configured, and then makes no further kubeadm call", () => {
      run({ CONFIGURATION: flag("good") });
      assert.equal(run().code, 0);
      assert.doesNotMatch(manifest("apiserver"), /good|extraArgs/);
      assert.deepEqual(kubeadmCalls(run()), []);
    });

    it("restores the former flags if the component rejects a flag, and reports the component's error", () => {
      const { code, stderr, calls } = run({ CONFIGURATION: flag("broken") });
      assert.equal(code, 1);
      assert.match(
        stderr,
        /\nreason: \[CONFIGURATION_UNDONE\] kube-apiserver on dev-control-plane-0 does not come up with its new flags and runs with its former ones again; it said: Error: unknown flag: --broken\n$/,
      );
      assert.equal(manifest("apiserver"), "former\n");
      assert.equal(manifest("scheduler"), "former\n", "no other component is begun");
      assert.ok(!calls.some((call) => call.includes("upload-config")));
      assert.equal(run().code, 0, "the former configuration is none to fail about");
    });

    it("fails if the component does not start with the former flags either", () => {
      machine.stub("crictl", "exit 0");
      const { stderr } = run({ CONFIGURATION: flag("good") });
      assert.match(stderr, /reason: kube-\S+ on dev-control-plane-0 does not come up, neither/);
      assert.equal(manifest("apiserver"), "former\n");
    });

    it("restores the former flags if kubelet does not start a new container", () => {
      machine.stub("crictl", 'case "$*" in ps*) echo same ;; esac');
      const { stderr } = run({ CONFIGURATION: flag("good") });
      assert.match(stderr, /CONFIGURATION_UNDONE\] kube-apiserver .* its former ones again\n$/);
      assert.equal(manifest("apiserver"), "former\n");
    });

    it("restores the former flags of an interrupted run first", () => {
      machine.put("etc/kubernetes/manifests/kube-apiserver.yaml", "broken\n");
      machine.put("etc/kubernetes/stackadm-former/kube-apiserver.yaml", "former\n");
      machine.put("var/lib/stackadm/kept-configuration", "not finished");
      const done = run({ CONFIGURATION: flag("good") });
      assert.equal(done.code, 0, done.stderr);
      assert.equal(machine.file("etc/kubernetes/stackadm-former/kube-apiserver.yaml"), undefined);
    });

    it("restores the former flags of an interrupted run before waiting for the API server", () => {
      machine.put("etc/kubernetes/stackadm-former/kube-apiserver.yaml", "former\n");
      machine.put("var/lib/stackadm/kept-configuration", "not finished");
      const asked =
        'n=$(cat "$root/asked" || echo 0); n=$((n + 1)); echo "$n" >"$root/asked"; case $n in 2 | 3) exit 1 ;; esac';
      machine.stub("kubectl", `${asked}\n${machine.bodyOf("kubectl")}`);
      const { code, stderr } = converge(machine, {}, 1);
      assert.equal(code, 0, stderr);
    });

    it("writes referenced files before kubeadm runs, and deletes files without a reference", () => {
      const files = (name: string): object => ({
        CONFIGURATION: flag(name),
        CONFIGURATION_FILES: `${name}.yaml ${Buffer.from(name).toString("base64")}`,
      });
      run(files("one"));
      assert.equal(machine.file("etc/kubernetes/stackadm/one.yaml"), "one");
      run(files("other"));
      assert.equal(machine.file("etc/kubernetes/stackadm/one.yaml"), undefined);
      assert.equal(machine.file("etc/kubernetes/stackadm/other.yaml"), "other");
    });
  });

  describe("kubelet fields", () => {
    const file = "var/lib/kubelet/config.yaml";
    it("updates the cluster's fields, and applies the fields on this machine", () => {
      const done = run({ KUBELET_CONFIGURATION: kubelet("maxPods: 50") });
      assert.equal(done.code, 0, done.stderr);
      assert.equal(machine.file(file), "maxPods: 50\n");
      assert.ok(done.calls.includes("systemctl restart kubelet"));
      const again = run({ KUBELET_CONFIGURATION: kubelet("maxPods: 50") });
      assert.deepEqual(kubeadmCalls(again), []);
    });

    it("restores the former fields on the machine and in the cluster if kubelet fails with the new ones", () => {
      machine.stub("curl", `grep -q maxPods /${file} || printf ok`);
      const { code, stderr } = run({ KUBELET_CONFIGURATION: kubelet("maxPods: 50") });
      assert.equal(code, 1);
      assert.match(
        stderr,
        /reason: \[CONFIGURATION_UNDONE\] kubernetes\.kubelet: kubelet of dev-control-plane-0 does not come up with it and has its former configuration again; it said: "command failed" err="bad"\n$/,
      );
      assert.equal(machine.file(file), "former: 1\n");
      assert.match(machine.file("replaced") ?? "", /former-kubelet-config\.yaml/);
    });

    it("reports fields that kubeadm dropped, before kubelet restarts", () => {
      machine.stub("kubeadm", `${machine.bodyOf("kubeadm")}\nsed -i /maxPodz/d $root/kubelet-map`);
      const { code, stderr, calls } = run({
        KUBELET_CONFIGURATION: kubelet("maxPodz: 50\nfailSwapOn: false"),
      });
      assert.equal(code, 1);
      assert.match(
        stderr,
        /reason: \[INVALID_CONFIG\] kubernetes\.kubelet: .* no field maxPodz; c/,
      );
      assert.ok(!calls.includes("systemctl restart kubelet"));
    });
  });

  describe("kube-proxy fields", () => {
    const fields = { KUBE_PROXY_CONFIGURATION: proxy("maxPerCore: 1") };
    const restarts = ({ calls }: Outcome): number =>
      calls.filter((call) => call.includes("rollout restart")).length;

    it("records the fields on other control planes, and does not restart kube-proxy there", () => {
      const kept = (): string | undefined => machine.file("var/lib/stackadm/kept-proxy");
      const other = { KUBEADM_INIT: "" };
      assert.equal(restarts(run({ ...fields, ...other })), 0);
      assert.equal(kept(), fields.KUBE_PROXY_CONFIGURATION);
      // State after a join.
      machine.put("var/lib/stackadm/kept-proxy", "not finished");
      assert.equal(restarts(run(other)), 0);
      assert.equal(kept(), undefined);
    });

    it("restarts kube-proxy on the nodes once", () => {
      const done = run(fields);
      assert.equal(done.code, 0, done.stderr);
      assert.equal(restarts(done), 1);
      assert.equal(restarts(run(fields)), 0);
    });

    it("does not restart kube-proxy for the name of a mode that it already has", () => {
      machine.put("proxy-map", 'mode: ""\n');
      const done = run({ KUBE_PROXY_CONFIGURATION: proxy("mode: iptables") });
      assert.equal(done.code, 0, done.stderr);
      assert.equal(restarts(done), 0);
      assert.equal(restarts(run({ KUBE_PROXY_CONFIGURATION: proxy("mode: nftables") })), 1);
    });

    it("keeps the former kube-proxy version while control planes are upgraded", () => {
      const body = machine.bodyOf("kubectl");
      machine.stub(
        "kubectl",
        `case "$*" in *"daemonset kube-proxy"*image*) printf r:5000/kube-proxy:v1.35.4; exit ;; *"configmap kubeadm-config"*) printf "clusterName: dev\nkubernetesVersion: v1.36.3\n"; exit ;; esac\n${body}`,
      );
      machine.put("var/lib/stackadm/kept-version", "1.36.3");
      const done = run(fields);
      assert.equal(done.code, 0, done.stderr);
      assert.match(
        machine.file("run/stackadm/kube-proxy.yaml") ?? "",
        /^kubernetesVersion: v1\.35\.4\n---\n[^]*KubeProxyConfiguration/m,
      );
    });

    it("restores the former fields if a kube-proxy pod fails to start", () => {
      machine.put("stuck");
      const { code, stderr } = run(fields);
      assert.equal(code, 1);
      assert.match(
        stderr,
        /reason: \[CONFIGURATION_UNDONE\] kubernetes\.kubeProxy: .*; it said: "command failed" err="unknown mode"\n$/,
      );
    });
  });
});
