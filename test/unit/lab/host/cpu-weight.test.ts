import assert from "node:assert/strict";
import { cgroupFolders, cgroupParent, weightFiles } from "../../../../lab/host/cpu-weight.js";

describe("lab/host/cpu-weight", () => {
  it("has a parent group of its own where no systemd owns the tree", () => {
    assert.equal(cgroupParent("stackadm-lab", false), "stackadm-lab");
  });

  it("leaves the tree alone where systemd owns it", () => {
    assert.equal(cgroupParent("stackadm-lab", true), undefined);
  });

  it("counts in the units of both versions: 1024 and 100 are one program", () => {
    assert.deepEqual(weightFiles("lab", 1), [
      ["/sys/fs/cgroup/cpu/lab/cpu.shares", "1024"],
      ["/sys/fs/cgroup/lab/cpu.weight", "100"],
    ]);
    assert.deepEqual(
      weightFiles("lab", 8).map(([, value]) => value),
      ["8192", "800"],
    );
  });

  it("finds no group that does not exist", async () => {
    assert.deepEqual(await cgroupFolders("stackadm-no-such-group"), []);
  });
});
