import { strict as assert } from "node:assert";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { controlPlaneScripts } from "../../../components/kubeadm/node-scripts.js";
import { readScriptResult } from "../../../components/remote-scripts/script-result.js";
import { controlPlaneValues } from "../../support/machine/control-plane.js";
import { nodeCommands } from "../../support/machine/join-stubs.js";
import { Sandbox, type Outcome } from "../../support/machine/sandbox.js";
import {
  kubeadmOf,
  installFormerVersion,
  ownNode,
  shortBounds,
} from "../../support/machine/upgrade-stubs.js";

const scripts = shortBounds(controlPlaneScripts).map((text) =>
  text
    .replace("coredns_seconds=300", "coredns_seconds=1")
    .replace("proxy_rollout_seconds=300", "proxy_rollout_seconds=1")
    .replaceAll(/wait_until_stable 240/g, "wait_until_stable 1"),
);
const values = {
  ...controlPlaneValues,
  RETIRE_SCRIPT: "#!/bin/bash\nkubectl stackadm-retire $*\n",
};

/**
 * Stub of kubeadm: writes the new manifest of the API server, and, for `upgrade apply`, the
 * cluster's version.
 */
const upgrades = [
  '"upgrade apply"*) echo "$*" >$root/words; echo v1.36.3 >$root/cluster ;;',
  '"upgrade node"*) echo "$*" >$root/words ;;',
];

describe("the upgrade of a control plane", () => {
  let machine: Sandbox;
  const run = (over: Partial<typeof values> = {}): Outcome => {
    machine.put("self", over.NODE_NAME ?? values.NODE_NAME);
    return machine.run(scripts, { ...values, ...over }, "update");
  };
  const deeds = ({ calls }: Outcome): string[] =>
    calls.flatMap((call) => {
      const [, word] =
        /^apt-get (?!.*--download-only).* (install .*?)=/.exec(call) ??
        /^kubeadm (upgrade \w+)/.exec(call) ??
        /^systemctl (restart .*)$/.exec(call) ??
        /^kubectl stackadm-retire (\w+)/.exec(call) ??
        /^kubectl .* (delete clusterrolebinding|rollout status) /.exec(call) ??
        [];
      return word === undefined ? [] : [word.replace(/^install .*downgrades /, "install ")];
    });
  const kept = (): string | undefined => machine.file("var/lib/stackadm/kept-version");
  const kubectl = (...more: readonly string[]): void => {
    const cases = [
      ...more,
      ownNode,
      "*readyz*) printf ok ;;",
      "*namespace*) printf 'uid: the-uid\\nclusterName: dev\\n' ;;",
      "*kubeadm-config*) IFS= read -r version <$root/cluster; printf 'clusterName: dev\\nkubernetesVersion: %s\\n' \"$version\" ;;",
      '*"get nodes"*) printf "%s False\\ndev-general-0 True\\n" "$(<$root/self)" ;;',
      '*"get deployment/coredns"*) echo deployment.apps/coredns ;;',
      '*"get daemonset/kube-proxy"*) echo daemonset.apps/kube-proxy ;;',
    ];
    machine.stub("kubectl", `case "$*" in\n${cases.join("\n")}\nesac`);
  };

  beforeEach(() => {
    machine = new Sandbox(nodeCommands);
    installFormerVersion(machine, "init");
    machine.put("etc/hosts", "127.0.0.1 localhost\n");
    machine.put("etc/kubernetes/pki/ca.crt", "CA\n");
    machine.put("etc/kubernetes/admin.conf", "CONF\n");
    machine.put("cluster", "v1.35.4\n");
    machine.stub("kubeadm", kubeadmOf(...upgrades));
    kubectl();
  });
  afterEach(() => {
    machine.close();
  });

  const whole = (how: string): string[] => [
    "install kubeadm",
    `upgrade ${how}`,
    "delete clusterrolebinding",
    "retire",
    "install kubelet",
    "restart containerd",
    "restart kubelet",
    "restore",
    ...["rollout status", "rollout status"],
    "delete clusterrolebinding",
  ];

  it("applies the version on the first control plane with patches, and waits for kubeadm's rollouts", () => {
    const patch = Buffer.from("{}").toString("base64");
    const PATCHES = `kube-apiserver0000+strategic.json ${patch}`;
    machine.put("var/lib/stackadm/kept-patches", PATCHES);
    const done = run({ PATCHES });
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(deeds(done), whole("apply"));
    assert.match(
      machine.file("words") ?? "",
      /^upgrade apply v1\.36\.3 --yes --config \S*\/run\/stackadm\/upgrade\.yaml --ignore-preflight-errors Swap,NumCPU\n$/,
    );
    const document = machine.file("run/stackadm/upgrade.yaml") ?? "";
    assert.deepEqual(parse(document.replaceAll(machine.root, "")), {
      apiVersion: "kubeadm.k8s.io/v1beta4",
      kind: "UpgradeConfiguration",
      apply: { patches: { directory: "/etc/kubernetes/stackadm-patches" } },
      timeouts: {
        controlPlaneComponentHealthCheck: "240s",
        kubeletHealthCheck: "240s",
        kubernetesAPICall: "240s",
        upgradeManifests: "300s",
      },
    });
    assert.equal(kept(), "1.36.3");
    assert.equal(readScriptResult(done.stdout)?.["kubernetes"], "1.36.3");
    assert.deepEqual(deeds(run({ PATCHES })), ["delete clusterrolebinding"], "nothing twice");
  });

  it("changes containerd of a single control plane while its node is drained", () => {
    const build = "var/cache/stackadm/containerd-builds/next/containerd.io_2.4.1-1_amd64.deb";
    machine.put(build);
    machine.put("kubeadm-version", "v1.36.3\n");
    machine.put("kubelet-version", "Kubernetes v1.36.3\n");
    machine.put("var/lib/stackadm/kept-version", "1.36.3");
    const done = run({ CONTAINERD_GENERATION: "1" });
    assert.equal(done.code, 0, done.stderr);
    const order = done.calls.flatMap(
      (call) =>
        (call.includes("--download-only")
          ? undefined
          : /stackadm-retire (\w+)|containerd-builds\/(next)|^systemctl (restart .*)$/
              .exec(call)
              ?.slice(1)
              .find(Boolean)) ?? [],
    );
    assert.deepEqual(order, ["retire", "next", "restart containerd", "restore"]);
    assert.equal(machine.file(build), undefined);
    assert.equal(machine.file("var/lib/stackadm/kept-containerd"), "1");
  });

  it("upgrades another control plane only after the first control plane upgraded the cluster", () => {
    const other = { KUBEADM_INIT: "", NODE_NAME: "dev-control-plane-1" };
    assert.match(
      run(other).stderr,
      /reason: the cluster is not of version 1\.36\.3 yet; its first control plane is upgraded first/,
    );
    machine.put("cluster", "v1.36.3\n");
    const done = run(other);
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(deeds(done), whole("node").slice(1));
  });

  it("refuses to start while other machines are not Ready, and reports the machines", () => {
    kubectl(
      '*"get nodes -l "" "*|*"get nodes -l  -o"*) printf "dev-control-plane-0 True\\ndev-general-0 Unknown\\ndev-general-1 False\\n" ;;',
    );
    const done = run();
    assert.match(
      done.stderr,
      /reason: \[NOT_READY\] Kubernetes is not upgraded while not all machines are Ready: dev-general-0, dev-general-1; bring them back, or take their nodes out of the cluster, and run up again\n$/,
    );
    assert.deepEqual(deeds(done), []);
    assert.equal(kept(), "1.35.4");
    machine.put("cluster", "v1.36.3\n");
    const { code, calls } = run({ KUBEADM_INIT: "", NODE_NAME: "dev-control-plane-1" });
    assert.equal(code, 0, "the others ask for control planes alone");
    assert.ok(
      calls.some((call) => call.includes("nodes -l node-role.kubernetes.io/control-plane ")),
    );
  });

  it("reports the errors of kubeadm and the component, keeps the node in service, and resumes later", () => {
    machine.stub(
      "kubeadm",
      kubeadmOf(
        'upgrade*) echo "[upgrade/staticpods] Preparing for \\"etcd\\" upgrade"; echo "[upgrade/staticpods] Preparing for \\"kube-apiserver\\" upgrade"; echo "error: error execution phase control-plane: recovered"; exit 1 ;;',
      ),
    );
    machine.stub(
      "crictl",
      'case "$*" in *"--state exited --name ^kube-apiserver"*) echo ended ;; logs*) echo "Error: unknown flag: --gone" ;; esac',
    );
    const failed = run();
    assert.match(
      failed.stderr,
      /reason: kubeadm upgrade failed on dev-control-plane-0: error execution phase control-plane: recovered; kube-apiserver said: Error: unknown flag: --gone\n$/,
    );
    assert.ok(!deeds(failed).includes("retire"));
    assert.equal(kept(), "not finished");
    machine.stub("kubeadm", kubeadmOf(...upgrades));
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(deeds(done), whole("apply").slice(1));
  });

  it("restores a manifest that an interrupted kubeadm moved, unless kubeadm still runs", () => {
    const name = "kube-scheduler.yaml";
    const backup = `etc/kubernetes/tmp/kubeadm-backup-manifests-2026-11-25/${name}`;
    const running = machine.bodyOf("systemctl");
    machine.put("etc/kubernetes/manifests/kube-apiserver.yaml", "image: x\n");
    machine.put(backup, "former\n");
    machine.put("var/lib/stackadm/kept-version", "not finished");
    machine.stub("systemctl", 'case "$*" in *ActiveState*) echo active ;; esac');
    machine.run(
      scripts.map((text) => text.replace("  restore_kubelet\n", "  die enough\n")),
      values,
    );
    assert.equal(machine.file(backup), "former\n");
    machine.stub("systemctl", running);
    assert.equal(run().code, 0);
    assert.equal(machine.file(`etc/kubernetes/manifests/${name}`), "former\n");
  });

  it("upgrades the cluster if the first control plane was recreated with the new packages", () => {
    rmSync(join(machine.root, "var/lib/stackadm/kept-version"));
    machine.put("kubeadm-version", "v1.36.3\n");
    machine.put("kubelet-version", "Kubernetes v1.36.3\n");
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(deeds(done).slice(0, 3), [
      "upgrade apply",
      "delete clusterrolebinding",
      "restore",
    ]);
    rmSync(join(machine.root, "var/lib/stackadm/kept-version"));
    assert.ok(!deeds(run()).includes("upgrade apply"), "the cluster has it by now");
  });

  describe("if the last control plane was recreated with the new version", () => {
    const other = { KUBEADM_INIT: "", NODE_NAME: "dev-control-plane-1" };
    const found = (proxy: string, ...images: readonly string[]): Outcome => {
      rmSync(join(machine.root, "var/lib/stackadm/kept-version"), { force: true });
      const lines = images.map((image, one) => `dev-control-plane-${String(one)} r/x:${image}\\n`);
      kubectl(
        `*"get daemonset kube-proxy"*image*) printf r:5000/kube-proxy:${proxy} ;;`,
        `*"get pods -l component=kube-apiserver"*) printf '${lines.join("")}' ;;`,
      );
      return run(other);
    };
    beforeEach(() => {
      machine.put("kubeadm-version", "v1.36.3\n");
      machine.put("kubelet-version", "Kubernetes v1.36.3\n");
      machine.put("cluster", "v1.36.3\n");
    });

    it("upgrades the add-ons in kubeadm's place, and waits for the rollouts", () => {
      const done = found("v1.35.4", "v1.36.3", "v1.36.3");
      assert.equal(done.code, 0, done.stderr);
      assert.equal(machine.file("words"), "upgrade node phase addon all\n");
      const rolls = ["rollout status", "rollout status"];
      assert.deepEqual(deeds(done), ["upgrade node", ...rolls, "delete clusterrolebinding"]);
    });

    it("skips the add-ons while an API server is older, or if kube-proxy is current or the user's own", () => {
      for (const [proxy, former] of [
        ["v1.35.4", "v1.35.4"],
        ["v1.36.3", "v1.36.3"],
        ["mine", "v1.36.3"],
      ] as const) {
        const done = found(proxy, former, "v1.36.3");
        assert.equal(done.code, 0, done.stderr);
        assert.deepEqual(deeds(done), ["delete clusterrolebinding"]);
      }
    });

    it("fails while the cluster still lists the API server of the former machine", () => {
      const done = found("v1.35.4", "v1.36.3", "v1.35.4");
      assert.match(
        done.stderr,
        /NOT_READY\] the cluster does not see the API server of dev-control/,
      );
      assert.equal(kept(), undefined);
    });
  });

  it("fails if an add-on does not become ready, and resumes in the next run", () => {
    kubectl('*"rollout status deployment"*) exit 1 ;;');
    const failed = run();
    assert.match(
      failed.stderr,
      /reason: \[NOT_READY\] deployment\/coredns of kube-system does not come up everywhere/,
    );
    assert.equal(kept(), "not finished");
    kubectl('*"get daemonset/kube-proxy"*) exit 0 ;;');
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(deeds(done), ["restore", "rollout status", "delete clusterrolebinding"]);
  });

  it("resumes at the drain after kubeadm's part, even if other machines are not Ready by then", () => {
    const failing = { RETIRE_SCRIPT: "#!/bin/bash\necho budget; exit 4\n" };
    const failed = run(failing);
    assert.match(failed.stderr, /DRAIN_BLOCKED\] .*; what blocks it: budget/);
    assert.equal(kept(), "not finished");
    kubectl('*"get nodes"*) printf "dev-control-plane-0 True\\ndev-general-0 Unknown\\n" ;;');
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(deeds(done), whole("apply").slice(3));
    assert.equal(machine.file("var/lib/stackadm/kept-upgraded"), undefined);
  });
});
