import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { writePrivate } from "../../base/files.js";
import { packageRoot } from "../../base/paths.js";
import { endingOf } from "../../cloud/cluster-credential.js";
import type { ClusterSpec } from "../../components/spec/cluster-spec.js";
import type { KnownFacts } from "../../components/support/known-facts.js";
import { listServers, marksOn, type ListedServer } from "../../components/support/server-marks.js";
import { fittedPath } from "./kubeconfig-file.js";
import { ownProvider } from "./urn.js";
import type { Run } from "./run.js";
import { heldBy, ownedIds, type StateExport } from "./state.js";

/*
 * A cluster that came up with these settings, and of which the state holds the same objects as then, needs nothing more of its cloud: two
 * dozen questions fewer for a run that has nothing to do, and what its names stand for is known. It is only remembered here; who does not
 * remember it asks.
 */

const schema = z.object({ key: z.string(), found: z.custom<KnownFacts>().optional() });

const fileOf = ({ access }: Run): string => fittedPath(access.workspace);

/** What this program is: of a checkout its compiled sources, too, for its version does not change with every line. */
const releaseOf = (): string =>
  ["package.json", join("dist", ".stamp")]
    .map((name) => join(packageRoot(), name))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");

/** What it has, and not what is on its way out: there is something to make then. Nor what the engine has for itself, now and then. */
function stayingIn(state: StateExport): string[] {
  const stays = (state.deployment.resources ?? []).filter(
    ({ type, ...one }) =>
      one.delete !== true && one.pendingReplacement !== true && type !== ownProvider,
  );
  return [...ownedIds({ ...state, deployment: { ...state.deployment, resources: stays } })].sort();
}

/** By which one knows it again. */
function keyOf(spec: ClusterSpec, state: StateExport): string {
  const text = JSON.stringify([releaseOf(), spec, stayingIn(state)]);
  return createHash("sha256").update(text).digest("hex");
}

/** Nothing where an earlier release remembered less. */
function remembered(run: Run): z.infer<typeof schema> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(fileOf(run), "utf8")));
  } catch {
    return undefined;
  }
}

/** Whether this may be such a run, before the state is known. */
export const mayHaveFitted = (run: Run): boolean =>
  run.options.refresh !== true && existsSync(fileOf(run));

/** Whether it is one. What time alone brings about is told every time. */
export function hasFitted(run: Run, spec: ClusterSpec, state: StateExport | undefined): boolean {
  const end = spec.credential?.expiresAt;
  return (
    state !== undefined &&
    mayHaveFitted(run) &&
    remembered(run)?.key === keyOf(spec, state) &&
    (end === undefined || endingOf(end) === undefined)
  );
}

/** The servers of the cluster's name, asked for while the state is read, which says whose they are; nothing where only the program knows its servers. */
export const beginServers = async (
  run: Run,
  { name }: ClusterSpec,
): Promise<readonly ListedServer[] | undefined> =>
  run.service.program === undefined
    ? run
        .cloud()
        .then((cloud) => listServers(cloud, name))
        .catch(() => undefined)
    : undefined;

/** What a run was answered before anything else. */
interface Asked {
  readonly state: StateExport | undefined;
  /** Of {@link beginServers}. */
  readonly asking: Promise<readonly ListedServer[] | undefined> | undefined;
}

/**
 * What the program would find: the same as then, with its servers as they are now. Nothing where somebody else asks, where the cloud is
 * reached otherwise, or where one of the servers is marked: the program judges that. Nothing either where something of somebody else's is
 * used, a network or a security group, which may be changed or created again without any setting of ours being another.
 */
export async function foundThen(
  run: Run,
  { name }: ClusterSpec,
  { state, asking }: Asked,
): Promise<KnownFacts | undefined> {
  const [found, listed] = [remembered(run)?.found, await asking];
  if (!found || !listed) return undefined;
  const servers = marksOn(listed, { cluster: name, held: heldBy(state) });
  if (Object.values(servers).some(({ failed }) => failed)) return undefined;
  const { scope, network, admin, securityGroupIds } = found.facts;
  if (network || admin || securityGroupIds) return undefined;
  if (!isDeepStrictEqual(scope, (await run.cloud()).scope)) return undefined;
  return { ...found, asBefore: true, facts: { ...found.facts, servers } };
}

/** Remembers what came up well. Whoever cannot asks again. */
export function rememberFitted(
  run: Run,
  spec: ClusterSpec | undefined,
  state: StateExport | undefined,
): void {
  if (!spec || !state) return;
  try {
    const found = run.found?.facts.servers ? run.found : undefined;
    writePrivate(fileOf(run), JSON.stringify({ key: keyOf(spec, state), found }));
  } catch (error) {
    run.note(`That this cluster fits into its cloud cannot be remembered: ${String(error)}`);
  }
}
