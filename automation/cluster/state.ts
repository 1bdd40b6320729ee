import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { clusterNameKey, identityKey } from "../../cloud/ownership.js";
import { recognised } from "../../base/failure.js";
import { run } from "../../base/run.js";
import { backendVariable, withoutAttributes } from "../setup/backend.js";
import { ClusterError } from "./cluster-error.js";
import { dropEmptyAttributes, readCheckpoint } from "./checkpoint-files.js";
import { noteEngine } from "./engine-notes.js";
import { identityIn, idsIn, staysBy } from "./stays.js";
import type { Workspace } from "./workspace.js";

const resourceSchema = z.looseObject({
  urn: z.string(),
  type: z.string(),
  parent: z.string().optional(),
  custom: z.boolean().default(false),
  id: z.string().optional(),
  protect: z.boolean().optional(),
  /** The engine only forgets it where it would delete it. */
  retainOnDelete: z.boolean().optional(),
  /** Only read, as `Network.get` does: somebody else's. */
  external: z.boolean().optional(),
  provider: z.string().optional(),
  inputs: z.record(z.string(), z.unknown()).optional(),
  outputs: z.record(z.string(), z.unknown()).optional(),
  dependencies: z.array(z.string()).optional(),
  propertyDependencies: z.record(z.string(), z.array(z.string()).nullable()).optional(),
  deletedWith: z.string().optional(),
  replaceWith: z.array(z.string()).optional(),
  /** It was deleted, and nothing has taken its place yet. */
  pendingReplacement: z.boolean().optional(),
  /** It was replaced, and is still to be deleted. */
  delete: z.boolean().optional(),
  /** Why it is not whole, although it was made. */
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

/** What `pulumi stack export` prints: while the engine makes the stack, there is no deployment for a moment. */
export const exportSchema = z.looseObject({
  version: z.number(),
  deployment: deploymentSchema.nullable().transform((deployment) => deployment ?? {}),
});
export type StateExport = z.infer<typeof exportSchema>;

export interface StateAccess {
  readonly workspace: Workspace;
  readonly env: NodeJS.ProcessEnv;
}

interface CommandOptions {
  readonly accept?: readonly number[];
  readonly input?: string;
  /** Whether it takes the stack's lock: then it is noted which process that is. */
  readonly locks?: boolean;
}

/** The Pulumi CLI in the stack's private directory. */
export async function pulumi(
  { workspace, env }: StateAccess,
  args: readonly string[],
  { locks = false, ...options }: CommandOptions = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  let forget = (): void => undefined;
  const onStart = (pid: number): void => {
    if (locks) forget = noteEngine(workspace.directory, pid);
  };
  const { directory: cwd, stack } = workspace;
  const command = [...args, "--non-interactive", "--stack", stack];
  const running = { cwd, env: withoutAttributes(env), onStart, ...options };
  const ended = await run("pulumi", command, running).catch((error: unknown): never => {
    throw unreadable(String(error)) ?? error;
  });
  forget();
  return ended;
}

/** What the engine says when it has not the passphrase of the stack's secrets; undefined when it says something else. */
function unreadable(said: string): ClusterError | undefined {
  const [line = ""] = /\berror: .*/.exec(said) ?? [];
  const { code, words = "" } = recognised(line, "") ?? {};
  if (code !== "WRONG_PASSPHRASE") return undefined;
  return new ClusterError(
    code,
    `The secrets of the stack cannot be read: its passphrase is another one, or none is named (${words}).`,
  );
}

/** The stack's state with its secrets encrypted; undefined when there is no such stack. */
export async function readState(access: StateAccess): Promise<StateExport | undefined> {
  const { project, stack } = access.workspace;
  const place = { backend: access.env[backendVariable] ?? "", project, stack };
  const kept = exportSchema.safeParse(readCheckpoint(place));
  if (kept.success) return kept.data;
  const read = () =>
    pulumi(access, ["stack", "export"], { accept: [0, 1, 2, 3, 4, 5, 6, 7, 8, 255] });
  let { code, stdout, stderr } = await read();
  if (code !== 0 && /\bEOF\s*$/.test(stderr) && dropEmptyAttributes(place) > 0)
    ({ code, stdout, stderr } = await read());
  if (code === 0) return exportSchema.parse(JSON.parse(stdout));
  if (/no stack named/.test(stderr)) return undefined;
  throw (
    unreadable(stderr) ??
    new ClusterError(
      "FAILED",
      `The stack's state cannot be read: ${stderr.trim()}`,
      "Correct that and run the same command again; PULUMI_BACKEND_URL says where the state is.",
    )
  );
}

/** Writes a state back. Secrets in it are still encrypted; none touches the disk in clear. */
export async function writeState(access: StateAccess, state: StateExport): Promise<void> {
  await pulumi(access, ["stack", "import"], { input: JSON.stringify(state), locks: true });
}

/** Whoever worked on the stack in the meantime knows more of it. */
export const overtaken = (): ClusterError =>
  new ClusterError(
    "STACK_LOCKED",
    "Another operation worked on this stack meanwhile, so the state is left as it is.",
    "When that one is done, run the same command again: it does what is left then.",
  );

/**
 * Writes what the state is to be, given what it is by then; undefined leaves it. The engine locks a stack for that only while it writes:
 * what slips in before would have to begin and end in half a second.
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
    throw /currently locked/.test(String(error)) ? overtaken() : error;
  }
}

/** Writes what `change` makes of the state, if that is another. Answers the state after it. */
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

/** The ids of everything the stack made in the cloud, and not of what it only read there. */
export const ownedIds = (state: StateExport | undefined): Set<string> =>
  idsIn(state?.deployment.resources ?? []);

/** Whether there is no stack, or one without a resource (the stack itself, a component and a provider are none). */
export const holdsNothing = (state: StateExport | undefined): boolean =>
  !(state?.deployment.resources ?? []).some(
    ({ id, type }) => id !== undefined && !type.startsWith("pulumi:"),
  ) && (state?.deployment.pending_operations ?? []).length === 0;

/**
 * Identities of the clusters that the stack holds, also of one whose first `up` was stopped half-way: the identity is
 * made before anything that carries it. With the names of their components. None in the states of releases that made no
 * identities.
 */
export const componentsOf = (state: StateExport | undefined): Map<string, string> =>
  new Map(
    (state?.deployment.resources ?? []).flatMap((one) => {
      const identity = identityIn(one);
      return identity ? [identity] : [];
    }),
  );

export const identitiesOf = (state: StateExport | undefined): Set<string> =>
  new Set(componentsOf(state).keys());

/**
 * What is the stack's: the ids of what it made and of what outlives it, also where the state has forgotten that, and the identities that
 * its clusters' objects carry.
 */
export const heldBy = (state: StateExport | undefined) => ({
  owned: ownedIds(state),
  retained: staysBy(state),
  identities: identitiesOf(state),
  hasCredential: (state?.deployment.resources ?? []).some(
    ({ type, id }) =>
      type === "openstack:identity/applicationCredential:ApplicationCredential" && id !== undefined,
  ),
});

const marks = z.looseObject({ [identityKey]: z.string(), [clusterNameKey]: z.string() });

/** The names in the cloud of the clusters that the stack holds, as their servers carry them, else of their components. */
export function namesIn(state: StateExport | undefined, otherwise: string): string[] {
  const inCloud = new Map(
    (state?.deployment.resources ?? []).flatMap(({ inputs }): [string, string][] => {
      const { success, data } = marks.safeParse(inputs?.["metadata"]);
      return success ? [[data[identityKey], data[clusterNameKey]]] : [];
    }),
  );
  const names = [...componentsOf(state)].map(([id, component]) => inCloud.get(id) ?? component);
  return names.length > 0 ? [...new Set(names)] : [otherwise];
}

const outputsSchema = z.record(z.string(), z.unknown());

/** Secret outputs as they are, for use in this process only, or as "[secret]". */
export type Secrets = "in clear" | "hidden";

/** The stack's outputs. */
export async function readOutputs(
  access: StateAccess,
  secrets: Secrets = "in clear",
): Promise<Record<string, unknown>> {
  const clear = secrets === "in clear" ? ["--show-secrets"] : [];
  const { stdout } = await pulumi(access, ["stack", "output", "--json", ...clear]);
  return outputsSchema.parse(JSON.parse(stdout));
}

export interface StackOutput {
  readonly value: unknown;
  readonly secret: boolean;
}
export type StackOutputs = Readonly<Record<string, StackOutput>>;

/**
 * The stack's outputs, and which of them are secret, also in part: those are not in the state as they are.
 *
 * @param held the state, where it was read a moment ago. Default: it is read
 */
export async function readStackOutputs(
  access: StateAccess,
  held?: StateExport | Promise<StateExport | undefined>,
): Promise<StackOutputs> {
  const [clear, state] = await Promise.all([readOutputs(access), held ?? readState(access)]);
  const stack = state?.deployment.resources?.find(({ type }) => type === "pulumi:pulumi:Stack");
  return Object.fromEntries(
    Object.entries(clear).map(([name, value]) => [
      name,
      { value, secret: !isDeepStrictEqual(value, stack?.outputs?.[name]) },
    ]),
  );
}
