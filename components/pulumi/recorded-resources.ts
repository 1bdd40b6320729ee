import { z } from "zod";
import { isIdentity } from "../../openstack/inventory/ownership.js";
import type { StackOwnedObjects } from "../../openstack/checks/preflight-checks.js";
import { getCurrentRunKey, readOwnResources } from "./pulumi-internals.js";

const stateSchema = z.object({
  // Outputs of the resource. Absent with mocks of the engine, which have no state.
  outputs: z
    .record(
      z.string(),
      z.looseObject({ type: z.string(), outputs: z.record(z.string(), z.unknown()).default({}) }),
    )
    .optional(),
});

/** Resource in the stack's state. */
export interface RecordedResource {
  readonly name: string;
  readonly type: string;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** Returns the resource name at the end of a URN. */
export const parseResourceName = (urn: string): string => urn.split("::").at(-1) ?? "";

/**
 * State of each run, by the object that identifies the run. One process may run several programs.
 */
const states = new WeakMap<object, Promise<readonly RecordedResource[] | undefined>>();

/**
 * Returns the resources in the stack's state before this run. Returns undefined if the state cannot
 * be read. Reads the state once per run, because the engine decrypts the whole state each time.
 */
export function readStateBeforeRun(): Promise<readonly RecordedResource[] | undefined> {
  const run = getCurrentRunKey();
  if (!run) return Promise.resolve(undefined);
  const before = states.get(run);
  if (before) return before;
  const state = readState();
  states.set(run, state);
  // Tries again at the next call if the state could not be read.
  void state.then(
    (found) => found ?? states.delete(run),
    () => states.delete(run),
  );
  return state;
}

async function readState(): Promise<readonly RecordedResource[] | undefined> {
  const answer: unknown = await readOwnResources().catch(() => undefined);
  if (answer === undefined) return undefined;
  const { outputs } = stateSchema.parse(answer);
  return (
    outputs && Object.entries(outputs).map(([urn, of]) => ({ name: parseResourceName(urn), ...of }))
  );
}

/**
 * Returns the IDs of all resources in the state, and the identities of all clusters in the state.
 */
export const collectStackOwnedObjects = (
  state: readonly RecordedResource[],
): Pick<StackOwnedObjects, "owned" | "identities"> => ({
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
