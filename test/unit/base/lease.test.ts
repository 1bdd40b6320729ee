import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { Lease, readMachineTime } from "../../../base/lease.js";

describe("Lease", () => {
  const start = (
    length: number,
  ): { lease: Lease; ended: () => number; move: (by: number) => void } => {
    let [ends, moved] = [0, 0];
    const now = (): number => readMachineTime() + moved;
    const lease = new Lease(length, () => (ends += 1), now);
    return { lease, ended: () => ends, move: (by) => (moved += by) };
  };

  it("ends once, after its length", async () => {
    const { lease, ended } = start(200);
    lease.renew(readMachineTime());
    await pause(100);
    assert.equal(ended(), 0);
    await pause(300);
    assert.equal(ended(), 1);
  });

  it("does not end if it is renewed or stopped", async () => {
    const { lease, ended } = start(300);
    for (let times = 0; times < 5; times += 1) {
      lease.renew(readMachineTime());
      await pause(100);
    }
    lease.stop();
    await pause(400);
    assert.equal(ended(), 0);
  });

  it("ends if the time of the machine jumps over its end, for example in a suspension", async () => {
    const { lease, ended, move } = start(5_000);
    lease.renew(readMachineTime());
    move(6_000);
    await pause(200);
    assert.equal(ended(), 1);
  });
});
