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
 * Cache of a successful `up`. If settings and objects in the state are the same as then, the cloud
 * check is skipped, which saves about two dozen requests, and IDs that names stood for are reused.
 * The cache is a file on this machine; without it, the cloud is asked again.
 */

const schema = z.object({ key: z.string(), found: z.custom<KnownFacts>().optional() });

const fileOf = ({ access }: Run): string => fittedPath(access.workspace);

/**
 * Returns what identifies this release. For a checkout this includes the stamp of its compiled
 * sources, because its version does not change with every edit.
 */
const releaseOf = (): string =>
  ["package.json", join("dist", ".stamp")]
    .map((name) => join(packageRoot(), name))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");

/**
 * Returns the IDs of the objects that are kept. Leaves out objects that are to be deleted or
 * replaced, because then there is work to do, and the engine's own provider, which is not always
 * there.
 */
function keptIds(state: StateExport): string[] {
  const stays = (state.deployment.resources ?? []).filter(
    ({ type, ...one }) =>
      one.delete !== true && one.pendingReplacement !== true && type !== ownProvider,
  );
  return [...ownedIds({ ...state, deployment: { ...state.deployment, resources: stays } })].sort();
}

/** Returns the cache key: a hash of release, settings and object IDs. */
function keyOf(spec: ClusterSpec, state: StateExport): string {
  const text = JSON.stringify([releaseOf(), spec, keptIds(state)]);
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Returns the cached entry; undefined if there is none, or one of an earlier release with less in
 * it.
 */
function readCache(run: Run): z.infer<typeof schema> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(fileOf(run), "utf8")));
  } catch {
    return undefined;
  }
}

/** Returns whether the cache may apply, before the state is known. */
export const mayHaveFitted = (run: Run): boolean =>
  run.options.refresh !== true && existsSync(fileOf(run));

/**
 * Returns whether the cache applies. It does not if the credential expires soon: the cloud check
 * warns about this every time.
 */
export function hasFitted(run: Run, spec: ClusterSpec, state: StateExport | undefined): boolean {
  const end = spec.credential?.expiresAt;
  return (
    state !== undefined &&
    mayHaveFitted(run) &&
    readCache(run)?.key === keyOf(spec, state) &&
    (end === undefined || endingOf(end) === undefined)
  );
}

/**
 * Lists the servers with the cluster's name while the state is being read. Undefined for a custom
 * program, which alone knows its servers, and if the request fails.
 */
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

/** Answers that a run has before anything else. */
interface Asked {
  readonly state: StateExport | undefined;
  /** Result of {@link beginServers}. */
  readonly asking: Promise<readonly ListedServer[] | undefined> | undefined;
}

/**
 * Returns the cached facts with the current servers. Undefined if the cloud has to be asked: there
 * is no cache, a custom program, another scope, or a server that is marked as failed. Also
 * undefined if the cluster uses networks or security groups that it did not create: these may
 * change without any change of the settings.
 */
export async function foundThen(
  run: Run,
  { name }: ClusterSpec,
  { state, asking }: Asked,
): Promise<KnownFacts | undefined> {
  const [found, listed] = [readCache(run)?.found, await asking];
  if (!found || !listed) return undefined;
  const servers = marksOn(listed, { cluster: name, held: heldBy(state) });
  if (Object.values(servers).some(({ failed }) => failed)) return undefined;
  const { scope, network, admin, securityGroupIds } = found.facts;
  if (network || admin || securityGroupIds) return undefined;
  if (!isDeepStrictEqual(scope, (await run.cloud()).scope)) return undefined;
  return { ...found, asBefore: true, facts: { ...found.facts, servers } };
}

/**
 * Stores the settings and objects of a successful run. If it cannot, the next run asks the cloud.
 */
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
    run.note(`The result of the check in the cloud cannot be saved: ${String(error)}`);
  }
}
