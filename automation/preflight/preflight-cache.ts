import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { replacePrivateFile } from "../../base/atomic-files.js";
import { isMissingFile, isOtherFormat } from "../../base/failures/expected-errors.js";
import { packageRoot } from "../../base/paths.js";
import { expiryWarning } from "../../openstack/checks/cluster-credential-check.js";
import type { ClusterSpec } from "../../components/config/cluster-spec.js";
import type { KnownFacts } from "../../components/lookup/lookup-cache.js";
import {
  listServers,
  existingServersOf,
  type ListedServer,
} from "../../components/lookup/server-metadata.js";
import { preflightCachePath } from "../engine/cluster-files.js";
import { engineProviderType } from "../pulumi/urn.js";
import type { StackOperation } from "../engine/operation-context.js";
import { stackHoldings, ownedIds, type StateExport } from "../pulumi/stack-state.js";

/*
 * Cache of the last successful `up`, in a file on this computer. It is valid while the settings and
 * the objects in the state are unchanged. A valid cache saves about two dozen requests: the next
 * `up` does not check the cloud, and reuses the IDs that names stand for.
 */

const schema = z.object({ key: z.string(), found: z.custom<KnownFacts>().optional() });

const fileOf = ({ access }: StackOperation): string => preflightCachePath(access.workspace);

/**
 * Returns a text that identifies this release. In a checkout, the text includes the stamp of the
 * compiled sources, because an edit does not change the version.
 */
const releaseOf = (): string =>
  ["package.json", join("dist", ".stamp")]
    .map((name) => join(packageRoot(), name))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");

/**
 * Returns the sorted IDs of the objects in the state. Leaves out objects that the engine still has
 * to delete or replace. Their absence makes the cache invalid, so the cloud is checked before this
 * work. Also leaves out the engine's own provider, which is not always in the state.
 */
function keptIds(state: StateExport): string[] {
  const stays = (state.deployment.resources ?? []).filter(
    ({ type, ...one }) =>
      one.delete !== true && one.pendingReplacement !== true && type !== engineProviderType,
  );
  return [...ownedIds({ ...state, deployment: { ...state.deployment, resources: stays } })].sort();
}

/** Returns the cache key: a hash of release, settings and object IDs. */
function keyOf(spec: ClusterSpec, state: StateExport): string {
  const text = JSON.stringify([releaseOf(), spec, keptIds(state)]);
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Returns the content of the cache. Undefined if there is no cache, or if the file has another
 * format.
 */
function readCache(run: StackOperation): z.infer<typeof schema> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(fileOf(run), "utf8")));
  } catch (error) {
    if (isMissingFile(error) || isOtherFormat(error)) return undefined;
    throw error;
  }
}

/** Returns whether there is a cache that the run may use. Needs no state. */
export const mayUseCache = (run: StackOperation): boolean =>
  run.options.refresh !== true && existsSync(fileOf(run));

/**
 * Returns whether the cache was written with the same settings and objects. False if the credential
 * expires soon, because each `up` must then check the cloud and warn about the expiry.
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
 * Lists the servers with the cluster's name, while the state is being read. Returns undefined if
 * the request fails. Also returns undefined for a custom program, whose servers are not known here.
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

/** Answers that are known before the run decides whether to check the cloud. */
interface CachedFactsInput {
  readonly state: StateExport | undefined;
  /** Result of {@link listServersEarly}. */
  readonly asking: Promise<readonly ListedServer[] | undefined> | undefined;
}

/**
 * Returns the cached facts, with the present servers. Returns undefined if the cloud has to be
 * asked: there is no cache, the program is custom, the credential has another scope, or a server
 * failed. Also returns undefined if the cluster uses existing networks or security groups, because
 * these may change while the settings do not.
 */
export async function cachedFacts(
  run: StackOperation,
  { name }: ClusterSpec,
  { state, asking }: CachedFactsInput,
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
 * Writes the cache after a successful run. A failure is only reported. The next run then asks the
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
