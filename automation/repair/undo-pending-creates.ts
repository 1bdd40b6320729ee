import { z } from "zod";
import { deleteLoadBalancerParts } from "../../openstack/inventory/load-balancer-parts.js";
import type { CloudClient } from "../../openstack/client/cloud-client.js";
import { wasAlreadyGone, type DeleteOptions } from "../../openstack/inventory/wait-until-unused.js";
import { addUtcZone, listObjects } from "../../openstack/inventory/inventory.js";
import { deleteObject } from "../../openstack/inventory/marked-objects.js";
import {
  listRouterInterfacePorts,
  removeRouterInterface,
} from "../../openstack/inventory/router-interfaces.js";
import { readUnrecordedRunPeriods, type RunPeriod } from "../pulumi/run-history.js";
import {
  attributeNamedObject,
  attributeUnmarkedObject,
  type AttributionEvidence,
  type Attribution,
} from "./object-attribution.js";
import {
  mayBeCreatedBy,
  getUndoSteps,
  getPlainTextInput,
  describeUrn,
  type UndoStep,
} from "../pulumi/pending-operations.js";
import { findStackOwnership, type StateAccess, type StateExport } from "../pulumi/stack-state.js";
import { skipFinishedLeaveScripts, markScriptsForRerun } from "../engine/interrupted-scripts.js";

/*
 * Undoes the pending operations of a killed engine. It is unknown whether a pending create has
 * created its object in the cloud. If the object exists, the next `up` would create a second
 * object. So the repair searches for each object, and deletes it if it certainly belongs to the
 * stack.
 */

export interface UndoTools {
  readonly cloud: CloudClient;
  readonly note: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** Returns the options for the wait for a deletion. */
const waiting = ({ signal, note: onWait }: UndoTools): DeleteOptions => ({ signal, onWait });

type Step<Act extends UndoStep["act"]> = Extract<UndoStep, { act: Act }>;

/**
 * Returns whether to delete the object. If its owner is unproven, reports that the object is kept.
 */
function isToDelete(what: string, verdict: Attribution, { note }: UndoTools): boolean {
  if (verdict.is === "unproven")
    note(
      `The ${what} may come from an interrupted run, but ${verdict.because}: it is kept. If nothing uses it, delete it by hand.`,
    );
  return verdict.is === "left behind";
}

async function deleteObjects(
  { kind, resource }: Step<"delete object">,
  known: AttributionEvidence,
  tools: UndoTools,
): Promise<void> {
  const objects = await listObjects(tools.cloud, kind);
  for (const object of objects.filter((one) => mayBeCreatedBy(one, resource))) {
    if (
      !isToDelete(
        `${kind} '${object.name}' (${object.id})`,
        attributeNamedObject(object, known),
        tools,
      )
    )
      continue;
    tools.note(`Deleting the ${kind} '${object.name}' that an interrupted run left.`);
    await deleteObject(tools.cloud, object, waiting(tools));
  }
}

async function deletePart(
  { part: kind, of, resource }: Step<"delete part">,
  known: AttributionEvidence,
  tools: UndoTools,
): Promise<void> {
  const { cloud, note } = tools;
  const [name, owner] = [
    getPlainTextInput(resource.inputs?.["name"]),
    getPlainTextInput(resource.inputs?.[of]),
  ];
  if (name === undefined || owner === undefined) return;
  const isMeant = ({ id, created }: { id: string; created: string }): boolean =>
    !known.owned.has(id) &&
    isToDelete(
      `${kind} '${name}' (${id})`,
      attributeUnmarkedObject({ parents: [owner], created }, known),
      tools,
    );
  const deleted = await deleteLoadBalancerParts(
    cloud,
    { kind, name, of: owner },
    isMeant,
    waiting(tools),
  );
  if (deleted.length > 0) note(`Deleted the ${kind} '${name}' that an interrupted run left.`);
}

async function detachRouter(
  { resource }: Step<"detach router">,
  known: AttributionEvidence,
  tools: UndoTools,
): Promise<void> {
  const { cloud, note } = tools;
  const router = getPlainTextInput(resource.inputs?.["routerId"]);
  const subnet = getPlainTextInput(resource.inputs?.["subnetId"]);
  if (router === undefined || subnet === undefined) return;
  for (const { id, created } of await listRouterInterfacePorts(cloud, router, subnet)) {
    if (known.owned.has(id)) continue;
    const verdict = attributeUnmarkedObject({ parents: [router, subnet], created }, known);
    if (!isToDelete(`router interface ${id}`, verdict, tools)) continue;
    note("Detaching a router interface that an interrupted run left.");
    await removeRouterInterface(cloud, { router, port: id }, waiting(tools));
  }
}

const rulesSchema = z.object({
  security_group_rules: z.array(
    z.looseObject({
      id: z.string(),
      description: z.string().nullish(),
      ethertype: z.string(),
      direction: z.string(),
      created_at: z.string().nullish(),
    }),
  ),
});

async function deleteRule(
  { resource: { inputs } }: Step<"delete rule">,
  known: AttributionEvidence,
  tools: UndoTools,
): Promise<void> {
  const group = getPlainTextInput(inputs?.["securityGroupId"]);
  if (group === undefined) return;
  const { security_group_rules: rules } = rulesSchema.parse(
    await tools.cloud.request("network", "GET", `/security-group-rules?security_group_id=${group}`),
  );
  const alike = rules.filter(
    ({ id, description, ethertype, direction }) =>
      description === getPlainTextInput(inputs?.["description"]) &&
      ethertype === getPlainTextInput(inputs?.["ethertype"]) &&
      direction === getPlainTextInput(inputs?.["direction"]) &&
      !known.owned.has(id),
  );
  for (const { id, created_at: created } of alike) {
    const verdict = attributeUnmarkedObject(
      { parents: [group], created: addUtcZone(created ?? "") },
      known,
    );
    if (!isToDelete(`security group rule ${id}`, verdict, tools)) continue;
    tools.note("Deleting a security group rule that an interrupted run left.");
    await wasAlreadyGone(tools.cloud.request("network", "DELETE", `/security-group-rules/${id}`));
  }
}

async function perform(
  step: UndoStep,
  known: AttributionEvidence,
  tools: UndoTools,
): Promise<void> {
  switch (step.act) {
    case "forget":
      return;
    case "delete object":
      return deleteObjects(step, known, tools);
    case "delete part":
      return deletePart(step, known, tools);
    case "detach router":
      return detachRouter(step, known, tools);
    case "delete rule":
      return deleteRule(step, known, tools);
  }
}

export interface UndoResult {
  /** Descriptions of the operations that were undone, or that need no undo. */
  readonly cleared: readonly string[];
  /** State without the pending operations. */
  readonly state: StateExport;
}

/** Returns whether the state has anything to repair. */
export const hasInterruptedRun = (state: StateExport): boolean =>
  (state.deployment.pending_operations ?? []).length + skipFinishedLeaveScripts(state).left.length >
  0;

/** Returns whether the repair needs requests to the cloud. */
export const needsCloudForUndo = ({ deployment }: StateExport): boolean =>
  getUndoSteps(deployment.pending_operations ?? []).some(({ act }) => act !== "forget");

/**
 * Deletes objects that the pending operations of an interrupted run may have created. The caller
 * holds the stack's lock. Does not touch objects in the state. The stored state keeps the pending
 * operations until the caller writes the new state.
 *
 * @param during period of these operations, if it is known. Default: derived from the state and the
 * engine's history
 */
export async function undoPendingCreates(
  access: StateAccess,
  before: StateExport,
  connect: () => Promise<UndoTools>,
  during?: RunPeriod,
): Promise<UndoResult> {
  const pending = before.deployment.pending_operations ?? [];
  const { state, left } = skipFinishedLeaveScripts(before);
  const steps = getUndoSteps(pending);
  if (needsCloudForUndo(before)) {
    const tools = await connect();
    const unsettled = during ? [during] : await readUnrecordedRunPeriods(access, state);
    const known = { ...findStackOwnership(state), unsettled };
    for (const step of steps) {
      tools.signal?.throwIfAborted();
      await perform(step, known, tools);
    }
  }
  const updating = pending.filter(({ type }) => type === "updating");
  const { deployment, ...rest } = markScriptsForRerun(
    state,
    new Set(updating.map(({ resource }) => resource.urn)),
  );
  return {
    cleared: [...steps.map(({ what }) => what), ...left.map(describeUrn)],
    state: { ...rest, deployment: { ...deployment, pending_operations: [] } },
  };
}
