import { strict as assert } from "node:assert";
import { parseClusterSpec } from "../../components/cluster-spec.js";
import { preparation, prepareScripts } from "../../components/machine/preparation.js";
import { Sandbox } from "../support/sandbox.js";
import { smallest } from "../support/spec.js";

const fingerprint = "DE15B14486CD377B9E876E1A234654DA9A296436";

/** A fresh Debian: the packages bring the commands. */
const installed = (command: string, answer: string): string =>
  `[ -e $root/installed ] || exit 127; ${answer} # ${command}`;
const stubs: Readonly<Record<string, string>> = {
  hostname: "echo machine",
  "cloud-init": "exit 0",
  kubeadm: installed(
    "kubeadm",
    'case "$*" in *images*) printf "r/%s\\n" kube-apiserver:v1 kube-proxy:v1 pause:3.10 etcd:3 ;; *version*) echo v1.36.3 ;; esac',
  ),
  kubelet: installed("kubelet", "echo Kubernetes v1.36.3"),
  containerd: installed("containerd", "echo containerd containerd.io v2.3.7 abc"),
  crictl: installed("crictl", "exit 0"),
  systemctl: 'case "$*" in *ActiveState*) echo inactive ;; esac',
  "systemd-run": "exit 0",
  "systemd-detect-virt": "exit 1",
  modprobe: "exit 0",
  sysctl: "echo 1",
  swapoff: "exit 0",
  curl: "echo KEY",
  gpg: `echo fpr:::::::::${fingerprint}:`,
  "apt-get":
    'case "$*" in *install*) touch $root/installed; mkdir -p /opt/cni/bin; touch /opt/cni/bin/loopback; chmod +x /opt/cni/bin/loopback ;; esac',
  "apt-cache":
    'case "$1" in madison) printf " %s | %s | x\\n" $2 1.36.30-1.1 $2 1.36.3-2.1 $2 1.36.3-1.1 ;; esac',
  "apt-mark": "exit 0",
  xargs: "exit 0",
};

const values = (over: object = {}): Record<string, string> => {
  const result = parseClusterSpec({ ...smallest, ...over });
  assert.ok("spec" in result);
  return preparation(result.spec.kubernetes, "worker");
};

describe("prepare.sh", () => {
  let machine: Sandbox;
  const run = (over: Record<string, string> = {}) =>
    machine.run(prepareScripts, { ...values(), ...over });
  beforeEach(() => {
    machine = new Sandbox(stubs);
  });
  afterEach(() => {
    machine.close();
  });

  it("ends with one line of JSON", () => {
    const { code, stdout, stderr } = run();
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '{"kubelet": "1.36.3"}\n');
  });

  it("installs exactly the version that is asked for, in its newest build", () => {
    const { calls } = run();
    const install = calls.find((call) => call.includes(" install ")) ?? "";
    assert.match(install, /kubeadm=1\.36\.3-2\.1 kubelet=1\.36\.3-2\.1 kubectl=1\.36\.3-2\.1/);
    assert.ok(calls.includes("apt-mark hold kubeadm kubelet kubectl"));
  });

  it("does nothing twice", () => {
    run();
    const before = machine.file("etc/containerd/config.toml");
    const { code, calls } = run();
    assert.equal(code, 0);
    assert.deepEqual(
      calls.filter((call) => /apt-get|curl|restart/.test(call)),
      [],
    );
    assert.equal(machine.file("etc/containerd/config.toml"), before);
  });

  it("takes a prebaked image as it is", () => {
    machine.put("installed");
    machine.put("opt/cni/bin/loopback");
    const { calls } = run();
    // The stub's loopback is no program yet, so that the check is about more than its name.
    assert.ok(calls.some((call) => call.startsWith("apt-get")));
  });

  it("refuses a repository that another key signs, before it is asked for anything", () => {
    const { code, stderr, calls } = run({ PACKAGES_KEY_FINGERPRINT: "A".repeat(40) });
    assert.equal(code, 1);
    assert.match(stderr, /kubernetes\.packages\.keyFingerprint: .* is signed by DE15/);
    assert.ok(!calls.some((call) => call.startsWith("apt-get")));
  });

  it("refuses to change the version of a machine that is in a cluster", () => {
    run();
    machine.put("etc/kubernetes/kubelet.conf");
    machine.stub("kubelet", "echo Kubernetes v1.35.4");
    const { code, stderr, calls } = run();
    assert.equal(code, 1);
    assert.match(stderr, /kubernetes\.version: machine runs Kubernetes v1\.35\.4/);
    assert.ok(!calls.some((call) => call.startsWith("apt-get")));
  });

  it("says what cloud-init says when it failed", () => {
    machine.stub(
      "cloud-init",
      'case "$*" in *--long*) echo "write_files: no space" ;; *) exit 1 ;; esac',
    );
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(stderr, /cloud-init failed on machine: write_files: no space/);
  });

  it("goes on when cloud-init only warned, and says so", () => {
    machine.stub("cloud-init", 'case "$*" in *--long*) echo "deprecated key" ;; *) exit 2 ;; esac');
    const { code, stderr } = run();
    assert.equal(code, 0);
    assert.match(stderr, /ended with warnings: deprecated key/);
  });

  it("names a value that is missing", () => {
    const { code, stderr } = run({ PACKAGES_URL: "" });
    assert.equal(code, 1);
    assert.match(stderr, /the value PACKAGES_URL is missing/);
  });

  it("gives containerd the pause image of kubeadm and leaves scores alone outside containers", () => {
    run();
    const config = machine.file("etc/containerd/config.toml") ?? "";
    assert.match(config, /sandbox = "r\/pause:3\.10"/);
    assert.match(config, /restrict_oom_score_adj = false/);
    assert.equal(machine.file("etc/containerd/certs.d/registry.k8s.io/hosts.toml"), undefined);
  });

  it("restricts scores inside a system container", () => {
    machine.stub("systemd-detect-virt", "exit 0");
    const { calls } = run();
    assert.match(machine.file("etc/containerd/config.toml") ?? "", /restrict_oom_score_adj = true/);
    assert.ok(!calls.some((call) => call.startsWith("modprobe")));
  });

  it("writes the host file of a registry without TLS", () => {
    const registry = { prefix: "mirror.example:5000", plainHttp: true };
    machine.run(prepareScripts, values({ kubernetes: { registry } }));
    const file = machine.file("etc/containerd/certs.d/mirror.example:5000/hosts.toml") ?? "";
    assert.match(file, /http:\/\/mirror\.example:5000/);
  });

  it("keeps pods away from the instance metadata, now and after a boot", () => {
    const { calls } = run();
    assert.match(
      machine.file("usr/local/sbin/stackadm-guard-metadata") ?? "",
      /FORWARD -d 169\.254\.169\.254\/32 -j DROP/,
    );
    assert.ok(calls.includes("systemctl enable --now stackadm-guard-metadata"));
  });

  it("pulls only what a worker needs, in the background", () => {
    const { calls } = run();
    const images = (machine.file("run/stackadm/images") ?? "").trim().split("\n");
    assert.ok(images.includes("r/kube-proxy:v1") && images.includes("r/pause:3.10"));
    assert.ok(!images.some((image) => /apiserver|etcd/.test(image)));
    const start = calls.find((call) => /systemd-run .*--unit stackadm-pull/.test(call)) ?? "";
    assert.match(start, /--service-type=exec/);
    assert.doesNotMatch(start, /--no-block/, "a queued unit looks as if it had ended");
  });

  it("reads nothing of itself as a command's input", () => {
    machine.stub("sysctl", "cat >/dev/null; echo 1");
    assert.equal(run().code, 0);
  });
});
