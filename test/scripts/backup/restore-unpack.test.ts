import { strict as assert } from "node:assert";
import { createHash } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { restoreScript } from "../../../automation/backup/machine-programs.js";
import { commands, guard, manifests, reasonIn } from "../../support/machine/restored-machine.js";
import { Sandbox } from "../../support/machine/sandbox.js";

describe("restore.sh on a recreated machine", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox(commands);
    machine.put("var/lib/cloud/data/instance-id", "0b1c");
    machine.put("etc/hosts", "127.0.0.1 localhost\n");
    machine.put(guard);
  });
  afterEach(() => {
    machine.close();
  });
  const does = (...words: string[]) => machine.feed("ARCHIVE", restoreScript, ...words);
  const well = (...words: string[]) => {
    const done = does(...words);
    assert.equal(done.code, 0, done.stderr);
    return done;
  };
  const has = (path: string): boolean => existsSync(join(machine.root, path));
  const look = (): Record<string, unknown> =>
    JSON.parse(well("look").stdout) as Record<string, unknown>;

  const digest = createHash("sha256").update("ARCHIVE").digest("hex");

  it("unpacks the archive with the new server's ID, without the manifests of etcd and API server", () => {
    well("unpack", digest);
    assert.match(machine.file("var/lib/kubelet/kubeadm-flags.env") ?? "", /openstack:\/\/\/0b1c/);
    assert.equal(machine.file("etc/kubernetes/pki/ca.key"), "KEY\n");
    assert.ok(has(`${manifests}/kube-scheduler.yaml`));
    const hosts = "127.0.0.1 localhost\n10.0.0.10 api.dev.internal # stackadm\n";
    assert.equal(machine.file("etc/hosts"), hosts);
    assert.ok(!has(`${manifests}/etcd.yaml`) && !has(`${manifests}/kube-apiserver.yaml`));
    assert.deepEqual(look(), {
      prepared: true,
      place: true,
      live: false,
      etcd: true,
      apiServer: true,
      majority: false,
      unpacked: digest,
      peers: [],
    });
    assert.ok(!has("var/lib/stackadm/restore-archive.tgz"));
    assert.ok(!has("var/lib/stackadm/restore-unpacked"));
  });

  it("replaces the API's line in /etc/hosts with the backup's, however cloud-init wrote the line", () => {
    machine.put("etc/hosts", "127.0.0.1\tlocalhost\n10.0.0.7\tapi.dev.internal# stackadm\n");
    well("unpack", digest);
    assert.equal(
      machine.file("etc/hosts"),
      "127.0.0.1\tlocalhost\n10.0.0.10 api.dev.internal # stackadm\n",
    );
  });

  it("reports an interrupted unpack as incomplete, and completes the unpack in the next run", () => {
    machine.put("full");
    assert.notEqual(does("unpack", digest).code, 0);
    assert.equal(look()["place"], false);
    rmSync(join(machine.root, "full"));
    well("unpack", digest);
    assert.equal(look()["place"], true);
  });

  it("refuses an archive that differs from the backup's", () => {
    assert.equal(
      reasonIn(does("unpack", digest.replace(/./, "x")).stderr),
      "the archive that dev-control-plane-0 received differs from the archive in the backup; run the same command again",
    );
    assert.equal(look()["place"], false);
  });

  it("deletes the files of a former archive, even if the unpack is interrupted", () => {
    well("unpack", digest);
    machine.put("etc/kubernetes/pki/of-the-other.key");
    machine.put(`${manifests}/etcd.yaml`, "STARTED");
    machine.put("full");
    assert.notEqual(does("unpack", digest).code, 0);
    const { place, live, unpacked } = look();
    assert.deepEqual({ place, live, unpacked }, { place: false, live: false, unpacked: "" });
    rmSync(join(machine.root, "full"));
    well("unpack", digest);
    assert.ok(!has("etc/kubernetes/pki/of-the-other.key") && !has(`${manifests}/etcd.yaml`));
    assert.equal(look()["place"], true);
  });

  it("reports the digest of the unpacked archive until settle or start-api", () => {
    for (const end of ["settle", "start-api"]) {
      well("unpack", digest);
      assert.equal(look()["unpacked"], digest);
      for (const name of ["known", "own"]) machine.put(name, "openstack:///0b1c");
      machine.put("taints");
      well(end);
      assert.equal(look()["unpacked"], "", end);
    }
  });
});
