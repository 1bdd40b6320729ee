import assert from "node:assert/strict";
import { isMounted, unmount } from "../../../host/mounts.js";
import { busyAtFirst, StubHost } from "../../../../../test/support/machine/stub-host.js";

describe("lab/host/mounts", () => {
  let host: StubHost;
  beforeEach(() => {
    host = new StubHost({ umount: busyAtFirst });
  });
  afterEach(() => {
    host.close();
  });

  it("retries while a mount is in use", async () => {
    assert.ok(await isMounted("/proc"), "a mount that every host has; umount is a stub here");
    await unmount("/proc");
    assert.deepEqual(host.calls(), Array(3).fill("umount /proc"));
  });

  it("ignores a directory that is not mounted", async () => {
    await unmount(host.root);
    assert.deepEqual(host.calls(), []);
  });
});
