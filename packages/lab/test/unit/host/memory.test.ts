import assert from "node:assert/strict";
import { parseMemoryCgroups, parseResidentMemory } from "../../../host/memory.js";

describe("memory of a cgroup", () => {
  it("is read from the group of version 1, above systemd's own scope", () => {
    const text = [
      "9:name=systemd:/init.scope",
      "4:memory:/stackadm-lab/libpod-0123/init.scope",
      "1:cpu:/stackadm-lab/libpod-0123",
      "",
    ].join("\n");
    assert.deepEqual(parseMemoryCgroups(text), ["/sys/fs/cgroup/memory/stackadm-lab/libpod-0123"]);
  });

  it("is read from one of several controllers of a hierarchy", () => {
    assert.deepEqual(parseMemoryCgroups("5:cpu,memory:/a"), ["/sys/fs/cgroup/memory/a"]);
  });

  it("is read from the group of version 2", () => {
    assert.deepEqual(parseMemoryCgroups("0::/machine.slice/libpod-0.scope/init.scope\n"), [
      "/sys/fs/cgroup/machine.slice/libpod-0.scope",
    ]);
  });

  it("counts resident memory, not the cache", () => {
    const one = "cache 8486912\nrss 7\ntotal_cache 540332032\ntotal_rss 4126253056\n";
    assert.equal(parseResidentMemory(one), 3935);
    assert.equal(parseResidentMemory("anon 1048576\nfile 999\n"), 1);
  });

  it("is undefined if the kernel does not report it", () => {
    assert.equal(parseResidentMemory(""), undefined);
    assert.equal(parseResidentMemory("total_rss_huge 5\n"), undefined);
  });
});
