import assert from "node:assert/strict";
import { listMissingRequirements, readHost, type HostFacts } from "../../../host/requirements.js";

const good: HostFacts = {
  platform: "linux",
  root: true,
  filesystems: "nodev\tproc\nnodev\toverlay\n\text4\n\tbtrfs\n",
  loopControl: true,
  cgroups: true,
  memory: 12_000,
  disk: 100,
};

describe("listMissingRequirements", () => {
  it("returns nothing on a sufficient host", () => {
    assert.deepEqual(listMissingRequirements(good), []);
  });

  const cases: [string, Partial<HostFacts>, RegExp][] = [
    ["another system", { platform: "darwin" }, /Linux \(this is darwin\)/],
    ["an ordinary user", { root: false }, /^root/],
    ["no btrfs", { filesystems: "nodev\toverlay\n\text4\n" }, /btrfs/],
    ["no overlayfs", { filesystems: "\tbtrfs\n\text4\n" }, /overlayfs/],
    ["no loop devices", { loopControl: false }, /loop/],
    ["no control groups", { cgroups: false }, /cgroup/],
    ["too little memory", { memory: 1000 }, /6144 MiB of available memory \(there are 1000\)/],
    ["too little disk", { disk: 3 }, /15 GiB of free disk \(there are 3\)/],
    ["no vxlan", { links: "Unknown device type" }, /Unknown device type/],
  ];
  for (const [name, change, sentence] of cases) {
    it(`reports ${name} in one sentence`, () => {
      const found = listMissingRequirements({ ...good, ...change });
      assert.equal(found.length, 1);
      assert.match(found[0] ?? "", sentence);
    });
  }

  it("reports all missing requirements at once", () => {
    assert.equal(
      listMissingRequirements({ ...good, root: false, loopControl: false, memory: 1 }).length,
      3,
    );
  });

  it("does not accept a file system with a similar name", () => {
    assert.equal(
      listMissingRequirements({ ...good, filesystems: "\tbtrfs-fuse\nnodev\toverlay\n" }).length,
      1,
    );
  });

  it("reads this host without changing it", async () => {
    const facts = await readHost({ cache: "/", namespaces: "/run/netns" });
    assert.equal(facts.platform, process.platform);
    assert.ok(facts.memory > 0);
    assert.ok(facts.disk > 0);
  });
});
