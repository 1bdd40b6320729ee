import { strict as assert } from "node:assert";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { joinScripts } from "../../../components/kubeadm/node-scripts.js";
import {
  nodeCommands,
  controlPlaneRequests,
  workerValues,
} from "../../support/machine/join-stubs.js";
import { Sandbox, type Outcome } from "../../support/machine/sandbox.js";
import {
  kubeadmOf,
  installFormerVersion,
  ownNode,
  shortBounds,
} from "../../support/machine/upgrade-stubs.js";

const values = { ...workerValues, API_ADDRESSES: "10.0.0.7" };
const scripts = shortBounds(joinScripts);
const configuration = (version: string): string =>
  `*kubeadm-config*) printf 'clusterName: dev\\nkubernetesVersion: v${version}\\n' ;;`;

describe("the upgrade of a worker", () => {
  let machine: Sandbox;
  const run = (over: Partial<typeof values> = {}): Outcome =>
    machine.run(scripts, { ...values, ...over }, "update");
  /** Returns the calls that change something, in order. */
  const deeds = ({ calls }: Outcome): string[] =>
    calls.flatMap((call) => {
      const [, word] =
        /^apt-get (?!.*--download-only).* (install .*)$/.exec(call) ??
        /^kubeadm (upgrade .*)$/.exec(call) ??
        /^systemctl (restart .*)$/.exec(call) ??
        /^ssh .*stackadm-join@\S+ (.*)$/.exec(call) ??
        [];
      return word === undefined
        ? []
        : [word.replace(/^install .*downgrades /, "install ").replace(machine.root, "")];
    });
  const kept = (): string | undefined => machine.file("var/lib/stackadm/kept-version");
  const cluster = (version: string, ...more: readonly string[]): void => {
    machine.stub(
      "kubectl",
      `case "$*" in\n${[...more, configuration(version), ownNode].join("\n")}\nesac`,
    );
  };

  beforeEach(() => {
    machine = new Sandbox({ ...nodeCommands, ssh: "exit 0" });
    installFormerVersion(machine, "join");
    machine.put("etc/hosts", "127.0.0.1 localhost\n");
    machine.put("etc/kubernetes/pki/ca.crt", "CA\n");
    machine.stub("kubeadm", kubeadmOf());
    cluster("1.36.3");
  });
  afterEach(() => {
    machine.close();
  });

  const whole = [
    "install kubeadm=1.36.3-1.1 cri-tools=1.36.3-1.1",
    "upgrade node --config /run/stackadm/upgrade.yaml --ignore-preflight-errors Swap,NumCPU",
    "retire",
    "install kubelet=1.36.3-1.1 kubectl=1.36.3-1.1 cri-tools=1.36.3-1.1 kubernetes-cni=1.9.1-1.1",
    "restart containerd",
    "restart kubelet",
    "restore",
    "joined",
  ];

  it("upgrades kubeadm and the configuration, drains the node, upgrades kubelet, uncordons the node", () => {
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(deeds(done), whole);
    assert.equal(done.stdout, '\n@stackadm {"node": "dev-general-0", "kubernetes": "1.36.3"}\n');
    assert.match(done.stderr, /dev-general-0: Kubernetes 1\.36\.3 instead of 1\.35\.4\n/);
    assert.match(
      machine.file("etc/containerd/config.toml") ?? "",
      /^a\n {2}sandbox = "r\/pause:3\.10\.2"\nb\n$/,
    );
    assert.equal(machine.file("etc/kubernetes/tmp/kubeadm-backup-etcd-2026/db"), undefined);
    assert.equal(kept(), "1.36.3");
    assert.deepEqual(deeds(run()), ["joined"], "nothing twice");
  });

  const builds = "var/cache/stackadm/containerd-builds";
  const next = `${builds}/next/containerd.io_2.4.1-1_amd64.deb`;
  const former = `${builds}/former/containerd.io_2.2.1-1_amd64.deb`;
  const newContainerd = [`install /${next}`, "restart containerd"];
  /** Makes the new containerd fail. Returns a function that makes it work. */
  const breakContainerd = (): (() => void) => {
    const body = machine.bodyOf("apt-get");
    machine.stub(
      "apt-get",
      `case "$*" in *--download-only*) ;; *containerd-builds/next*) touch $root/broken ;; *containerd-builds*) rm -f $root/broken ;; esac\n${body}`,
    );
    machine.stub("crictl", "[ ! -e $root/broken ]");
    machine.stub("containerd", "echo containerd containerd.io v2.2.1 abc");
    return () => {
      machine.stub("apt-get", body);
    };
  };

  it("also installs the downloaded containerd while the node is drained, before kubelet", () => {
    machine.put(next);
    machine.put(former);
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(deeds(done), [...whole.slice(0, 3), ...newContainerd, ...whole.slice(3)]);
    assert.equal(existsSync(join(machine.root, builds)), false);
    assert.equal(machine.file("var/lib/stackadm/kept-containerd"), undefined);
  });

  it("installs the former containerd and uncordons the node if the new containerd does not run", () => {
    machine.put(next);
    machine.put(former);
    const repair = breakContainerd();
    const failed = run();
    assert.match(
      failed.stderr,
      /reason: the new containerd does not run on dev-general-0: .*bad.*; the machine is in service again with containerd v2\.2\.1; correct the cause and run up again\n$/,
    );
    assert.deepEqual(deeds(failed), [
      ...whole.slice(0, 3),
      ...newContainerd,
      ...[`install /${former}`, "restart containerd", "restore"],
    ]);
    assert.equal(kept(), "not finished");
    repair();
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(deeds(done), ["retire", ...newContainerd, ...whole.slice(3)]);
  });

  it("keeps the node drained if no containerd runs", () => {
    machine.put(next);
    breakContainerd();
    const failed = run();
    assert.match(
      failed.stderr,
      /reason: \[NOT_READY\] containerd of dev-general-0 runs neither with its new nor with its former build: /,
    );
    assert.ok(!deeds(failed).includes("restore"));
  });

  describe("of containerd only, after its generation has changed", () => {
    const generation = { CONTAINERD_GENERATION: "2" };
    const recorded = (): string | undefined => machine.file("var/lib/stackadm/kept-containerd");
    beforeEach(() => {
      machine.put("kubeadm-version", "v1.36.3\n");
      machine.put("kubelet-version", "Kubernetes v1.36.3\n");
      machine.put("var/lib/stackadm/kept-version", "1.36.3");
    });

    it("drains the node, installs the build, and uncordons the node, once", () => {
      machine.put(next);
      const done = run(generation);
      assert.equal(done.code, 0, done.stderr);
      assert.deepEqual(deeds(done), ["retire", ...newContainerd, "restore", "joined"]);
      assert.equal(recorded(), "2");
      assert.deepEqual(deeds(run(generation)), ["joined"]);
    });

    it("does not drain the node if there is no newer build, or no generation", () => {
      assert.deepEqual(deeds(run(generation)), ["joined"]);
      assert.equal(recorded(), "2");
      assert.deepEqual(deeds(run()), ["joined"]);
      assert.equal(recorded(), undefined);
    });

    it("uncordons the node in the next run if a run ended after the installation", () => {
      machine.put("var/lib/stackadm/kept-containerd", "not finished");
      assert.deepEqual(deeds(run(generation)), ["retire", "restore", "joined"]);
      assert.equal(recorded(), "2");
    });

    it("waits until the node is Ready again, and reports a node that is not", () => {
      machine.put(next);
      cluster("1.36.3", '*"get node dev-"*kubeletVersion*) printf "v1.36.3 False" ;;');
      const failed = run(generation);
      assert.match(
        failed.stderr,
        /reason: \[NOT_READY\] dev-general-0 is not Ready with its new containerd; /,
      );
      assert.ok(!deeds(failed).includes("restore"));
      assert.equal(recorded(), "not finished");
    });
  });

  it("changes nothing on a machine with this version and without a record", () => {
    machine.stub("kubelet", "echo Kubernetes v1.36.3");
    rmSync(join(machine.root, "var/lib/stackadm/kept-version"));
    assert.deepEqual(deeds(run()), ["joined"]);
    assert.equal(kept(), "1.36.3");
  });

  it("does not restart containerd if the configured pause image is present already", () => {
    const done = run({ PAUSE: "r/pause:3.9" });
    assert.ok(!deeds(done).includes("restart containerd"));
  });

  it("refuses a version that the control planes do not have yet", () => {
    cluster("1.35.4");
    const done = run();
    assert.match(
      done.stderr,
      /reason: the control planes are not of version 1\.36\.3 yet, and no kubelet may be newer;/,
    );
    assert.deepEqual(deeds(done), []);
    assert.equal(kept(), "1.35.4");
  });

  it("fails if the API server does not return the cluster's version, and retries the request", () => {
    cluster("", "*kubeadm-config*) exit 1 ;;");
    const done = run();
    assert.match(
      done.stderr,
      /reason: \[KUBERNETES_UNREACHABLE\] the API server does not return the version of the cluster to dev-general-0/,
    );
    assert.deepEqual(deeds(done), []);
    cluster(
      "1.36.3",
      "*kubeadm-config*) [ -e $root/asked ] || { touch $root/asked; exit 1; }; printf 'kubernetesVersion: v1.36.3\\n' ;;",
    );
    assert.deepEqual(deeds(run()), whole, "it is asked again");
  });

  it("reports kubeadm's error, and resumes in the next run", () => {
    machine.stub("kubeadm", kubeadmOf("upgrade*) echo 'error: no'; exit 1 ;;"));
    const failed = run();
    assert.match(failed.stderr, /reason: kubeadm upgrade node failed on dev-general-0: no\n$/);
    assert.equal(kept(), "not finished");
    machine.stub("kubeadm", kubeadmOf());
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(deeds(done), whole.slice(1));
  });

  it("keeps kubelet's version if the drain is blocked, reports the pods, and resumes later", () => {
    machine.stub("ssh", 'case "$*" in *retire) echo "pods/web: budget"; exit 4 ;; esac');
    const done = run();
    assert.match(
      done.stderr,
      /reason: \[DRAIN_BLOCKED\] dev-general-0 could not be drained and stays in service; what blocks it: pods\/web: budget\. Delete these pods or change what protects them, then run up again\n$/,
    );
    assert.ok(!deeds(done).some((word) => /kubelet/.test(word)));
    machine.stub("ssh", "exit 0");
    const next = run();
    assert.deepEqual(deeds(next), whole.slice(2), "kubeadm has done its part");
    assert.equal(machine.file("var/lib/stackadm/kept-upgraded"), undefined);
  });

  it("does not uncordon the node if kubelet does not start, and reports kubelet's error", () => {
    machine.stub("curl", "exit 1");
    const failed = run();
    assert.match(
      failed.stderr,
      /reason: \[NOT_READY\] dev-general-0 is not Ready with kubelet 1\.36\.3; .*; kubelet said: .*bad/,
    );
    assert.ok(!deeds(failed).includes("restore"));
    assert.equal(kept(), "not finished");
  });

  it("resumes after the kubelet upgrade without draining the node again", () => {
    machine.put("var/lib/stackadm/kept-version", "not finished");
    machine.put("kubeadm-version", "v1.36.3\n");
    machine.put("kubelet-version", "Kubernetes v1.36.3\n");
    assert.deepEqual(deeds(run()), [whole[1], "restore", "joined"]);
  });

  it("upgrades a machine without apt with files of the user's, and reports missing files", () => {
    const words = ["apt-get", "apt-mark", "apt-cache"];
    const without = scripts.map((text) => text.replaceAll("command -v apt-get", "false"));
    const failed = machine.run(without, values, "update");
    assert.match(
      failed.stderr,
      /reason: dev-general-0 has no apt, .*; put kubeadm, kubelet and kubectl of that version there, restart nothing, and run up again/,
    );
    machine.put("kubeadm-version", "v1.36.3\n");
    machine.put("kubelet-version", "Kubernetes v1.36.3\n");
    cluster(
      "1.36.3",
      `*"get node dev-"*kubeletVersion*) [ -e $root/restarted ] && printf 'v1.36.3 True' || printf 'v1.35.4 True' ;;`,
    );
    machine.stub(
      "systemctl",
      'case "$*" in *ActiveState*) echo inactive ;; "restart kubelet") touch $root/restarted ;; esac',
    );
    const done = machine.run(without, values, "update");
    assert.equal(done.code, 0, done.stderr);
    assert.ok(!done.calls.some((call) => words.some((word) => call.startsWith(`${word} `))));
    assert.ok(deeds(done).includes("retire") && controlPlaneRequests(done.calls).length === 3);
  });
});
