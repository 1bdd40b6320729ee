/*
 * OpenStack's provider reads more power states than it takes, and what it has read becomes an input in the state, which the engine hands
 * back to it where changes of it are ignored.
 */

/** Those that it takes; a server that is paused is read by version 5 alone. */
const taken = new Set(["active", "shutoff", "shelved_offloaded", "paused"]);

/** Whether it refuses it as an input. Pure. */
export const isRefused = (state: string): boolean => !taken.has(state.toLowerCase());

/** Those in which it starts no server, although a server is to run that the program says nothing of. */
const left = new Set(["active", "error", "migrating"]);

/**
 * Whether a server has a power state that must not be ignored, since the provider would refuse it, and need not be: the provider leaves
 * the server alone all the same. Not so where anybody has it as a stopped one, which would be started. Pure.
 *
 * @param recorded as the state has it; @param now as Nova has it, to which a refresh would change that
 */
export const isBetterNotIgnored = (recorded: string, now: string): boolean => {
  const both = [recorded, now].map((state) => state.toLowerCase());
  return both.every((state) => left.has(state)) && both.some(isRefused);
};
