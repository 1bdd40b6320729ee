import { strict as assert } from "node:assert";
import { createHash } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { restoreScript } from "../../../automation/backup/machine-programs.js";
import { commands, guard, manifests, reasonIn } from "../../support/machine/restored-machine.js";
import { Sandbox } from "../../support/machine/sandbox.js";

describe("restore.sh on a machine that was created again", () => {
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

  it("gives a machine that was created again its place and its own ID; etcd and API server wait", () => {
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

  it("takes the API's name from the backup and leaves none of its own, however cloud-init wrote the line", () => {
    machine.put("etc/hosts", "127.0.0.1\tlocalhost\n10.0.0.7\tapi.dev.internal# stackadm\n");
    well("unpack", digest);
    assert.equal(
      machine.file("etc/hosts"),
      "127.0.0.1\tlocalhost\n10.0.0.10 api.dev.internal # stackadm\n",
    );
  });

  it("is done again where it was broken off: what tells the place comes last", () => {
    machine.put("full");
    assert.notEqual(does("unpack", digest).code, 0);
    assert.equal(look()["place"], false);
    rmSync(join(machine.root, "full"));
    well("unpack", digest);
    assert.equal(look()["place"], true);
  });

  it("takes nothing that is not what the backup has", () => {
    assert.equal(
      reasonIn(does("unpack", digest.replace(/./, "x")).stderr),
      "the archive that dev-control-plane-0 received differs from the archive in the backup; run the same command again",
    );
    assert.equal(look()["place"], false);
  });

  it("leaves nothing of what another archive brought, also where it is broken off then", () => {
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

  it("is known as a machine of that archive until the cluster is back", () => {
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
