import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { replacePrivateFile } from "../../base/atomic-files.js";
import { packageRoot } from "../../base/paths.js";
import { expiryWarning } from "../../openstack/checks/cluster-credential-check.js";
import type { ClusterSpec } from "../../components/config/cluster-spec.js";
import type { KnownFacts } from "../../components/lookup/lookup-cache.js";
import {
  listServers,
  existingServersOf,
  type ListedServer,
} from "../../components/lookup/server-metadata.js";
import { preflightCachePath } from "../engine/kubeconfig-file.js";
import { ownProvider } from "../pulumi/urn.js";
import type { StackOperation } from "../engine/operation-context.js";
import { stackHoldings, ownedIds, type StateExport } from "../pulumi/stack-state.js";

/*
 * Cache of the last successful `up`, in a file on this machine. If the settings and the objects in
 * the state have not changed since this `up`, the next `up` skips the check of the cloud, which
 * saves about two dozen requests, and reuses the IDs that names stood for. Without the file, the
 * next `up` asks the cloud.
 */

const schema = z.object({ key: z.string(), found: z.custom<KnownFacts>().optional() });

const fileOf = ({ access }: StackOperation): string => preflightCachePath(access.workspace);

/**
 * Returns a text that identifies this release. In a checkout, the text includes the stamp of the
 * compiled sources, because the version does not change with every edit.
 */
const releaseOf = (): string =>
  ["package.json", join("dist", ".stamp")]
    .map((name) => join(packageRoot(), name))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");

/**
 * Returns the IDs of the objects in the state, sorted. Leaves out objects that the engine still has
 * to delete or replace, because the cache must not apply while there is work to do. Also leaves out
 * the engine's own provider, which is not always in the state.
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
 * Returns the content of the cache; undefined if there is none, or if the file does not have the
 * present format.
 */
function readCache(run: StackOperation): z.infer<typeof schema> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(fileOf(run), "utf8")));
  } catch {
    return undefined;
  }
}

/** Returns whether there is a cache and the run may use it. Does not need the state. */
export const mayUseCache = (run: StackOperation): boolean =>
  run.options.refresh !== true && existsSync(fileOf(run));

/**
 * Returns whether settings and objects are the same as in the cache. False if the credential
 * expires soon: the check of the cloud must then warn about the expiry each time.
 */
export function isCacheValid(
  run: StackOperation,
  spec: ClusterSpec,
  state: StateExport | undefined,
): boolean {
  const end = spec.credential?.expiresAt;
  return (
    state !== undefined &&
    mayUseCache(run) &&
    readCache(run)?.key === keyOf(spec, state) &&
    (end === undefined || expiryWarning(end) === undefined)
  );
}

/**
 * Lists the servers with the cluster's name, before the state is known. Returns undefined if the
 * request fails, and for a custom program: its servers are not known here.
 */
export const listServersEarly = async (
  run: StackOperation,
  { name }: ClusterSpec,
): Promise<readonly ListedServer[] | undefined> =>
  run.service.program === undefined
    ? run
        .cloud()
        .then((cloud) => listServers(cloud, name))
        .catch(() => undefined)
    : undefined;

/** Answers that a run gets before it decides whether to check the cloud. */
interface Asked {
  readonly state: StateExport | undefined;
  /** Result of {@link listServersEarly}. */
  readonly asking: Promise<readonly ListedServer[] | undefined> | undefined;
}

/**
 * Returns the cached facts with the present servers. Undefined if the cloud has to be asked: there
 * is no cache, the program is custom, the credential has another scope, or a server failed. Also
 * undefined if the cluster uses networks or security groups that it did not create: these objects
 * may change while the settings do not.
 */
export async function cachedFacts(
  run: StackOperation,
  { name }: ClusterSpec,
  { state, asking }: Asked,
): Promise<KnownFacts | undefined> {
  const [found, listed] = [readCache(run)?.found, await asking];
  if (!found || !listed) return undefined;
  const servers = existingServersOf(listed, { cluster: name, held: stackHoldings(state) });
  if (Object.values(servers).some(({ failed }) => failed)) return undefined;
  const { scope, network, admin, securityGroupIds } = found.facts;
  if (network || admin || securityGroupIds) return undefined;
  if (!isDeepStrictEqual(scope, (await run.cloud()).scope)) return undefined;
  return { ...found, asBefore: true, facts: { ...found.facts, servers } };
}

/**
 * Writes the cache after a successful run. If the cache cannot be written, the next run asks the
 * cloud.
 */
export function storePreflightCache(
  run: StackOperation,
  spec: ClusterSpec | undefined,
  state: StateExport | undefined,
): void {
  if (!spec || !state) return;
  try {
    const found = run.found?.facts.servers ? run.found : undefined;
    replacePrivateFile(fileOf(run), JSON.stringify({ key: keyOf(spec, state), found }));
  } catch (error) {
    run.note(`The result of the check in the cloud cannot be saved: ${String(error)}`);
  }
}
