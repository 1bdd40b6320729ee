import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { silentProgress } from "../../../../../base/progress.js";
import { getRunningCloudRoot } from "../../../cloud/start-and-remove-cloud.js";
import { addMachineImages } from "../../../machines/add.js";
import { imageCommands, getMachineImage } from "../../../machines/build.js";
import { debianReleases } from "../../../machines/debian-releases.js";
import type { RunningLabRecord } from "../../../state.js";
import { StubHost } from "../../../../../test/support/machine/stub-host.js";

describe("addMachineImages", () => {
  let host: StubHost;
  let state: RunningLabRecord;
  beforeEach(() => {
    const commands = Object.keys(imageCommands).map((name) => [name, "true"] as const);
    host = new StubHost(Object.fromEntries(commands));
    state = {
      key: "0123456789ab",
      startedAt: "2026-01-02T03:04:05.000Z",
      settings: { ...host.settings, zones: [...host.settings.zones] },
    };
    for (const release of debianReleases)
      mkdirSync(getMachineImage(release, host.paths, []).folder, { recursive: true });
    mkdirSync(getRunningCloudRoot(host.paths), { recursive: true });
  });
  afterEach(() => {
    host.close();
  });
  const add = (running: RunningLabRecord | undefined = state) =>
    addMachineImages({
      paths: host.paths,
      root: getRunningCloudRoot(host.paths),
      trusted: [],
      state: running,
      progress: silentProgress,
    });
  const cloud = (missing: string, offer = "true") => {
    host.stub(
      "podman",
      `case "$*" in *" missing") echo "${missing}" ;; *" offer") (cd ${getRunningCloudRoot(host.paths)}/srv/lab/machines; echo * >"$root/copied"); ${offer} ;; esac`,
    );
  };
  const asked = () =>
    host.called("podman").flatMap((call) => / (missing|offer)$/.exec(call)?.[1] ?? []);

  it("uploads only images that Glance lacks, and leaves no copy in the cloud", async () => {
    cloud("debian-13-emulated");
    await add();
    assert.deepEqual(asked(), ["missing", "offer"]);
    assert.match(host.read("copied") ?? "", /^debian-13-emulated-[0-9a-f]{12}\n$/);
    assert.deepEqual(readdirSync(join(getRunningCloudRoot(host.paths), "srv/lab")), []);
  });

  it("does nothing if all images exist", async () => {
    cloud("");
    await add();
    assert.deepEqual(asked(), ["missing"]);
  });

  it("leaves no copy in the cloud if Glance refuses an image", async () => {
    cloud("debian-12-emulated", "exit 1");
    await assert.rejects(add());
    assert.deepEqual(readdirSync(join(getRunningCloudRoot(host.paths), "srv/lab")), []);
  });

  it("reports what to do without a lab, and with a lab without qemu", async () => {
    await assert.rejects(
      addMachineImages({
        paths: host.paths,
        root: getRunningCloudRoot(host.paths),
        trusted: [],
        state: undefined,
        progress: silentProgress,
      }),
      /The lab does not run/,
    );
    host.stub("podman", 'case "$*" in *"test -x"*) exit 1 ;; esac');
    await assert.rejects(add(), /has no qemu/);
  });
});
