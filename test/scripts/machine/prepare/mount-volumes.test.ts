import { strict as assert } from "node:assert";
import { parseClusterSpec } from "../../../../components/config/cluster-spec.js";
import {
  getPreparationValues,
  preparationScripts,
} from "../../../../components/machine/preparation.js";
import { renderVolumeLine } from "../../../../components/plan/volumes.js";
import { freshDebian } from "../../../support/machine/fresh-debian.js";
import { Sandbox, sandboxServer, type Outcome } from "../../../support/machine/sandbox.js";
import { smallest } from "../../../support/config/spec.js";

const id = "5ee5a1c4-1111-4222-8333-444444444444";
const runtime = renderVolumeLine("runtime", id);

/**
 * Stubs: file `label` contains the volume's label, file `mounts` the mounts. Both survive a run.
 */
const disks = {
  udevadm: "exit 0",
  readlink: `case "$*" in */virtio-${id.slice(0, 20)}) echo /dev/vdb ;; *) exit 1 ;; esac`,
  blkid: "cat $root/label 2>/dev/null || exit 2",
  "mkfs.ext4": "echo $3 >$root/label",
  dd: "exit 0",
  e2label: "echo $2 >$root/label",
  mountpoint: "grep -qx -- $2 $root/mounts",
  mount: "exit 0",
  umount: "exit 0",
  cp: "exit 0",
  ls: "exit 0",
  rmdir: "exit 0",
  chmod: 'exec /usr/bin/chmod "$@"',
  "systemd-escape": "echo var-lib-x.mount",
  systemctl:
    'case "$*" in *ActiveState*) echo inactive ;; "start var-lib-x.mount") echo /var/lib/containerd >>$root/mounts; mkdir -p /var/lib/containerd/lost+found ;; esac',
};

describe("mount-volumes.sh", () => {
  let machine: Sandbox;
  const run = (volumes: string): Outcome => {
    const parsed = parseClusterSpec(smallest);
    assert.ok("spec" in parsed);
    const inside = volumes.replace(" /var/", ` ${machine.root}/var/`);
    const late = { ADMIN_ADDRESS: "", CLOUD_AUTHORITY: "", REGISTRY_AUTH: "", PROXY: "" };
    const values = { ...getPreparationValues(parsed.spec, "worker"), VOLUMES: inside, ...late };
    return machine.run(preparationScripts, values);
  };
  const at = ({ calls }: Outcome, text: string): number =>
    calls.findIndex((call) => call.startsWith(text));
  const began = ({ calls }: Outcome): string[] =>
    calls.filter((call) => /^(mkfs|mount |cp|systemctl (stop|start var))/.test(call));
  beforeEach(() => {
    machine = new Sandbox({ ...freshDebian, ...disks });
    machine.put("mounts");
  });
  afterEach(() => {
    machine.close();
  });

  it("formats and mounts an empty volume once, before the installation of containerd", () => {
    const first = run(runtime);
    assert.equal(first.code, 0, first.stderr);
    const order = [
      ...["blkid", "mkfs.ext4 -q -L stackadm-new /dev/vdb", "e2label /dev/vdb stackadm-runtime"],
      "systemctl start var-lib",
    ];
    const found = [...order, "apt-get"].map((text) => at(first, text));
    assert.deepEqual(
      found,
      [...found].sort((one, other) => one - other),
    );
    assert.ok(!found.includes(-1), String(found));
    assert.ok(at(first, `rmdir ${machine.root}/var/lib/containerd/lost+found`) > 0);
    const again = run(runtime);
    assert.equal(again.code, 0);
    assert.deepEqual(began(again), []);
  });

  it("mounts the volume by serial number at each boot, and makes containerd require the mount", () => {
    run(runtime);
    const { code } = run(runtime);
    assert.equal(code, 0);
    assert.equal(
      machine.file("etc/systemd/system/var-lib-x.mount")?.replaceAll(machine.root, ""),
      `[Mount]\nWhat=/dev/disk/by-id/virtio-${id.slice(0, 20)}\nWhere=/var/lib/containerd\nType=ext4\nOptions=noatime\n`,
    );
    const unit = machine.file("etc/systemd/system/containerd.service.d/10-stackadm-runtime.conf");
    assert.equal(
      unit?.replaceAll(machine.root, ""),
      "[Unit]\nRequiresMountsFor=/var/lib/containerd\n",
    );
  });

  it("mounts a formatted volume without formatting the volume again", () => {
    machine.put("label", "stackadm-runtime\n");
    const { code, calls } = run(runtime);
    assert.equal(code, 0);
    assert.ok(!calls.some((call) => call.startsWith("mkfs")));
  });

  it("refuses a volume with foreign or unknown content", () => {
    for (const answer of ["echo data", "exit 0", "exit 8", "echo stackadm-etcd"]) {
      machine.stub("blkid", answer);
      const { code, calls, stderr } = run(runtime);
      assert.equal(code, 1);
      assert.match(
        stderr,
        /\nreason: the volume 5ee5a1c4\S+ for \S+ on machine has data that are not from this cluster/,
      );
      assert.ok(!calls.some((call) => /^(mkfs|mount )/.test(call)));
    }
  });

  it("copies the image's files to the volume", () => {
    machine.put("var/lib/containerd/image");
    machine.stub("ls", "echo image");
    const done = run(runtime);
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(
      began(done).map((call) => call.replaceAll(machine.root, "")),
      [
        ...["mkfs.ext4 -q -L stackadm-new /dev/vdb", "systemctl stop containerd"],
        ...[
          "mount /dev/vdb /run/stackadm/volume",
          "cp -a /var/lib/containerd/. /run/stackadm/volume/",
        ],
        "systemctl start var-lib-x.mount",
      ],
    );
  });

  it("copies the image's files once, and repeats only an interrupted copy", () => {
    machine.stub("ls", "echo image");
    machine.stub("cp", "exit 1");
    const broken = run(runtime);
    assert.match(
      broken.stderr,
      /\nreason: what is in \S+ on machine cannot be copied to the volume/,
    );
    assert.ok(
      broken.calls.some((call) => call.startsWith("umount")),
      "nothing stays in the way",
    );
    assert.equal(machine.file("label"), "stackadm-new\n");
    machine.stub("cp", "exit 0");
    const next = run(runtime);
    assert.equal(next.code, 0, next.stderr);
    assert.ok(next.calls.some((call) => call.startsWith("cp")));
    assert.ok(!next.calls.some((call) => call.startsWith("mkfs")));
    machine.put("mounts");
    const rebooted = run(runtime);
    assert.equal(rebooted.code, 0, rebooted.stderr);
    assert.ok(!rebooted.calls.some((call) => /^(cp|mkfs|e2label)/.test(call)));
  });

  it("does not format a volume that is unreadable or that was formatted before", () => {
    machine.stub("dd", "exit 1");
    assert.match(run(runtime).stderr, /\nreason: the volume \S+ for \S+ cannot be read on machine/);
    machine.stub("dd", "exit 0");
    assert.equal(run(runtime).code, 0);
    for (const file of ["mounts", "label"]) machine.put(file);
    machine.stub("blkid", "exit 2");
    const { code, stderr, calls } = run(runtime);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /\nreason: the volume \S+ for \S+ on machine had data and seems to be empty/,
    );
    assert.ok(!calls.some((call) => call.startsWith("mkfs")));
  });

  it("deletes lost+found on a mounted volume, even if the previous run ended before the deletion", () => {
    machine.put("mounts", `${machine.root}/var/lib/containerd\n`);
    machine.put("var/lib/containerd/lost+found/x");
    const done = run(runtime);
    assert.ok(done.calls.some((call) => call.startsWith("rmdir")));
    assert.ok(!done.calls.some((call) => call.startsWith("mkfs")));
  });

  it("fails without installing packages if the volume cannot be mounted", () => {
    machine.stub("systemctl", 'case "$*" in start*) exit 1 ;; esac');
    const done = run(runtime);
    assert.equal(done.code, 1);
    assert.match(done.stderr, /\nreason: the volume \S+ cannot be mounted at /);
    assert.equal(at(done, "apt-get"), -1);
  });

  it("makes kubelet require etcd's volume", () => {
    machine.stub("systemctl", "exit 1");
    run(renderVolumeLine("etcd", id));
    const unit = machine.file("etc/systemd/system/kubelet.service.d/10-stackadm-etcd.conf");
    assert.equal(unit?.replaceAll(machine.root, ""), "[Unit]\nRequiresMountsFor=/var/lib/etcd\n");
  });

  it("refuses the boot volume of another server", () => {
    const file = "var/lib/stackadm/server";
    assert.equal(run(renderVolumeLine("root", id)).code, 0);
    assert.equal(machine.file(file), `${sandboxServer}\n`);
    assert.equal(run(renderVolumeLine("root", id)).code, 0);
    machine.put(file, "another\n");
    const { code, stderr } = run(renderVolumeLine("root", id));
    assert.equal(code, 1);
    assert.match(
      stderr,
      /\nreason: machine boots from the volume \S+, on which a former server an/,
    );
  });

  it("does nothing on a machine without volumes", () => {
    const done = run("");
    assert.equal(done.code, 0);
    assert.deepEqual([at(done, "blkid"), at(done, "readlink")], [-1, -1]);
    assert.ok(!done.calls.some((call) => call.startsWith("systemd-escape")));
  });
});
