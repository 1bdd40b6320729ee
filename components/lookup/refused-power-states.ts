/*
 * Power states of servers. OpenStack's provider can read more power states than it accepts as an
 * input. A power state that it has read becomes an input in the stack's state. If the program
 * ignores changes of this input, the engine passes the same input to the provider again.
 */

/**
 * Power states that the provider accepts as an input. `paused` occurs only with version 5 of the
 * plugin, which also accepts it.
 */
const accepted = new Set(["active", "shutoff", "shelved_offloaded", "paused"]);

/** Returns whether the provider refuses the power state as an input. */
export const isRefused = (state: string): boolean => !accepted.has(state.toLowerCase());

/**
 * Power states in which the provider does not start a server when the program sets no power state.
 */
const unstarted = new Set(["active", "error", "migrating"]);

/**
 * Returns whether the program must not ignore changes of a server's power state. Ignoring them
 * would pass the recorded power state to the provider, which would refuse it. Returns false if the
 * server is stopped in the stack's state or in Nova: the provider would start a stopped server if
 * the program did not ignore the change.
 *
 * @param recorded power state in the stack's state
 * @param now power state in Nova, which a refresh would write to the state
 */
export const isBetterNotIgnored = (recorded: string, now: string): boolean => {
  const both = [recorded, now].map((state) => state.toLowerCase());
  return both.every((state) => unstarted.has(state)) && both.some(isRefused);
};
