import assert from "node:assert/strict";
import {
  isIgnoredPowerStateRefused,
  isRefusedPowerState,
} from "../../../../components/lookup/power-states-refused-by-provider.js";

describe("power state of a server", () => {
  it("is refused if the provider does not accept the state as an input", () => {
    for (const state of ["active", "shutoff", "shelved_offloaded", "paused", "ACTIVE"])
      assert.equal(isRefusedPowerState(state), false, state);
    for (const state of ["error", "migrating", "shelved", "build"])
      assert.equal(isRefusedPowerState(state), true, state);
  });

  it("is not ignored if refused before or now, unless the server counts as stopped", () => {
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
