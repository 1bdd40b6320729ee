/*
 * Power states of servers. OpenStack's provider can read more power states than it accepts as an
 * input. A power state that the provider has read becomes an input in the stack's state. With
 * `powerState` in `ignoreChanges`, the engine passes this input to the provider again.
 */

/**
 * Power states that the provider accepts as an input. `paused` occurs only with version 5 of the
 * plugin, which also accepts `paused`.
 */
const accepted = new Set(["active", "shutoff", "shelved_offloaded", "paused"]);

/** Returns whether the provider refuses the power state as an input. */
export const isRefusedPowerState = (state: string): boolean => !accepted.has(state.toLowerCase());

/**
 * Power states in which the provider does not start a server if the program sets no power state.
 */
const unstarted = new Set(["active", "error", "migrating"]);

/**
 * Returns whether a server must not have `powerState` in `ignoreChanges`. With `ignoreChanges`, the
 * engine passes the recorded power state to the provider, and the provider may refuse this state.
 * Returns false for a server that is stopped in the stack's state or in Nova. Without
 * `ignoreChanges`, the provider would start such a server.
 *
 * @param recorded power state in the stack's state
 * @param now power state in Nova, which a refresh would write to the state
 */
export const isIgnoredPowerStateRefused = (recorded: string, now: string): boolean => {
  const both = [recorded, now].map((state) => state.toLowerCase());
  return both.every((state) => unstarted.has(state)) && both.some(isRefusedPowerState);
};
