import { strict as assert } from "node:assert";
import { releaseSnapshotsScripts } from "../../../../components/kubeadm/node-scripts.js";
import { Sandbox } from "../../../support/machine/sandbox.js";

const common: Readonly<Record<string, string>> = { hostname: "echo machine", systemctl: "exit 0" };
const soon = releaseSnapshotsScripts.map((text) =>
  text.replaceAll("wait_until_none_left snapshots 240", "wait_until_none_left snapshots 1"),
);

describe("release-snapshots.sh", () => {
  it("does nothing if no cluster exists", () => {
    const machine = new Sandbox(common);
    try {
      assert.equal(
        machine.run(releaseSnapshotsScripts, {}).stdout,
        '\n@stackadm {"released": "nothing"}\n',
      );
    } finally {
      machine.close();
    }
  });

  it("deletes only Cinder's snapshots, and waits for the deletion by the CSI driver", () => {
    const machine = new Sandbox({
      ...common,
      kubectl: [
        'case "$*" in',
        '  "delete -f -"*) cat >$root/asked ;;',
        '  "get volumesnapshotcontents,"*)',
        "    [ ! -e $root/gone ] || exit 0",
        "    [ ! -e $root/asked ] || touch $root/gone",
        "    echo content there - snapcontent-1 x,",
        "    echo snapshot there default first snapcontent-1 x,; echo snapshot there default others foreign-1 x, ;;",
        "esac",
      ].join("\n"),
    });
    try {
      machine.put("etc/kubernetes/admin.conf");
      const { code, stdout, stderr } = machine.run(releaseSnapshotsScripts, {});
      assert.equal(code, 0, stderr);
      assert.equal(stdout, '\n@stackadm {"released": "yes"}\n');
      assert.equal(
        machine.file("asked"),
        '---\n{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {name: "first", namespace: "default"}}\n',
      );
    } finally {
      machine.close();
    }
  });

  it("reports the remaining snapshots and their finalizers", () => {
    const machine = new Sandbox({
      ...common,
      kubectl:
        'case "$*" in "get volumesnapshotcontents,"*) echo content there - c -; echo snapshot going default first c example.com/keep, ;; esac',
    });
    try {
      machine.put("etc/kubernetes/admin.conf");
      const { code, stderr } = machine.run(soon, {});
      assert.equal(code, 1);
      assert.match(
        stderr,
        /reason: \[TEARDOWN_BLOCKED\] 1 snapshots are left, .*: snapshot default\/first is being deleted, finalizers example.com\/keep; content c is there$/m,
      );
    } finally {
      machine.close();
    }
  });
});
