import { strict as assert } from "node:assert";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { restoreScript } from "../../automation/backup/machines.js";
import { commands, manifests } from "../support/restored-machine.js";
import { Sandbox } from "../support/sandbox.js";

describe("restore.sh on a machine that was made anew", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox(commands);
    machine.put("var/lib/cloud/data/instance-id", "0b1c");
    machine.put("etc/hosts", "127.0.0.1 localhost\n");
  });
  afterEach(() => {
    machine.close();
  });
  const does = (...words: string[]) => machine.feed("SNAPSHOT", restoreScript, ...words);
  const well = (...words: string[]) => {
    const done = does(...words);
    assert.equal(done.code, 0, done.stderr);
    return done;
  };
  const has = (path: string): boolean => existsSync(join(machine.root, path));
  const look = (): Record<string, unknown> =>
    JSON.parse(well("look").stdout) as Record<string, unknown>;

  it("gives a machine that was made anew its place and its own ID; etcd and API server wait", () => {
    well("unpack");
    assert.match(machine.file("var/lib/kubelet/kubeadm-flags.env") ?? "", /openstack:\/\/\/0b1c/);
    assert.equal(machine.file("etc/kubernetes/pki/ca.key"), "KEY\n");
    assert.ok(has(`${manifests}/kube-scheduler.yaml`));
    const hosts = "127.0.0.1 localhost\n10.0.0.10 api.dev.internal # stackadm\n";
    assert.equal(machine.file("etc/hosts"), hosts);
    assert.ok(!has(`${manifests}/etcd.yaml`) && !has(`${manifests}/kube-apiserver.yaml`));
    const { place, live, etcd, apiServer } = look() as Record<string, unknown>;
    assert.deepEqual(
      { place, live, etcd, apiServer },
      {
        ...{ place: true, live: false, etcd: true, apiServer: true },
      },
    );
    assert.ok(!has("var/lib/stackadm/restore-archive.tgz"));
    assert.ok(!has("var/lib/stackadm/restore-unpacked"));
  });

  it("is done again where it was broken off: what tells the place comes last", () => {
    machine.put("full");
    assert.notEqual(does("unpack").code, 0);
    assert.equal((look() as Record<string, unknown>)["place"], false);
    rmSync(join(machine.root, "full"));
    well("unpack");
    assert.equal((look() as Record<string, unknown>)["place"], true);
  });
});
