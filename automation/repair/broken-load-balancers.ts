import {
  deletionTimeouts,
  TimedWait,
  type DeleteOptions,
} from "../../openstack/inventory/wait-until-unused.js";
import type { CloudClient } from "../../openstack/client/cloud-client.js";
import { readLoadBalancer, type CloudObject } from "../../openstack/inventory/inventory.js";
import { deleteObject } from "../../openstack/inventory/marked-objects.js";
import { getOwnership } from "../../openstack/inventory/ownership.js";
import { createApiDependencyPredicate } from "../pulumi/needs-cluster-api.js";
import { Failure } from "../../base/failures/failure.js";
import { hasPendingOperations } from "../pulumi/run-history.js";
import { omitResources } from "../pulumi/prune-state.js";
import { findResourcesInCloud } from "../guards/cloud-location.js";
import type { PlanRow } from "../pulumi/preview-rows.js";
import { getPlainTextInput } from "../pulumi/pending-operations.js";
import type { HeldLock } from "../engine/held-lock.js";
import type { StackOperation } from "../engine/operation-context.js";
import { editUnderLock } from "../steps/edit-state.js";
import type { PlannedChanges, OperationFacts, OperationStep } from "../steps/step.js";
import { readConnectedProviderUrns } from "../engine/kubernetes-providers.js";
import { requireAgreedClusters, type ProtectionFacts } from "../guards/destroy-protection.js";
import {
  findClusterIdentities,
  createStateChangedError,
  type StateExport,
  type StateResource,
} from "../pulumi/stack-state.js";
import { parseUrn, getShortType } from "../pulumi/urn.js";

/*
 * Deletes load balancers in ERROR and removes them from the state, before the engine runs. For such
 * a load balancer, Octavia accepts only the request that deletes it with all its parts. OpenStack's
 * provider changes single parts, so it cannot repair the load balancer. The provider also fails if
 * the load balancer does not exist. A refresh does not show these problems
 * (docs/decisions/0051-broken-load-balancers.md).
 */

const balancerType = "openstack:loadbalancer/loadBalancer:LoadBalancer";
/** Properties of a load balancer's part that contain the ID of the part's owner. */
const owners = ["loadbalancerId", "listenerId", "poolId", "l7policyId"] as const;

/** Returns the resources of the load balancers with these IDs, and of all their parts. Pure. */
export function findBalancersWithParts(
  { deployment }: Pick<StateExport, "deployment">,
  balancers: ReadonlySet<string>,
): ReadonlySet<StateResource> {
  const all = (deployment.resources ?? []).filter(({ type }) =>
    type.startsWith("openstack:loadbalancer/"),
  );
  const ids = new Set(balancers);
  const found = new Set(all.filter(({ type, id }) => type === balancerType && ids.has(id ?? "")));
  const isIn = ({ inputs, outputs }: StateResource): boolean =>
    owners.some((key) =>
      [inputs, outputs].some((properties) => ids.has(getPlainTextInput(properties?.[key]) ?? "")),
    );
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const one of all.filter((part) => part.type !== balancerType && isIn(part))) {
      found.add(one);
      if (one.id !== undefined) ids.add(one.id);
    }
  }
  return found;
}

/**
 * Condition of a load balancer. `failed`: in ERROR, and is deleted. `undeletable`: in ERROR, but
 * must not be deleted. `gone`: does not exist. `deleting`, `busy`: Octavia deletes or changes it.
 */
type BalancerCondition = "well" | "failed" | "undeletable" | "gone" | "deleting" | "busy";

export function getBalancerCondition(
  { protect, retainOnDelete }: Pick<StateResource, "protect" | "retainOnDelete">,
  found: CloudObject | undefined,
  identities: ReadonlySet<string>,
): BalancerCondition {
  if (!found) return "gone";
  if (found.status === "PENDING_DELETE") return "deleting";
  if (found.status.startsWith("PENDING_")) return "busy";
  if (found.status !== "ERROR") return "well";
  const isOurs = identities.has(getOwnership(found)?.mark.identity ?? "");
  return isOurs && protect !== true && retainOnDelete !== true ? "failed" : "undeletable";
}

interface BalancerInState {
  readonly id: string;
  /** Resource of the load balancer in the state. */
  readonly held: StateResource;
  /** Name of the load balancer, for messages. */
  readonly what: string;
  readonly condition: BalancerCondition;
  /** Load balancer in the cloud. Absent if it does not exist any more. */
  readonly found?: CloudObject | undefined;
}

/**
 * Returns the load balancers in the state that belong to the environment's cloud, each with its
 * condition in Octavia.
 *
 * @param within time limit in milliseconds for each answer of Octavia
 */
async function readBalancerConditions(
  run: StackOperation,
  state: StateExport | undefined,
  within?: number,
): Promise<BalancerInState[]> {
  // Skips a load balancer that is being replaced, because it is already deleted with its parts.
  const balancers = findResourcesInCloud(state).filter(
    ({ type, id, pendingReplacement }) =>
      type === balancerType && id !== undefined && pendingReplacement !== true,
  );
  if (balancers.length === 0) return [];
  const [cloud, identities] = [await run.cloud(), findClusterIdentities(state)];
  const seen = balancers.map(async (one): Promise<BalancerInState> => {
    const { id = "", outputs } = one;
    const found = await readLoadBalancer(cloud, id, within);
    const what = `load balancer '${found?.name ?? getPlainTextInput(outputs?.["name"]) ?? ""}' (${id})`;
    return { id, held: one, what, condition: getBalancerCondition(one, found, identities), found };
  });
  return Promise.all(seen);
}

/**
 * Returns the result of `readBalancerConditions`. Returns no load balancers if Octavia does not
 * answer, because later steps report the error.
 */
const tryReadBalancerConditions = (
  run: StackOperation,
  state: StateExport | undefined,
  within?: number,
): Promise<BalancerInState[]> => readBalancerConditions(run, state, within).catch(() => []);

const inError = "is in ERROR, and Octavia changes no load balancer in ERROR";

/** Returns the message for a load balancer that the user has to delete, with the command. */
function undeletableBalancerMessage({ id, what }: BalancerInState): {
  readonly sentence: string;
  readonly hint: string;
} {
  return {
    sentence: `The ${what} ${inError}. It is not deleted: it does not carry the cluster's identity, or the program keeps it (retainOnDelete).`,
    hint: `Delete it with \`openstack loadbalancer delete --cascade ${id}\`, then run the same command again.`,
  };
}

function warnOfUndeletableBalancers(run: StackOperation, seen: readonly BalancerInState[]): void {
  for (const one of seen.filter(({ condition }) => condition === "undeletable")) {
    const { sentence, hint } = undeletableBalancerMessage(one);
    run.warn(`${sentence} ${hint}`);
  }
}

/**
 * Throws if the engine would delete parts of a load balancer that is in ERROR and must not be
 * deleted. Without this check, the engine would fail after a quarter of an hour, with half of the
 * machines deleted.
 */
function refuseUndeletableBalancers(
  seen: readonly BalancerInState[],
  state: StateExport | undefined,
): void {
  const isStuck = ({ id, held }: BalancerInState): boolean =>
    state !== undefined &&
    held.retainOnDelete !== true &&
    [...findBalancersWithParts(state, new Set([id]))].some(
      (part) => part.type !== balancerType && part.retainOnDelete !== true,
    );
  const one = seen.find((balancer) => balancer.condition === "undeletable" && isStuck(balancer));
  if (!one) return;
  const { sentence, hint } = undeletableBalancerMessage(one);
  throw new Failure("LOAD_BALANCER_ERROR", sentence, hint);
}

const plans: Readonly<Partial<Record<BalancerCondition, string>>> = {
  failed: `${inError}: \`stackadm up\` deletes and recreates it.`,
  gone: "no longer exists: `stackadm up` recreates it.",
  deleting: "is being deleted: `stackadm up` recreates it.",
};

/** Reports broken load balancers, and returns a plan row for each one that `up` recreates. */
function planOfBrokenBalancers(run: StackOperation, seen: readonly BalancerInState[]): PlanRow[] {
  const rows = seen.map(({ held, what, condition }) => {
    const text = plans[condition];
    if (text === undefined) return [];
    run.warn(`The ${what} ${text}`);
    const { name, type } = parseUrn(held.urn);
    const operation = condition === "failed" ? "replace" : "create";
    return [{ operation, type: getShortType(type), name }];
  });
  return rows.flat();
}

/** Reports broken load balancers, and returns a plan row for each one that `up` recreates. */
export async function reportBrokenBalancers({
  run,
  state,
}: OperationFacts): Promise<readonly PlanRow[]> {
  const seen = await tryReadBalancerConditions(run, state);
  warnOfUndeletableBalancers(run, seen);
  return planOfBrokenBalancers(run, seen);
}

/**
 * Reports broken load balancers in a refresh, because the engine's refresh does not notice them.
 */
export const reportBrokenBalancersInRefresh: OperationStep<
  OperationFacts & { broken: readonly PlanRow[] }
> = {
  title: "Report broken load balancers",
  silent: true,
  apply: async (facts) => {
    facts.broken = await reportBrokenBalancers(facts);
  },
};

/** Waits until Octavia has finished its work on the load balancer. Throws after the time limit. */
export async function waitForOctavia(
  cloud: CloudClient,
  { id, what }: Pick<BalancerInState, "id" | "what">,
  options: DeleteOptions = {},
): Promise<void> {
  const wait = new TimedWait({ what, bound: deletionTimeouts.balancer }, options);
  for (;;) {
    options.signal?.throwIfAborted();
    const status = (await readLoadBalancer(cloud, id))?.status ?? "";
    if (!status.startsWith("PENDING_")) return;
    if (wait.isOver)
      throw new Failure(
        "LOAD_BALANCER_ERROR",
        `The ${what} is still in ${status}, and Octavia neither changes nor deletes a load balancer in this status.`,
        "Ask the cloud's operator to set it to ERROR, then run the same command again: it deletes the load balancer.",
      );
    await wait.pause(`its status is ${status}`);
  }
}

/** Command that deletes the broken load balancers. In an `up`, the engine then recreates them. */
type Purpose = "up" | "destroy";

const messages = {
  up: {
    failed: `${inError}: this run deletes it with everything in it and recreates it. Until then nothing answers at its address.`,
    gone: "no longer exists: this run recreates it with everything in it.",
  },
  destroy: {
    failed: `${inError}: this run deletes it with everything in it.`,
    gone: "no longer exists, nor does anything that was in it.",
  },
} as const satisfies Readonly<Record<Purpose, Readonly<Record<"failed" | "gone", string>>>>;

/**
 * Returns a sentence about the new address of a load balancer that `up` recreates. Returns "" if
 * the address is kept, and for a destroy. Pure.
 */
function addressAfter({ inputs, outputs }: StateResource, purpose: Purpose): string {
  const isKept = ["vipPortId", "vipAddress"].some(
    (key) => getPlainTextInput(inputs?.[key]) !== undefined,
  );
  if (isKept || purpose === "destroy") return "";
  const address = getPlainTextInput(outputs?.["vipAddress"]);
  const now = address === undefined ? "" : ` than ${address}`;
  return ` It has no separate port, so it may get another address${now}.`;
}

/** Returns options that report each wait to the user, and end the wait when the signal aborts. */
const patienceOf = (run: StackOperation, signal: AbortSignal | undefined): DeleteOptions => ({
  signal,
  onWait: (text) => {
    run.note(text);
  },
});

/**
 * Deletes load balancers in ERROR, and returns the state before and after. The caller holds the
 * stack's lock.
 */
async function clear(
  run: StackOperation,
  before: StateExport,
  purpose: Purpose,
  lock: HeldLock,
): Promise<StateExport> {
  // An import would delete the pending operations, which the next run has to repair.
  if (hasPendingOperations(before)) throw createStateChangedError();
  const seen = await readBalancerConditions(run, before);
  const broken = seen.flatMap(({ condition, ...one }) =>
    condition === "failed" || condition === "gone" ? [{ ...one, condition }] : [],
  );
  for (const { what, condition, held } of broken)
    run.note(`The ${what} ${messages[purpose][condition]}${addressAfter(held, purpose)}`);
  const [cloud, options] = [await lock.cloud(), patienceOf(run, lock.signal)];
  for (const { found } of broken) if (found) await deleteObject(cloud, found, options);
  const going = findBalancersWithParts(before, new Set(broken.map(({ id }) => id)));
  return omitResources(before, (one) => going.has(one)).state;
}

/**
 * Destroys the resources that need the clusters' APIs, while the load balancers still forward to
 * these APIs. Skips resources with `deletedWith`, which disappear together with their server. This
 * destroy does not delete the server, so the engine would delete these resources one by one.
 */
async function destroyApiResources(run: StackOperation, state: StateExport): Promise<void> {
  const isOfApi = createApiDependencyPredicate(
    new Set(await readConnectedProviderUrns(run.access)),
  );
  const target = (state.deployment.resources ?? [])
    .filter((one) => isOfApi(one) && one.deletedWith === undefined)
    .map(({ urn }) => urn);
  if (target.length > 0) await run.runEngine("destroy", { target });
}

/** Returns whether the step must wait until Octavia has finished its work on the load balancer. */
const isWaitedFor = ({ condition }: BalancerInState, purpose: Purpose): boolean =>
  condition === "deleting" || (condition === "busy" && purpose === "destroy");

const isBroken = ({ condition }: BalancerInState): boolean =>
  condition === "failed" || condition === "gone";

/**
 * Reports load balancers in ERROR that are not deleted. For a destroy, throws if one of them blocks
 * the destroy. Returns the load balancers if any is broken. Otherwise returns undefined.
 */
function refuseOrReport(
  { run, state }: OperationFacts,
  seen: readonly BalancerInState[],
  purpose: Purpose,
): readonly BalancerInState[] | undefined {
  if (purpose === "destroy") refuseUndeletableBalancers(seen, state);
  else warnOfUndeletableBalancers(run, seen);
  return seen.some(isBroken) ? seen : undefined;
}

async function waitAndReadConditions(
  { run, state }: OperationFacts,
  seen: readonly BalancerInState[],
  purpose: Purpose,
): Promise<readonly BalancerInState[]> {
  const [cloud, options] = [await run.cloud(), patienceOf(run, run.options.signal)];
  const waited = seen.filter((one) => isWaitedFor(one, purpose));
  await Promise.all(waited.map((one) => waitForOctavia(cloud, one, options)));
  return tryReadBalancerConditions(run, state);
}

/**
 * Deletes load balancers in ERROR under the stack's lock. Removes these load balancers, and missing
 * load balancers, from the state. First waits for load balancers that Octavia is deleting. A
 * destroy also waits for busy load balancers.
 *
 * @param requireAgreed guard that runs again under the lock. Default: none
 */
const deleteBroken = <F extends OperationFacts & { readonly octaviaPatience?: number | undefined }>(
  purpose: Purpose,
  requireAgreed?: (facts: F) => void,
): OperationStep<F, never, readonly BalancerInState[]> => ({
  title: "Delete broken load balancers",
  detect: async (facts) => {
    const seen = await tryReadBalancerConditions(facts.run, facts.state, facts.octaviaPatience);
    return seen.some((one) => isWaitedFor(one, purpose))
      ? seen
      : refuseOrReport(facts, seen, purpose);
  },
  apply: async (facts, found) => {
    const { run, state } = facts;
    let seen: readonly BalancerInState[] | undefined = found;
    if (found.some((one) => isWaitedFor(one, purpose)))
      seen = refuseOrReport(facts, await waitAndReadConditions(facts, found, purpose), purpose);
    if (!state || !seen) return;
    if (purpose === "destroy" && seen.some(({ condition }) => condition === "failed"))
      await destroyApiResources(run, state);
    const { after } = await editUnderLock(run, async (now, lock) => {
      requireAgreed?.({ ...facts, state: now });
      return now && clear(run, now, purpose, lock);
    });
    facts.state = after;
    facts.repaired = true;
  },
});

/** Milliseconds that an `up` waits for Octavia's answer about each load balancer. */
export const octaviaAnswerTimeout = 5_000;

export const recreateBrokenBalancers: OperationStep<
  OperationFacts & { readonly octaviaPatience?: number | undefined },
  PlannedChanges,
  readonly BalancerInState[]
> = {
  ...deleteBroken("up"),
  describe: ({ run }, seen) => {
    if (seen.some((one) => isWaitedFor(one, "up"))) warnOfUndeletableBalancers(run, seen);
    return { rows: planOfBrokenBalancers(run, seen) };
  },
};

export const deleteBrokenBalancers: OperationStep<
  ProtectionFacts,
  never,
  readonly BalancerInState[]
> = deleteBroken("destroy", requireAgreedClusters);
