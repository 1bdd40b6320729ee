import { strict as assert } from "node:assert";
import { etcdMemberScripts } from "../../../components/etcd/member-scripts.js";
import { etcdValues as values } from "../../support/machine/etcd-machine.js";
import { nodeCommands, controlPlaneRequests } from "../../support/machine/join-stubs.js";
import { Sandbox } from "../../support/machine/sandbox.js";

const cluster = "dev-etcd-1=https://10.0.0.7:2380,dev-etcd-0=https://10.0.0.5:2380";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Stubs: kubeadm writes a static pod, and its container runs while the manifest exists. */
const commands = {
  ...nodeCommands,
  kubeadm:
    'case "$3 $4" in "etcd local") cp "$6" $root/seen; touch $root/data; mkdir -p /etc/kubernetes/manifests; echo POD >/etc/kubernetes/manifests/etcd.yaml ;; esac',
  crictl:
    'case "$1" in ps) if [ -e /etc/kubernetes/manifests/etcd.yaml ]; then echo c0ffee; fi ;; esac',
  cp: 'exec /bin/cp "$@"',
  curl: "grep -q broken /var/lib/stackadm/kubelet.yaml || printf ok",
  journalctl: 'echo "Error: unknown field"',
  ssh: `case "$*" in *member) echo "${cluster} ${base64("AUTHORITY")} ${base64("CANARY-KEY")}" ;; esac`,
};

describe("etcd-member.sh", () => {
  let machine: Sandbox;
  /** Scripts with shorter waits. */
  const scripts = etcdMemberScripts.map((text) =>
    text.replace(
      "stable_seconds=5 start_seconds=180 restore_seconds=240",
      "stable_seconds=0 start_seconds=1 restore_seconds=1",
    ),
  );
  const run = (over: Partial<typeof values> = {}, occasion?: "update") =>
    machine.run(scripts, { ...values, ...over }, occasion);
  const phases = (calls: readonly string[]): string[] =>
    calls.flatMap((call) => /^kubeadm init phase (.*) --config/.exec(call)?.[1] ?? []);
  beforeEach(() => {
    machine = new Sandbox(commands);
  });
  afterEach(() => {
    machine.close();
  });

  it("initializes etcd on the first machine without a request to other machines", () => {
    const { code, stdout, stderr, calls } = run();
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '\n@stackadm {"member": "dev-etcd-0"}\n');
    assert.deepEqual(phases(calls), [
      ...["certs etcd-ca", "certs etcd-server", "certs etcd-peer", "etcd local"],
    ]);
    assert.equal(
      machine.file("seen"),
      "cluster: 'dev-etcd-0=https://10.0.0.5:2380'\nstate: 'new'\n",
    );
    assert.deepEqual(controlPlaneRequests(calls), []);
    assert.match(machine.file("usr/local/sbin/stackadm-mint") ?? "", /WORDS "member"/);
  });

  it("runs the user's afterKubeadm step after etcd is set up, and fails if the step fails", () => {
    const { code, stderr, calls } = run({ AFTER_KUBEADM: "crictl own step" });
    assert.equal(code, 0, stderr);
    const own = calls.indexOf("crictl own step");
    assert.ok(own > calls.findIndex((call) => call.startsWith("kubeadm init phase etcd local")));
    const failed = run({ AFTER_KUBEADM: "exit 3" }, "update");
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /reason: .*steps\.afterKubeadm ended with code 3 on /);
  });

  it("runs no kubeadm phase and does not restart kubelet on an existing member", () => {
    run();
    const { code, stderr, calls } = run({}, "update");
    assert.equal(code, 0, stderr);
    assert.deepEqual(phases(calls), []);
    assert.ok(calls.includes("systemctl start kubelet"));
    assert.ok(!calls.includes("systemctl restart kubelet"));
  });

  it("restores kubelet's former configuration after a failed change, and reports kubelet's error", () => {
    run();
    const { code, stderr, calls } = run({ KUBELET_CONFIG: "broken: 1\n" }, "update");
    assert.equal(code, 1);
    assert.match(
      stderr,
      /reason: \[CONFIGURATION_UNDONE\] kubernetes\.kubelet: kubelet of dev-etcd-0 does not come up with it and has its former configuration again; it said: Error: unknown field\n$/,
    );
    assert.equal(machine.file("var/lib/stackadm/kubelet.yaml"), `${values.KUBELET_CONFIG}\n`);
    assert.equal(calls.filter((call) => call === "systemctl restart kubelet").length, 2);
    const again = run({}, "update");
    assert.equal(again.code, 0);
    assert.ok(!again.calls.includes("systemctl restart kubelet"));
  });

  it("restores kubelet's configuration if the previous run was interrupted during a change", () => {
    run();
    machine.put("var/lib/stackadm/kubelet-former.yaml", `${values.KUBELET_CONFIG}\n`);
    machine.put("var/lib/stackadm/kubelet.yaml", "broken: 1\n");
    const { code, stderr, calls } = run({}, "update");
    assert.equal(code, 0, stderr);
    assert.ok(calls.includes("systemctl restart kubelet"));
    assert.equal(machine.file("var/lib/stackadm/kubelet-former.yaml"), undefined);
  });

  it("joins etcd and becomes a voting member if the machine is not the first or was recreated", () => {
    for (const [over, occasion] of [
      [{ BEGINS: "no" }, undefined],
      [{}, "update"],
    ] as const) {
      const other = new Sandbox(commands);
      try {
        const { code, stderr, calls } = other.run(
          etcdMemberScripts,
          { ...values, ...over },
          occasion,
        );
        assert.equal(code, 0, stderr);
        assert.equal(other.file("seen"), `cluster: '${cluster}'\nstate: 'existing'\n`);
        assert.equal(other.file("etc/kubernetes/pki/etcd/ca.key"), "CANARY-KEY");
        assert.deepEqual(controlPlaneRequests(calls), ["10.0.0.7 member", "10.0.0.7 promote"]);
        for (const text of [...calls, stderr]) assert.doesNotMatch(text, /CANARY/);
        assert.equal(other.file("run/stackadm/join/answer"), undefined);
      } finally {
        other.close();
      }
    }
  });

  it("refuses to initialize etcd if the only machine was recreated", () => {
    const { code, stderr, calls } = run({ PEERS: "" }, "update");
    assert.equal(code, 1);
    assert.deepEqual(phases(calls), []);
    assert.match(stderr, /reason: dev-etcd-0 was created again, and etcd had no other member/);
  });

  it("deletes the data of an interrupted join only after the other members remove the member", () => {
    machine.put("var/lib/etcd/member/wal", "DATA");
    machine.put("etc/kubernetes/manifests/etcd.yaml", "POD");
    machine.stub(
      "ssh",
      `case "$*" in *member) cp /var/lib/etcd/member/wal $root/kept; echo "${cluster} ${base64("A")} ${base64("K")}" ;; esac`,
    );
    const { code, stderr } = run({ BEGINS: "no" });
    assert.equal(code, 0, stderr);
    assert.equal(machine.file("kept"), "DATA");
    assert.equal(machine.file("var/lib/etcd/member/wal"), undefined);
  });

  it("deletes a server certificate of another CA after receiving the members' CA", () => {
    machine.put("etc/kubernetes/pki/etcd/server.crt", "OF ANOTHER AUTHORITY");
    run({ BEGINS: "no" });
    assert.equal(machine.file("etc/kubernetes/pki/etcd/server.crt"), undefined);
  });

  it("reports kubeadm's error if a phase fails", () => {
    machine.stub("kubeadm", "echo 'error: no such image' >&2; exit 1");
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(
      stderr,
      /reason: kubeadm init phase certs etcd-ca failed on dev-etcd-0: no such image/,
    );
  });
});
