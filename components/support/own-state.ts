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

/** A resource that the stack's state holds. */
export interface Recorded {
  readonly name: string;
  readonly type: string;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** The name at the end of a URN. */
export const nameIn = (urn: string): string => urn.split("::").at(-1) ?? "";

/** Of each run, by the connection to its engine: one process may run several programs. */
const known = new WeakMap<object, Promise<readonly Recorded[] | undefined>>();

/**
 * What the stack's state holds, as it was when a program asked first, which is before it changed anything; undefined where it cannot
 * be asked. The engine reads and decrypts all of it for that, so it is asked once in a run.
 */
export function ownState(): Promise<readonly Recorded[] | undefined> {
  const run = getMonitor();
  if (!run) return Promise.resolve(undefined);
  const before = known.get(run);
  if (before) return before;
  const state = readState();
  known.set(run, state);
  // What could not be asked may be the next time.
  void state.then((found) => found ?? known.delete(run));
  return state;
}

async function readState(): Promise<readonly Recorded[] | undefined> {
  try {
    const stackName = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack()].join("/");
    // What the engine itself looks up for a StackReference; this one is its own stack.
    const lookup = "pulumi:pulumi:readStackResourceOutputs";
    const { outputs } = stateSchema.parse(await pulumi.runtime.invoke(lookup, { stackName }));
    return Object.entries(outputs).map(([urn, of]) => ({ name: nameIn(urn), ...of }));
  } catch {
    return undefined;
  }
}

/** What is the stack's of what the cloud has: the IDs that its state holds, and the identities that its clusters' objects carry. */
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
