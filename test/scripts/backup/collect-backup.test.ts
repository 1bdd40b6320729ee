import { strict as assert } from "node:assert";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { backupScript } from "../../../automation/backup/machine-programs.js";
import { Sandbox } from "../../support/machine/sandbox.js";

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

describe("collect-backup.sh", () => {
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

  it("reports whether etcd has a majority, and etcd's Raft index", () => {
    const standing = (): unknown => JSON.parse(machine.execute(backupScript, "standing").stdout);
    assert.deepEqual(standing(), { majority: false, index: 4711 });
    machine.put("majority");
    assert.deepEqual(standing(), { majority: true, index: 4711 });
  });

  const left = (): string[] => readdirSync(join(machine.root, "var/lib/etcd"));
  const fileIn = (calls: readonly string[]): string =>
    /snapshot save (\S+)/.exec(calls.join("\n"))?.[1] ?? "";

  it("writes each snapshot to a new file, since a killed run may still write to the former file", () => {
    machine.put("var/lib/etcd/stackadm-snapshot-1.db.part", "of a run that was killed");
    const files = [1, 2].map(() => fileIn(machine.execute(backupScript, "snapshot").calls));
    assert.notEqual(files[0], files[1]);
    assert.deepEqual(left(), ["member"]);
  });

  it("takes a snapshot if du misses a deleted file, and fails if du reports no size", () => {
    machine.stub("du", "printf '1000\\tsnap\\n'; exit 1");
    assert.equal(machine.execute(backupScript, "snapshot").stdout, "DATA");
    machine.stub("du", "exit 1");
    assert.match(
      reason(machine.execute(backupScript, "snapshot").stderr),
      /^dev-control-plane-0 cannot determine the size of etcd's data and the free space in \S+etcd$/,
    );
  });

  it("prints a snapshot of etcd by the member's own key, and leaves no file on the disk", () => {
    const { code, stdout, stderr, calls } = machine.execute(backupScript, "snapshot");
    assert.equal(code, 0, stderr);
    assert.equal(stdout, "DATA");
    const saved = calls.find((call) => call.startsWith("crictl exec")) ?? "";
    assert.match(
      saved,
      /^crictl exec c0ffee etcdctl .*--key=\S+\/pki\/etcd\/server.key snapshot save/,
    );
    assert.deepEqual(left(), ["member"]);
  });

  it("refuses a snapshot if the disk has too little space or if no etcd runs", () => {
    machine.put("free", "1400");
    const full = machine.execute(backupScript, "snapshot");
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
    const without = machine.execute(backupScript, "snapshot");
    assert.equal(without.code, 1);
    assert.equal(reason(without.stderr), "no etcd runs on dev-control-plane-0");
  });

  it("leaves no file on the disk if etcd fails to write the snapshot", () => {
    machine.stub(
      "crictl",
      'case "$1" in ps) echo c0ffee ;; exec) for last; do :; done; printf HALF >"$last.part"; exit 1 ;; esac',
    );
    const { code, stdout, stderr } = machine.execute(backupScript, "snapshot");
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.equal(reason(stderr), "etcd on dev-control-plane-0 did not write a snapshot");
    assert.deepEqual(left(), ["member"]);
  });

  describe("archive", () => {
    const archive = (...pods: string[]) => machine.execute(backupScript, "archive", ...pods);
    const both = ["etcd", "kube-apiserver"];
    beforeEach(() => {
      for (const one of both) machine.put(`etc/kubernetes/manifests/${one}.yaml`, "POD");
      for (const one of ["pki", "pki/etcd"]) machine.put(`etc/kubernetes/${one}/ca.key`, "KEY");
      machine.put("var/lib/stackadm/init.done");
      machine.put("var/lib/kubelet/config.yaml");
      machine.put("etc/hosts");
    });

    it("prints the existing files that a restore needs, without the server's own files", () => {
      const { code, stdout, stderr, calls } = archive(...both);
      assert.equal(code, 0, stderr);
      assert.equal(stdout, "ARCHIVE");
      assert.deepEqual(
        calls.map((call) => call.replaceAll(machine.root, "")),
        [
          "tar -czf - --exclude=/etc/kubernetes/tmp --exclude=/var/lib/stackadm/server --exclude=/var/lib/stackadm/restore* /etc/kubernetes /etc/hosts /var/lib/stackadm /var/lib/kubelet/config.yaml",
        ],
      );
    });

    it("fails if the machine has not joined or lacks a file that a restore needs", () => {
      for (const [gone, pods] of [
        ["etc/kubernetes/pki/ca.key", both],
        ["etc/kubernetes/pki/etcd/ca.key", ["etcd"]],
        ["etc/kubernetes/manifests/etcd.yaml", both],
        ["etc/kubernetes/manifests/kube-apiserver.yaml", ["kube-apiserver"]],
      ] as const) {
        machine.put(gone);
        const { code, stdout, stderr } = archive(...pods);
        assert.deepEqual([code, stdout], [1, ""], gone);
        assert.equal(
          reason(stderr).replaceAll(machine.root, ""),
          `dev-control-plane-0 has no /${gone}, without which a backup cannot restore the machine`,
        );
        machine.put(gone, "AGAIN");
      }
      rmSync(join(machine.root, "var/lib/stackadm/init.done"));
      assert.equal(
        reason(archive(...both).stderr),
        "dev-control-plane-0 has not joined the cluster yet",
      );
    });

    it("fails while another step runs on the machine", () => {
      machine.stub("flock", 'echo "$*" >$root/locked; exit 1');
      assert.equal(
        reason(archive("etcd").stderr),
        "another step is still running on dev-control-plane-0",
      );
      assert.equal(machine.file("locked"), "-w 300 9\n");
    });
  });

  it("refuses an unknown subcommand", () => {
    assert.equal(machine.execute(backupScript, "all").code, 64);
  });
});
