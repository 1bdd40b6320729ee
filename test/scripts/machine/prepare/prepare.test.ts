import { strict as assert } from "node:assert";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { preparationScripts } from "../../../../components/machine/preparation.js";
import { freshDebian, workerValues } from "../../../support/machine/fresh-debian.js";
import { Sandbox, type Outcome } from "../../../support/machine/sandbox.js";

describe("prepare.sh", () => {
  let machine: Sandbox;
  const run = (over: Record<string, string> = {}) =>
    machine.run(preparationScripts, { ...workerValues(), ...over });
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
  });
  afterEach(() => {
    if (machine !== prepared) machine.close();
  });
  /**
   * Machine after its first run, the outcome of that run, and a function that restores this state.
   */
  let prepared: Sandbox;
  let first: Outcome;
  let restore: () => void;
  before(() => {
    prepared = new Sandbox(freshDebian);
    first = prepared.run(preparationScripts, workerValues());
    restore = prepared.keep();
  });
  after(() => {
    prepared.close();
  });
  /** Switches to the prepared machine. */
  const afterFirst = (): void => {
    machine.close();
    machine = prepared;
    restore();
  };

  it("keeps kubelet's units readable by root only, even in a later run on a node", () => {
    afterFirst();
    const unit = join(machine.root, "etc/systemd/system/kubelet.service.d/20-stackadm-guard.conf");
    assert.equal((statSync(unit).mode & 0o777).toString(8), "600");
  });

  it("prints one line of JSON as the result", () => {
    const { code, stdout, stderr } = first;
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '\n@stackadm {"kubelet": "1.36.3"}\n');
  });

  it("installs the newest build of exactly the configured version", () => {
    const install = first.calls.find((call) => call.includes(" install ")) ?? "";
    assert.match(install, /kubeadm=1\.36\.3-2\.1 kubelet=1\.36\.3-2\.1 kubectl=1\.36\.3-2\.1/);
  });

  it("installs the newest build of the series for every other package", () => {
    const install = first.calls.find((call) => call.includes(" install ")) ?? "";
    assert.match(install, / cri-tools=1\.36\.0-1\.1 kubernetes-cni=1\.9\.1-1\.1 /);
    assert.match(install, / containerd\.io=2\.2\.1-1~debian\.12~bookworm$/);
    assert.match(install, / iptables /);
  });

  const packages = "kubeadm kubelet kubectl cri-tools kubernetes-cni containerd.io";
  it("holds all packages once", () => {
    assert.ok(first.calls.includes(`apt-mark hold ${packages}`));
    afterFirst();
    assert.ok(!run().calls.some((call) => call.startsWith("apt-mark")));
  });

  it("fails with the repository and the series if no repository has a build", () => {
    machine.stub("apt-cache", 'case "$2" in kube*) echo " $2 | 1.36.3-1.1 | x" ;; esac');
    const { code, stderr, calls } = run();
    assert.equal(code, 1);
    assert.match(
      stderr,
      /\nreason: neither https:\/\/pkgs\.k8s\.io\/\S+ nor another repository of machine has cri-tools of series 1\.30 to 1\.36\n$/,
    );
    assert.ok(calls.some((call) => /^apt-get .*Retries=3 update$/.test(call)));
    assert.ok(!calls.some((call) => call.includes(" install ")));
  });

  it("installs an earlier crictl if the minor has no crictl yet, and never a later crictl", () => {
    const body = machine.bodyOf("apt-cache");
    machine.stub(
      "apt-cache",
      `case "$2" in cri-tools) for build in 2.1.0-1.1 1.100.0-1.1 1.37.0-1.1 1.35.0-1.1 1.34.0-1.1; do echo " $2 | $build | x"; done ;; *) ${body} ;; esac`,
    );
    const install = run().calls.find((call) => call.includes(" install ")) ?? "";
    assert.match(install, / cri-tools=1\.35\.0-1\.1 /);
  });

  it("installs the distribution's containerd if no containerd.io of the series exists", () => {
    machine.stub(
      "apt-cache",
      'case "$2" in containerd.io) build=1.7.28-1 ;; containerd) build=1:2.2.4~ds1-1 ;; cri-tools) build=1.36.0-1.1 ;; *-cni) build=1.9.1-1.1 ;; *) build=1.36.3-1.1 ;; esac; echo " $2 | $build | x"',
    );
    const install = run().calls.find((call) => call.includes(" install ")) ?? "";
    assert.match(install, / containerd=1:2\.2\.4~ds1-1$/);
  });

  it("keeps a containerd of the series that the image contains", () => {
    machine.stub("containerd", "echo containerd containerd.io v2.2.0 abc");
    const install = run().calls.find((call) => call.includes(" install ")) ?? "";
    assert.doesNotMatch(install, /containerd/);
  });

  it("registers the node with the configured taints, and keeps the user's other kubelet flags", () => {
    const file = "etc/default/kubelet";
    afterFirst();
    assert.equal(machine.file(file), undefined);
    const flag = "KUBELET_EXTRA_ARGS=--register-with-taints=";
    run({ REGISTER_TAINTS: "a=b:NoSchedule,c=:NoExecute" });
    assert.equal(machine.file(file), `${flag}a=b:NoSchedule,c=:NoExecute\n`);
    const { calls } = run();
    assert.equal(machine.file(file), "");
    assert.ok(!calls.some((call) => /restart.*kubelet/.test(call)));
    machine.put(file, "KUBELET_EXTRA_ARGS=--v=2\n");
    run();
    assert.equal(machine.file(file), "KUBELET_EXTRA_ARGS=--v=2\n");
  });

  it("runs the user's beforeKubeadm step after the installation, and fails if the step fails", () => {
    const { code, calls, stderr } = run({ BEFORE_KUBEADM: "crictl own step" });
    assert.equal(code, 0, stderr);
    const own = calls.indexOf("crictl own step");
    assert.ok(own > calls.findIndex((call) => / install /.test(call)) && own > 0);
    assert.equal(machine.file("var/lib/stackadm/steps/beforeKubeadm"), "crictl own step\n");
    const failed = run({ BEFORE_KUBEADM: "exit 3" });
    assert.match(failed.stderr, /\nreason: steps\.beforeKubeadm ended with code 3 on machine; /);
  });

  it("reports apt's error if the installation fails", () => {
    machine.stub(
      "apt-get",
      'case "$*" in *install*) echo "E: Sub-process failed"; exit 100 ;; esac',
    );
    assert.match(
      run().stderr,
      /\nreason: the packages cannot be installed on machine: Sub-process failed; write another address in kubernetes\.packages\.url\n$/,
    );
  });

  it("repeats no installation, download or restart in the second run", () => {
    afterFirst();
    const before = machine.file("etc/containerd/config.toml");
    const { code, calls } = run();
    assert.equal(code, 0);
    assert.deepEqual(
      calls.filter((call) => /apt-get|curl|restart/.test(call)),
      [],
    );
    assert.equal(machine.file("etc/containerd/config.toml"), before);
  });

  it("holds the packages of a prebaked image without an installation", () => {
    machine.put("installed");
    machine.put("opt/cni/bin/loopback");
    // The loopback plugin is not executable yet: the check must test more than its name.
    assert.ok(run().calls.some((call) => call.startsWith("apt-get")));
    rmSync(join(machine.root, "held"));
    const { calls } = run();
    assert.ok(!calls.some((call) => call.startsWith("apt-get")));
    assert.ok(calls.includes(`apt-mark hold ${packages}`));
  });

  it("refuses a repository that another key signs, before any use of apt", () => {
    const { code, stderr, calls } = run({ PACKAGES_KEY_FINGERPRINT: "A".repeat(40) });
    assert.equal(code, 1);
    assert.match(stderr, /kubernetes\.packages\.keyFingerprint: .* is signed by DE15/);
    assert.ok(!calls.some((call) => call.startsWith("apt-get")));
  });

  it("reports cloud-init's error if cloud-init failed", () => {
    machine.stub(
      "cloud-init",
      'case "$*" in *--long*) echo "write_files: no space" ;; *) exit 1 ;; esac',
    );
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(stderr, /cloud-init failed on machine: write_files: no space/);
  });

  it("succeeds with a note on a node whose cloud-init failed at a later boot", () => {
    afterFirst();
    machine.put("var/lib/stackadm/join.done");
    machine.stub("cloud-init", 'case "$*" in *--long*) echo "no metadata" ;; *) exit 1 ;; esac');
    const { code, stderr } = run();
    assert.equal(code, 0, stderr);
    assert.match(stderr, /machine: cloud-init failed at the last boot: no metadata/);
  });

  it("fails with the time limit if cloud-init does not end within 20 minutes", () => {
    machine.stub("cloud-init", "exit 124");
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(
      stderr,
      /\nreason: cloud-init did not end within 20 minutes on machine; where it is slow, write a larger timeoutFactor\n$/,
    );
  });

  it("succeeds with a note if cloud-init reports only warnings", () => {
    machine.stub("cloud-init", 'case "$*" in *--long*) echo "deprecated key" ;; *) exit 2 ;; esac');
    const { code, stderr } = run();
    assert.equal(code, 0);
    assert.match(stderr, /ended with warnings: deprecated key/);
  });

  it("fails with the name of a missing value", () => {
    const { code, stderr } = run({ PACKAGES_URL: "" });
    assert.equal(code, 1);
    assert.match(stderr, /the value PACKAGES_URL is missing/);
  });

  it("configures kubeadm's pause image, and does not restrict OOM scores outside containers", () => {
    afterFirst();
    const config = machine.file("etc/containerd/config.toml") ?? "";
    assert.match(config, /sandbox = "r\/pause:3\.10"/);
    assert.match(config, /restrict_oom_score_adj = false/);
    assert.equal(machine.file("etc/containerd/certs.d/registry.k8s.io/hosts.toml"), undefined);
  });

  it("loads the kernel modules of containerd and the pod network now and at each boot", () => {
    const { calls } = first;
    afterFirst();
    assert.ok(calls.includes("modprobe -a overlay br_netfilter ip_set xt_set"), calls.join("\n"));
    assert.equal(
      machine.file("etc/modules-load.d/stackadm.conf"),
      "overlay\nbr_netfilter\nip_set\nxt_set\n",
    );
  });

  it("fails with the list of modules if the kernel lacks a module", () => {
    machine.stub("modprobe", "exit 1");
    const { code, stderr } = run();
    assert.notEqual(code, 0);
    assert.match(stderr, /machine lacks one of the modules overlay br_netfilter ip_set xt_set;/);
  });

  it("restricts OOM scores and loads no module inside a system container", () => {
    machine.stub("systemd-detect-virt", "exit 0");
    const { calls } = run();
    assert.match(machine.file("etc/containerd/config.toml") ?? "", /restrict_oom_score_adj = true/);
    assert.ok(!calls.some((call) => call.startsWith("modprobe")));
  });

  it("writes the hosts file of a registry without TLS", () => {
    const registry = { prefix: "mirror.example:5000", plainHttp: true };
    machine.run(preparationScripts, workerValues({ kubernetes: { registry } }));
    const file = machine.file("etc/containerd/certs.d/mirror.example:5000/hosts.toml") ?? "";
    assert.match(file, /http:\/\/mirror\.example:5000/);
  });

  const sysctls = "etc/sysctl.d/90-stackadm.conf";
  it("raises the inotify limits for as many pods as kubelet accepts, and never lowers a limit", () => {
    afterFirst();
    assert.match(
      machine.file(sysctls) ?? "",
      /\nfs\.inotify\.max_user_instances = 8192\nfs\.inotify\.max_user_watches = 524288\n$/,
    );
    machine.stub("sysctl", 'case "$*" in *watches) echo 1048576 ;; *) echo 1 ;; esac');
    assert.equal(run().code, 0);
    assert.match(
      machine.file(sysctls) ?? "",
      /\nfs\.inotify\.max_user_instances = 8192\nfs\.inotify\.max_user_watches = 1048576\n$/,
    );
  });

  it("pulls only a worker's images, in the background", () => {
    const { calls } = first;
    afterFirst();
    const images = (machine.file("run/stackadm/images") ?? "").trim().split("\n");
    assert.ok(images.includes("r/kube-proxy:v1") && images.includes("r/pause:3.10"));
    assert.ok(!images.some((image) => /apiserver|etcd/.test(image)));
    const start = calls.find((call) => /systemd-run .*--unit stackadm-pull/.test(call)) ?? "";
    assert.match(start, /--service-type=exec/);
    assert.doesNotMatch(start, /--no-block/, "a queued unit looks as if it had ended");
  });

  it("does not pass the rest of the script to a command's standard input", () => {
    machine.stub("sysctl", "cat >/dev/null; echo 1");
    assert.equal(run().code, 0);
  });
});
