import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { FrozenValuesByPath } from "../../components/config/immutable-fields.js";
import { clusterNameKey, identityKey } from "../../openstack/inventory/ownership.js";
import { Failure, recogniseError } from "../../base/failures/failure.js";
import { run } from "../../base/run-command.js";
import { backendVariable, disableStateAttributes } from "./backend.js";
import { findIdentityAndComponent } from "./identity-notes.js";
import { recordEngine } from "./locks/lock-holders.js";
import { deleteEmptyAttributes, lockedStackPattern } from "./pulumi-internals.js";
import { findCreatedIds, findRetainedIds } from "./retained-objects.js";
import type { StackWorkspace } from "./workspace.js";

const resourceSchema = z.looseObject({
  urn: z.string(),
  type: z.string(),
  parent: z.string().optional(),
  custom: z.boolean().default(false),
  id: z.string().optional(),
  protect: z.boolean().optional(),
  /**
   * Whether the engine keeps the object when the resource is deleted. The engine then only removes
   * the resource from the state.
   */
  retainOnDelete: z.boolean().optional(),
  /**
   * Whether the resource was only read, for example by `Network.get`. The stack then does not own
   * the object.
   */
  external: z.boolean().optional(),
  provider: z.string().optional(),
  inputs: z.record(z.string(), z.unknown()).optional(),
  outputs: z.record(z.string(), z.unknown()).optional(),
  dependencies: z.array(z.string()).optional(),
  propertyDependencies: z.record(z.string(), z.array(z.string()).nullable()).optional(),
  deletedWith: z.string().optional(),
  replaceWith: z.array(z.string()).optional(),
  /** Whether the resource was deleted for a replacement that does not exist yet. */
  pendingReplacement: z.boolean().optional(),
  /** Whether the resource was replaced and must still be deleted. */
  delete: z.boolean().optional(),
  /** Errors in the creation of a resource that exists but is incomplete. */
  initErrors: z.array(z.string()).optional(),
  created: z.string().optional(),
  modified: z.string().optional(),
});
export type StateResource = z.infer<typeof resourceSchema>;

const pendingSchema = z.looseObject({ resource: resourceSchema, type: z.string() });
export type PendingOperation = z.infer<typeof pendingSchema>;

const deploymentSchema = z.looseObject({
  resources: z.array(resourceSchema).nullish(),
  pending_operations: z.array(pendingSchema).nullish(),
});

/**
 * Output of `pulumi stack export`. While the engine creates a stack, `deployment` is null for a
 * moment.
 */
export const stateExportSchema = z.looseObject({
  version: z.number(),
  deployment: deploymentSchema.nullable().transform((deployment) => deployment ?? {}),
});
export type StateExport = z.infer<typeof stateExportSchema>;

export interface StateAccess {
  readonly workspace: StackWorkspace;
  readonly env: NodeJS.ProcessEnv;
}

interface CommandOptions {
  readonly accept?: readonly number[];
  readonly input?: string;
  /** Time limit in milliseconds. Default: `commandMilliseconds`. */
  readonly timeout?: number;
  /**
   * Whether the command takes the stack's lock. If true, a note about the command's process is
   * written (see lock-holders.ts).
   */
  readonly locks?: boolean;
}

/**
 * Time limit in milliseconds for a command of the Pulumi CLI that reads or writes the state. A
 * backend whose connection hangs never answers.
 */
const commandMilliseconds = 600_000;

/** Runs the Pulumi CLI in the stack's private directory. */
export async function runPulumi(
  { workspace, env }: StateAccess,
  args: readonly string[],
  { locks = false, ...options }: CommandOptions = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  let forget = (): void => undefined;
  const onStart = (pid: number): void => {
    if (locks) forget = recordEngine(workspace.directory, pid);
  };
  const { directory: cwd, stack } = workspace;
  const command = [...args, "--non-interactive", "--stack", stack];
  const timeout = commandMilliseconds;
  const running = { cwd, env: disableStateAttributes(env), onStart, timeout, ...options };
  const ended = await run("pulumi", command, running).catch((error: unknown): never => {
    throw unreadable(String(error)) ?? error;
  });
  forget();
  return ended;
}

/**
 * Returns the error for a wrong or missing passphrase of the stack's secrets. Returns undefined for
 * other messages.
 */
function unreadable(message: string): Failure | undefined {
  const [line = ""] = /\berror: .*/.exec(message) ?? [];
  const { code, words = "" } = recogniseError(line, "") ?? {};
  if (code !== "WRONG_PASSPHRASE") return undefined;
  return new Failure(
    code,
    `The secrets of the stack cannot be read: the passphrase is wrong, or none is set (${words}).`,
  );
}

/**
 * Returns the stack's state with encrypted secrets. Returns undefined if the stack does not exist.
 *
 * @param timeout time limit in milliseconds. Default: `commandMilliseconds`
 */
export async function readState(
  access: StateAccess,
  timeout = commandMilliseconds,
): Promise<StateExport | undefined> {
  const { project, stack } = access.workspace;
  const stackLocation = { backend: access.env[backendVariable] ?? "", project, stack };
  const read = () =>
    runPulumi(access, ["stack", "export"], { accept: [0, 1, 2, 3, 4, 5, 6, 7, 8, 255], timeout });
  let { code, stdout, stderr } = await read();
  if (code !== 0 && /\bEOF\s*$/.test(stderr) && deleteEmptyAttributes(stackLocation) > 0)
    ({ code, stdout, stderr } = await read());
  if (code === 0) return stateExportSchema.parse(JSON.parse(stdout));
  if (/no stack named/.test(stderr)) return undefined;
  throw (
    unreadable(stderr) ??
    new Failure(
      "FAILED",
      `The stack's state cannot be read: ${stderr.trim()}`,
      "Correct the cause and run the same command again; PULUMI_BACKEND_URL names the backend with the state.",
    )
  );
}

/** Writes the state to the backend. The secrets in the state are encrypted. */
export async function writeState(access: StateAccess, state: StateExport): Promise<void> {
  await runPulumi(access, ["stack", "import"], { input: JSON.stringify(state), locks: true });
}

/** Returns the error about a state that another command has changed in the meantime. */
export const createStateChangedError = (): Failure =>
  new Failure(
    "STACK_LOCKED",
    "Another operation changed this stack meanwhile, so the state is left unchanged.",
    "When that operation has ended, run the same command again: it does the rest.",
  );

/**
 * Passes the present state to `change`, and writes the state that `change` returns. Writes nothing
 * if `change` returns undefined. The engine takes the lock only for the write. Another run could
 * change the state between the read and the write, but only if this run begins and ends within half
 * a second.
 */
export async function changeState(
  access: StateAccess,
  change: (now: StateExport | undefined) => StateExport | undefined,
): Promise<void> {
  const state = change(await readState(access));
  if (!state) return;
  try {
    await writeState(access, state);
  } catch (error) {
    throw lockedStackPattern.test(String(error)) ? createStateChangedError() : error;
  }
}

/**
 * Replaces each resource by the result of `change`, and returns the new state. Returns the same
 * object if no resource differs. Also returns the same object if operations are pending, because an
 * import would delete the pending operations.
 */
export function mapStateResources(
  state: StateExport,
  change: (one: StateResource) => StateResource,
): StateExport {
  const { resources, pending_operations: pending } = state.deployment;
  const changed = (resources ?? []).map(change);
  const isSame = changed.every((one, index) => one === resources?.[index]);
  if (isSame || (pending ?? []).length > 0) return state;
  return { ...state, deployment: { ...state.deployment, resources: changed } };
}

/**
 * Writes the state that `change` returns, unless `change` returns the same object. Returns the new
 * state.
 */
export async function rewriteState(
  access: StateAccess,
  found: StateExport | undefined,
  change: (state: StateExport) => StateExport,
): Promise<StateExport | undefined> {
  if (!found || change(found) === found) return found;
  let after: StateExport | undefined;
  await changeState(access, (now) => {
    after = now && change(now);
    return after === now ? undefined : after;
  });
  return after;
}

/**
 * Returns the IDs of all objects that the stack created in the cloud. Leaves out objects that the
 * program only read.
 */
export const findOwnedIds = (state: StateExport | undefined): Set<string> =>
  findCreatedIds(state?.deployment.resources ?? []);

/**
 * Returns whether the stack does not exist, or contains no resources and no pending operations. The
 * stack's own resource, components and providers do not count.
 */
export const isEmptyStack = (state: StateExport | undefined): boolean =>
  !(state?.deployment.resources ?? []).some(
    ({ id, type }) => id !== undefined && !type.startsWith("pulumi:"),
  ) && (state?.deployment.pending_operations ?? []).length === 0;

/**
 * Returns a map of the clusters in the state: identity to the name of the component `Cluster`. An
 * `up` creates the identity before all objects that contain it, so even the state of an interrupted
 * first `up` has the identity.
 */
export const findClusterComponents = (state: StateExport | undefined): Map<string, string> =>
  new Map(
    (state?.deployment.resources ?? []).flatMap((one) => {
      const identity = findIdentityAndComponent(one);
      return identity ? [identity] : [];
    }),
  );

/**
 * Returns the frozen values that the state records for the cluster with this name (see
 * components/lifecycle/immutable-values.ts). Undefined: the state has no such cluster.
 */
export function findRecordedValues(
  state: StateExport | undefined,
  cluster: string,
): FrozenValuesByPath | undefined {
  const recorded = (state?.deployment.resources ?? []).find(({ urn }) =>
    urn.endsWith(`::${cluster}-frozen`),
  );
  return recordedValuesSchema.safeParse(recorded?.outputs).data?.environment;
}

const recordedValuesSchema = z.looseObject({ environment: z.record(z.string(), z.string()) });

/** Returns the URNs of the resources that create the identities of the clusters. */
export const findIdentityUrns = (state: StateExport | undefined): string[] =>
  (state?.deployment.resources ?? []).flatMap((one) =>
    findIdentityAndComponent(one) ? [one.urn] : [],
  );

/**
 * Returns whether the state contains nothing that a cluster needs: only identities and the
 * resources on which they depend, components and providers, and no pending operation.
 */
export function hasOnlyIdentities({ deployment, ...rest }: StateExport): boolean {
  const all = deployment.resources ?? [];
  const kept = new Set(all.filter(findIdentityAndComponent).map(({ urn }) => urn));
  // A Set iterates over the elements that the loop adds, too.
  for (const urn of kept)
    for (const { dependencies = [] } of all.filter((one) => one.urn === urn))
      for (const dependency of dependencies) kept.add(dependency);
  const resources = all.filter(({ urn }) => !kept.has(urn));
  return isEmptyStack({ ...rest, deployment: { ...deployment, resources } });
}

export const findClusterIdentities = (state: StateExport | undefined): Set<string> =>
  new Set(findClusterComponents(state).keys());

/**
 * Returns what the stack owns: IDs of objects that the stack created, IDs of retained objects (even
 * if they are no longer in the state), and identities of the stack's clusters.
 */
export const findStackOwnership = (state: StateExport | undefined) => ({
  owned: findOwnedIds(state),
  retained: findRetainedIds(state),
  identities: findClusterIdentities(state),
  hasCredential: (state?.deployment.resources ?? []).some(
    ({ type, id }) =>
      type === "openstack:identity/applicationCredential:ApplicationCredential" && id !== undefined,
  ),
});

const marks = z.looseObject({ [identityKey]: z.string(), [clusterNameKey]: z.string() });

/**
 * Returns the names of the clusters in the state, from the metadata of their servers. If a cluster
 * has no servers, returns the name of its component. Returns `otherwise` if the state has no
 * cluster.
 */
export function findClusterNames(state: StateExport | undefined, otherwise: string): string[] {
  const inCloud = new Map(
    (state?.deployment.resources ?? []).flatMap(({ inputs }): [string, string][] => {
      const { success, data } = marks.safeParse(inputs?.["metadata"]);
      return success ? [[data[identityKey], data[clusterNameKey]]] : [];
    }),
  );
  const names = [...findClusterComponents(state)].map(
    ([id, component]) => inCloud.get(id) ?? component,
  );
  return names.length > 0 ? [...new Set(names)] : [otherwise];
}

const outputsSchema = z.record(z.string(), z.unknown());

/**
 * Form of secret outputs. "in clear" is plain text, for use in this process only. "hidden" is the
 * text "[secret]".
 */
export type SecretOutputForm = "in clear" | "hidden";

export async function readOutputs(
  access: StateAccess,
  secrets: SecretOutputForm = "in clear",
): Promise<Record<string, unknown>> {
  const clear = secrets === "in clear" ? ["--show-secrets"] : [];
  const { stdout } = await runPulumi(access, ["stack", "output", "--json", ...clear]);
  return outputsSchema.parse(JSON.parse(stdout));
}

export interface StackOutput {
  readonly value: unknown;
  readonly secret: boolean;
}
export type StackOutputs = Readonly<Record<string, StackOutput>>;

/**
 * Returns the stack's outputs, and whether each output is secret. An output is secret if its plain
 * value differs from the encrypted value in the state.
 *
 * @param knownState the state, if the caller has just read it. Default: this function reads the
 *   state
 */
export async function readStackOutputs(
  access: StateAccess,
  knownState?: StateExport | Promise<StateExport | undefined>,
): Promise<StackOutputs> {
  const [clear, state] = await Promise.all([readOutputs(access), knownState ?? readState(access)]);
  const stack = state?.deployment.resources?.find(({ type }) => type === "pulumi:pulumi:Stack");
  return Object.fromEntries(
    Object.entries(clear).map(([name, value]) => [
      name,
      { value, secret: !isDeepStrictEqual(value, stack?.outputs?.[name]) },
    ]),
  );
}
