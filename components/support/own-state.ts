import * as pulumi from "@pulumi/pulumi";
import { getMonitor } from "@pulumi/pulumi/runtime";
import { z } from "zod";
import { isIdentity } from "../../cloud/ownership.js";
import type { Held } from "../../cloud/preflight.js";

const stateSchema = z.object({
  outputs: z.record(
    z.string(),
    z.looseObject({ type: z.string(), outputs: z.record(z.string(), z.unknown()).default({}) }),
  ),
});

/** Resource in the stack's state. */
export interface Recorded {
  readonly name: string;
  readonly type: string;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** Returns the resource name at the end of a URN. */
export const nameIn = (urn: string): string => urn.split("::").at(-1) ?? "";

/** State of each run, by the connection to its engine: one process may run several programs. */
const states = new WeakMap<object, Promise<readonly Recorded[] | undefined>>();

/**
 * Returns the resources in the stack's state, as they were at the first call, before the program
 * changed anything. Returns undefined if the state cannot be read. The engine reads and decrypts
 * the whole state for this, so it is read once per run.
 */
export function ownState(): Promise<readonly Recorded[] | undefined> {
  const run = getMonitor();
  if (!run) return Promise.resolve(undefined);
  const before = states.get(run);
  if (before) return before;
  const state = readState();
  states.set(run, state);
  // A state that could not be read may be readable the next time.
  void state.then((found) => found ?? states.delete(run));
  return state;
}

async function readState(): Promise<readonly Recorded[] | undefined> {
  try {
    const stackName = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack()].join("/");
    // The engine resolves a StackReference with this function; here the stack refers to itself.
    const lookup = "pulumi:pulumi:readStackResourceOutputs";
    const { outputs } = stateSchema.parse(await pulumi.runtime.invoke(lookup, { stackName }));
    return Object.entries(outputs).map(([urn, of]) => ({ name: nameIn(urn), ...of }));
  } catch {
    return undefined;
  }
}

/**
 * Returns what belongs to the stack: the IDs in its state, and the identities that its clusters'
 * cloud objects carry.
 */
export const heldIn = (state: readonly Recorded[]): Pick<Held, "owned" | "identities"> => ({
  owned: new Set(
    state.flatMap(({ outputs: { id } }) => (typeof id === "string" && id !== "" ? [id] : [])),
  ),
  identities: new Set(
    state.flatMap(({ name, outputs: { stdout } }) =>
      name.endsWith("-identity") && typeof stdout === "string" && isIdentity(stdout)
        ? [stdout]
        : [],
    ),
  ),
});
