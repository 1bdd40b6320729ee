/*
 * Power states of servers. OpenStack's provider reads more power states than it accepts. A state
 * that it has read becomes an input in the stack's state, and the engine passes that input to the
 * provider again if changes of it are ignored.
 */

/**
 * Power states that the provider accepts as an input. Only version 5 of the plugin reads and accepts
 * `paused`.
 */
const accepted = new Set(["active", "shutoff", "shelved_offloaded", "paused"]);

/** Returns whether the provider refuses the power state as an input. */
export const isRefused = (state: string): boolean => !accepted.has(state.toLowerCase());

/**
 * Power states in which the provider does not start a server whose power state the program leaves
 * unset.
 */
const unstarted = new Set(["active", "error", "migrating"]);

/**
 * Returns whether changes of a server's power state should not be ignored: the provider would
 * refuse the kept value, and without a value leaves the server alone. False for a server that the
 * state or Nova has as stopped, because the provider would start it.
 *
 * @param recorded power state in the stack's state
 * @param now power state in Nova, which a refresh would write to the state
 */
export const isBetterNotIgnored = (recorded: string, now: string): boolean => {
  const both = [recorded, now].map((state) => state.toLowerCase());
  return both.every((state) => unstarted.has(state)) && both.some(isRefused);
};
