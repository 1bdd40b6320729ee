import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { silentProgress } from "../../../../../base/progress.js";
import {
  listLabRemains,
  removeCloud,
  getRunningCloudRoot,
  startCloud,
} from "../../../cloud/start-and-remove-cloud.js";
import { getFrontFolders } from "../../../front/debian-mirror-proxy.js";
import { createSubvolume, openStore } from "../../../host/store.js";
import { readState } from "../../../state.js";
import { labStatus } from "../../../status.js";
import { startFakeLabCloud, type FakeLabCloud } from "../support/fake-lab-cloud.js";
import { hostStubs, StubHost } from "../../../../../test/support/machine/stub-host.js";
import { placeholderSecrets } from "../../../cloud/secrets.js";
import { computeGoldenCloudKey } from "../../../cloud/golden-cloud.js";
import { managementPorts } from "../../../cloud/configuration/common.js";
import { listOpenStackServices, getUnitName } from "../../../cloud/units.js";

describe("startCloud, removeCloud and labStatus", () => {
  let host: StubHost;
  let cloud: FakeLabCloud;
  const golden = () => ({
    key: computeGoldenCloudKey(host.settings, host.paths),
    root: join(host.paths.store, "golden-1"),
    secrets: { ...placeholderSecrets, admin: "admin-word" },
  });
  const start = (signal?: AbortSignal) =>
    startCloud({
      golden: golden(),
      settings: host.settings,
      paths: host.paths,
      drivers: join(host.root, "drivers"),
      progress: silentProgress,
      ...(signal && { signal }),
    });
  /** Returns a command that prints the state of each unit in the container. */
  const units = (state: (name: string) => string) =>
    `printf '${listOpenStackServices(host.settings).map(getUnitName).map(state).join("\\n")}\\n'`;

  beforeEach(async () => {
    host = new StubHost({ ...hostStubs });
    cloud = await startFakeLabCloud(host.settings);
    await openStore(host.paths);
    await createSubvolume(golden().root);
    host.put("drivers/labdriver/containers/console.py", "pass");
    host.put(
      "inside",
      units(() => "active"),
    );
    host.calls();
  });
  afterEach(async () => {
    await cloud.close();
    host.close();
  });

  it("boots a copy of the golden cloud and leaves the golden cloud unchanged", async () => {
    await start();
    const calls = host.calls();
    assert.ok(calls.some((call) => call.startsWith(`btrfs subvolume snapshot ${golden().root}`)));
    const started = calls.find((call) => call.includes(" run --detach ")) ?? "";
    assert.ok(started.endsWith(`--rootfs ${getRunningCloudRoot(host.paths)} /sbin/init`));
    const containers = join(getRunningCloudRoot(host.paths), "opt/lab/labdriver/containers");
    assert.equal(readFileSync(join(containers, "console.py"), "utf8"), "pass");
    assert.ok(started.includes(`--volume ${host.paths.site}:/srv/site:ro`));
    assert.ok(existsSync(host.paths.site), "podman mounts no folder that is not there");
    const { configuration, mirrored } = getFrontFolders(host.paths);
    assert.ok(started.includes(`--volume ${configuration}:/srv/front:ro`));
    assert.ok(started.includes(`--volume ${mirrored}:/var/cache/lab-front --rootfs`));
    assert.ok(existsSync(join(configuration, "mirrors.conf")) && existsSync(mirrored));
  });

  it("records the objects to delete before the container exists", async () => {
    host.stub(
      "podman",
      'case "$*" in *" run "*) echo "no runtime" >&2; exit 126 ;; *) exit 125 ;; esac',
    );
    await assert.rejects(start(), /no runtime/);
    const state = await readState(host.paths);
    assert.equal(state?.key, golden().key);
    assert.equal(state.settings.management.cidr, host.settings.management.cidr);
  });

  it("stops on a cancellation while the services start", async () => {
    await cloud.stop(managementPorts.compute);
    await assert.rejects(start(AbortSignal.timeout(700)), /abort|timeout/i);
  });

  it("reports the started lab as up, with all facts for its users", async () => {
    await start();
    const status = await labStatus();
    assert.deepEqual([status.state, status.problems, status.current], ["up", [], true]);
    assert.equal(status.key, golden().key);
    assert.equal(status.facts?.cloudsFile, host.paths.cloudsFile);
    assert.deepEqual(status.versions, {}, "a golden cloud whose package list is gone");
  });

  it("reports a lab with a failed service or a silent API as broken, and names both", async () => {
    await start();
    host.put(
      "inside",
      units((name) => (name.includes("glance") ? "failed" : "active")) + "; exit 3",
    );
    await cloud.stop(managementPorts.image);
    const status = await labStatus();
    assert.equal(status.state, "broken");
    assert.deepEqual(status.problems, [
      "os-glance.service is failed",
      "glance accepts no connection",
    ]);
  });

  it("reports a lab without its container as broken, as after a reboot", async () => {
    await start();
    host.put("container");
    host.stub("podman", "exit 125");
    const status = await labStatus();
    assert.deepEqual(status.problems, [`container ${host.settings.name} is not there`]);
  });

  it("removes everything except the store's file", async () => {
    await start();
    await removeCloud(host.settings, host.paths);
    assert.equal(host.read("container"), undefined);
    assert.ok(!existsSync(host.paths.kernelSettings));
    assert.ok(existsSync(host.paths.storeFile));
    const left = await listLabRemains(host.settings, host.paths);
    assert.deepEqual(left, [`folder ${host.paths.state}`]);
  });

  it("removes mounts in the store of another cache directory, and keeps that store's file", async () => {
    await start();
    const { store, storeFile } = host.paths;
    // removeCloud unmounts only real mount points. So /proc replaces the mounted store, and umount
    // is a stub.
    host.put("mounted", JSON.stringify({ store: "/proc", storeFile }));
    assert.ok((await listLabRemains(host.settings, host.paths)).includes("mount /proc"));
    host.calls();
    await removeCloud(host.settings, host.paths);
    assert.deepEqual([...new Set(host.called("umount"))].at(-1), "umount /proc");
    assert.ok(existsSync(storeFile));
    assert.equal(host.read("mounted"), undefined);
    assert.equal((await listLabRemains(host.settings, host.paths)).includes("mount /proc"), false);
    assert.ok(existsSync(store));
  });

  it("succeeds when called twice", async () => {
    await removeCloud(host.settings, host.paths);
    await removeCloud(host.settings, host.paths);
  });
});
