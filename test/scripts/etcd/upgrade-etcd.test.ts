import { strict as assert } from "node:assert";
import { etcdMemberScripts } from "../../../components/etcd/member-scripts.js";
import { etcdValues as values } from "../../support/machine/etcd-machine.js";
import { nodeCommands } from "../../support/machine/join-stubs.js";
import { Sandbox, type Outcome } from "../../support/machine/sandbox.js";
import {
  kubeadmOf,
  installFormerVersion,
  shortBounds,
} from "../../support/machine/upgrade-stubs.js";

const scripts = shortBounds(etcdMemberScripts).map((text) =>
  text.replaceAll("poll 240 etcd_answers", "poll 1 etcd_answers"),
);
const pod = (image: string): string =>
  `spec:\n  containers:\n  - command:\n    - etcd\n    - --initial-cluster=a,b\n    image: ${image}\n`;
const manifest = "etc/kubernetes/manifests/etcd.yaml";

describe("the upgrade of an etcd machine", () => {
  let machine: Sandbox;
  const run = (over: Partial<typeof values> = {}): Outcome =>
    machine.run(scripts, { ...values, ...over }, "update");
  const kept = (): string | undefined => machine.file("var/lib/stackadm/kept-version");
  const deeds = ({ calls }: Outcome): string[] =>
    calls.flatMap((call) => {
      const [, word] =
        /^apt-get .* downgrades (install .*?)=/.exec(call.replace("--allow-", "")) ??
        /^(?:crictl|systemctl) (pull .*|restart .*)$/.exec(call) ??
        [];
      return word === undefined ? [] : [word];
    });
  /**
   * Stub of crictl: a changed manifest has another container ID; a container with a broken image
   * never answers.
   */
  const crictl = (...more: readonly string[]): void => {
    const cases = [
      ...more,
      "*--all*) echo ended ;;",
      "ps*) cksum </etc/kubernetes/manifests/etcd.yaml ;;",
      "exec*) ! grep -q 3.6.8-broken /etc/kubernetes/manifests/etcd.yaml ;;",
      'logs*) echo "Error: cannot read its data" ;;',
    ];
    machine.stub("crictl", `case "$*" in\n${cases.join("\n")}\nesac`);
  };

  beforeEach(() => {
    machine = new Sandbox(nodeCommands);
    installFormerVersion(machine, "etcd");
    machine.put("var/lib/stackadm/kubelet.yaml", values.KUBELET_CONFIG + "\n");
    machine.put(manifest, pod("r/etcd:3.6.6-0"));
    machine.stub("kubeadm", kubeadmOf());
    crictl();
  });
  afterEach(() => {
    machine.close();
  });

  it("keeps etcd running if the image cannot be pulled, and reports the registry's answer", () => {
    crictl("pull*) echo 'FATA[0001] pulling image: 403 Forbidden'; exit 1 ;;");
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(
      stderr,
      /reason: dev-etcd-0 cannot pull r\/etcd:3\.6\.8-0: 403 Forbidden; have it let these machines read, or write a mirror/,
    );
    assert.equal(machine.file(manifest), pod("r/etcd:3.6.6-0"));
  });

  it("upgrades packages and etcd once, and pulls etcd's image first", () => {
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.equal(machine.file(manifest), pod("r/etcd:3.6.8-0"));
    const words = deeds(done).filter((word) => word !== "restart kubelet");
    assert.deepEqual(words, ["pull r/etcd:3.6.8-0", "restart containerd"]);
    assert.equal(kept(), "1.36.3");
    assert.equal(machine.file("var/lib/stackadm/former-etcd.yaml"), undefined);
    assert.ok(!run().calls.some((call) => /apt-get|kubeadm|restart/.test(call)), "nothing twice");
  });

  it("changes containerd after its generation has changed, only while all members answer", () => {
    const build = "var/cache/stackadm/containerd-builds/next/containerd.io_2.4.1-1_amd64.deb";
    const generation = { CONTAINERD_GENERATION: "1" };
    run();
    machine.put(build);
    crictl("exec*--cluster*) exit 1 ;;");
    assert.match(
      run(generation).stderr,
      /NOT_READY\] dev-etcd-0 is not upgraded while not all members of etcd answer/,
    );
    assert.equal(machine.file(build), "");
    crictl();
    const done = run(generation);
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(deeds(done), ["restart containerd"]);
    assert.ok(done.calls.some((call) => / install \S+\/containerd\.io_2\.4\.1-1_/.test(call)));
    assert.equal(machine.file(build), undefined);
    assert.deepEqual(deeds(run(generation)), [], "nothing twice");
  });

  it("refuses to start until all members of etcd answer", () => {
    crictl("exec*--cluster*) exit 1 ;;");
    const done = run();
    assert.match(
      done.stderr,
      /NOT_READY\] dev-etcd-0 is not upgraded while not all members of etcd answer/,
    );
    assert.equal(kept(), "1.35.4");
    assert.deepEqual(
      deeds(done).filter((word) => word.startsWith("pull")),
      [],
    );
  });

  it("restores etcd's former image if etcd fails with another, and reports etcd's error", () => {
    machine.stub("kubeadm", kubeadmOf().replaceAll("3.6.8-0", "3.6.8-broken"));
    const failed = run();
    assert.match(
      failed.stderr,
      /reason: etcd on dev-etcd-0 does not come up with r\/etcd:3\.6\.8-broken and has its former image again; it said: Error: cannot read its data\n$/,
    );
    assert.equal(machine.file(manifest), pod("r/etcd:3.6.6-0"));
    assert.equal(kept(), "not finished");
  });

  it("restores etcd's former image if the previous run was interrupted, and then upgrades", () => {
    machine.put("var/lib/stackadm/kept-version", "not finished");
    machine.put("var/lib/stackadm/former-etcd.yaml", pod("r/etcd:3.6.6-0"));
    machine.put(manifest, pod("r/etcd:3.6.8-broken"));
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.equal(machine.file(manifest), pod("r/etcd:3.6.8-0"));
  });
});
