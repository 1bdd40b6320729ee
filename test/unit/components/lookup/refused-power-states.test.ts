import assert from "node:assert/strict";
import {
  isIgnoredPowerStateRefused,
  isRefusedPowerState,
} from "../../../../components/lookup/refused-power-states.js";

describe("the power state of a server", () => {
  it("is refused where nobody can ask for it", () => {
    for (const state of ["active", "shutoff", "shelved_offloaded", "paused", "ACTIVE"])
      assert.equal(isRefusedPowerState(state), false, state);
    for (const state of ["error", "migrating", "shelved", "build"])
      assert.equal(isRefusedPowerState(state), true, state);
  });

  it("is not ignored where it is or would become refused, and nobody has the server as a stopped one", () => {
    for (const [recorded, now, expected] of [
      ["error", "ERROR", true],
      ["error", "ACTIVE", true],
      ["active", "MIGRATING", true],
      ["active", "ACTIVE", false],
      ["shutoff", "ERROR", false],
      ["error", "SHUTOFF", false],
      ["shelved", "SHELVED", false],
      ["shelved_offloaded", "ERROR", false],
      ["active", "", false],
    ] as const)
      assert.equal(isIgnoredPowerStateRefused(recorded, now), expected, `${recorded} ${now}`);
  });
});
