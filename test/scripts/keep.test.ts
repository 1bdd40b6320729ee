import { strict as assert } from "node:assert";
import { keepScript } from "../../automation/backup/machines.js";
import { Sandbox } from "../support/sandbox.js";

const commands = {
  hostname: "echo dev-control-plane-0",
  crictl: `case "$*" in
      ps*) echo c0ffee ;;
      *"snapshot save"*) for last; do :; done; printf DATA >"$last"; echo "saved" ;;
      *" get "*) [ -e $root/majority ] ;;
      *status*) echo '[{"Status":{"header":{"revision":9},"raftIndex":4711,"raftAppliedIndex":4710}}]' ;;
    esac`,
  du: "printf '1000\\tsnap\\n'",
  df: 'echo Avail; cat "$root/free"',
  tar: "printf ARCHIVE",
};

describe("keep.sh", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox(commands);
    machine.put("free", "1000000");
    machine.put("var/lib/etcd/member/snap/db");
  });
  afterEach(() => {
    machine.close();
  });
  const reason = (stderr: string): string => /reason: (.*)/.exec(stderr)?.[1] ?? "";

  it("says whether etcd goes on with a majority, and how far it has come", () => {
    const standing = (): unknown => JSON.parse(machine.execute(keepScript, "standing").stdout);
    assert.deepEqual(standing(), { majority: false, index: 4711 });
    machine.put("majority");
    assert.deepEqual(standing(), { majority: true, index: 4711 });
  });

  it("prints a snapshot of etcd, by the member's own keys, and leaves nothing on the disk", () => {
    const { code, stdout, stderr, calls } = machine.execute(keepScript, "snapshot");
    assert.equal(code, 0, stderr);
    assert.equal(stdout, "DATA");
    const saved = calls.find((call) => call.startsWith("crictl exec")) ?? "";
    assert.match(
      saved,
      /^crictl exec c0ffee etcdctl .*--key=\S+\/pki\/etcd\/server.key snapshot save/,
    );
    assert.equal(machine.file("var/lib/etcd/stackadm-snapshot.db"), undefined);
  });

  it("takes none where the disk would be full with it, and none without etcd", () => {
    machine.put("free", "1400");
    const full = machine.execute(keepScript, "snapshot");
    assert.equal(full.code, 1);
    assert.match(
      reason(full.stderr),
      /^\S+\/var\/lib\/etcd on dev-control-plane-0 has 0 MiB left, too little/,
    );
    assert.deepEqual(
      full.calls.filter((call) => call.startsWith("crictl exec")),
      [],
    );
    machine.stub("crictl", ":");
    const without = machine.execute(keepScript, "snapshot");
    assert.equal(without.code, 1);
    assert.equal(reason(without.stderr), "no etcd runs on dev-control-plane-0");
  });

  it("leaves nothing on the disk either when etcd gives none", () => {
    machine.stub(
      "crictl",
      'case "$1" in ps) echo c0ffee ;; exec) for last; do :; done; printf HALF >"$last.part"; exit 1 ;; esac',
    );
    const { code, stdout, stderr } = machine.execute(keepScript, "snapshot");
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.equal(reason(stderr), "etcd on dev-control-plane-0 gives no snapshot");
    assert.equal(machine.file("var/lib/etcd/stackadm-snapshot.db.part"), undefined);
  });

  it("prints the files of a machine's place that are there, but not what is the server's own", () => {
    machine.put("etc/kubernetes/pki/ca.key");
    machine.put("var/lib/stackadm/init.done");
    machine.put("var/lib/kubelet/config.yaml");
    machine.put("etc/hosts");
    const { code, stdout, stderr, calls } = machine.execute(keepScript, "archive");
    assert.equal(code, 0, stderr);
    assert.equal(stdout, "ARCHIVE");
    assert.deepEqual(
      calls.map((call) => call.replaceAll(machine.root, "")),
      [
        "tar -czf - --exclude=/etc/kubernetes/tmp --exclude=/var/lib/stackadm/server --exclude=/var/lib/stackadm/restore* /etc/kubernetes /etc/hosts /var/lib/stackadm /var/lib/kubelet/config.yaml",
      ],
    );
  });

  it("has no archive of a machine without an authority, and knows no other word", () => {
    const { code, stderr } = machine.execute(keepScript, "archive");
    assert.equal(code, 1);
    assert.match(reason(stderr), /^dev-control-plane-0 has no authority/);
    assert.equal(machine.execute(keepScript, "all").code, 64);
  });
});
