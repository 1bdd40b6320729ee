import { isNotFound } from "../client/client.js";
import { getValueAt, getListAt, getMapAt, getTextAt } from "../objects/json.js";
import { findCondition, getName, getNamespace } from "../objects/object-fields.js";
import { createInfoMessage, createWarningMessage } from "./readiness.js";
import type { ReadinessCheck, ReadinessContext, ReadinessResult } from "./readiness.js";
import { isObject } from "../../plugin/values.js";
import type { Json, JsonObject } from "../../plugin/values.js";

const ready = (...texts: string[]): ReadinessResult => ({
  ready: true,
  messages: texts.map(createInfoMessage),
  problems: [],
});

const noPods =
  "Service does not target any Pods. Selected Pods may not be ready, or field '.spec.selector' may not match labels on any Pods";
const noAddress = "Service was not allocated an IP address; does your cloud provider support this?";

/**
 * Waits until a Service is ready. A Service of type LoadBalancer must have an address. If the
 * Service selects pods, all its endpoints must be ready and must not change for a while.
 */
export function createServiceReadiness(context: ReadinessContext): ReadinessCheck {
  let seen: Json | undefined = "never looked";
  let since = 0;
  return async (live) => {
    const addressed =
      getTextAt(live, "spec", "type") !== "LoadBalancer" ||
      getListAt(live, "status", "loadBalancer", "ingress").length > 0;
    if (!selectsPods(live)) {
      return addressed ? ready() : { ready: false, messages: [], problems: [noAddress] };
    }
    const endpoints = await endpointsOf(context, live);
    const version = getValueAt(endpoints, "metadata", "resourceVersion");
    if (version !== seen) [seen, since] = [version, Date.now()];
    const settled =
      context.settle === 0 || (endpoints !== undefined && Date.now() - since >= context.settle);
    return serviceVerdict({ addressed, settled, endpoints });
  };
}

const selectsPods = (service: JsonObject): boolean =>
  getTextAt(service, "spec", "type") !== "ExternalName" &&
  getTextAt(service, "spec", "clusterIP") !== "None" &&
  Object.keys(getMapAt(service, "spec", "selector")).length > 0;

function serviceVerdict(state: {
  addressed: boolean;
  settled: boolean;
  endpoints: JsonObject | undefined;
}): ReadinessResult {
  const { addressed, settled } = state;
  const subsets = getListAt(state.endpoints, "subsets").filter(isObject);
  const some = (name: string) => subsets.some((subset) => getListAt(subset, name).length > 0);
  if (addressed && settled && !some("notReadyAddresses")) {
    return ready("Service initialization complete");
  }
  const doing =
    settled && some("addresses")
      ? "[2/3] Attempting to allocate IP address to Service"
      : "[1/3] Finding Pods to direct traffic to";
  const problems = [...(some("addresses") ? [] : [noPods]), ...(addressed ? [] : [noAddress])];
  return { ready: false, messages: [createInfoMessage(doing)], problems };
}

async function endpointsOf(
  context: ReadinessContext,
  service: JsonObject,
): Promise<JsonObject | undefined> {
  const metadata = { name: getName(service), namespace: getNamespace(service) };
  try {
    return await context.cluster.get({ apiVersion: "v1", kind: "Endpoints", metadata });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * Waits until a PersistentVolumeClaim is bound. If the storage class waits for the first consumer,
 * a pending claim counts as ready, because the program may create the pod that uses the claim
 * later.
 */
export function createClaimReadiness(context: ReadinessContext): ReadinessCheck {
  return async (live) => {
    const phase = getTextAt(live, "status", "phase");
    if (phase === "Bound") return ready();
    const name = getTextAt(live, "spec", "storageClassName");
    const complaint = name ? undefined : `no storage class found for "${getName(live)}"`;
    const mode = name ? await bindingMode(context, name) : { problem: complaint };
    if (mode.mode === "WaitForFirstConsumer" && phase === "Pending") return ready();
    const problems = mode.problem === undefined ? [] : [mode.problem];
    return {
      ready: false,
      messages: problems.map(createWarningMessage),
      problems: [...problems, `PersistentVolumeClaim is ${phase || "new"}, not Bound`],
    };
  };
}

async function bindingMode(
  context: ReadinessContext,
  name: string,
): Promise<{ mode?: string; problem?: string }> {
  const kind = { apiVersion: "storage.k8s.io/v1", kind: "StorageClass", metadata: { name } };
  try {
    return { mode: getTextAt(await context.cluster.get(kind), "volumeBindingMode") };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problem: `getting storageclass "${name}": ${why}` };
  }
}

export const createVolumeReadiness = (): ReadinessCheck => (live) => {
  const phase = getTextAt(live, "status", "phase");
  return phase === "Available" || phase === "Bound"
    ? ready()
    : { ready: false, messages: [], problems: [`PersistentVolume is ${phase || "new"}`] };
};

/**
 * Waits until the API server serves the new kind in every version, so that objects of the kind can
 * be created at once.
 */
export function createCrdReadiness({ cluster }: ReadinessContext): ReadinessCheck {
  const waiting = (problem: string): ReadinessResult => ({
    ready: false,
    messages: [createInfoMessage(problem)],
    problems: [problem],
  });
  return async (live) => {
    const refused = findCondition(live, "NamesAccepted");
    if (refused?.status === "False") return waiting(`[${refused.reason}] ${refused.message}`);
    if (findCondition(live, "Established")?.status !== "True") {
      return waiting("CustomResourceDefinition is not established");
    }
    const [group, kind] = [
      getTextAt(live, "spec", "group"),
      getTextAt(live, "spec", "names", "kind"),
    ];
    for (const item of getListAt(live, "spec", "versions")) {
      const version = getTextAt(item, "name");
      const served = getValueAt(item, "served") === true;
      if (served && !(await cluster.discovery.exists({ group, version, kind }))) {
        return waiting(`The API server does not serve ${group}/${version} ${kind} yet`);
      }
    }
    return ready();
  };
}

export const createNamespaceReadiness = (): ReadinessCheck => (live) =>
  getTextAt(live, "status", "phase") === "Active"
    ? ready()
    : {
        ready: false,
        messages: [createInfoMessage("Namespace is not active")],
        problems: ["Namespace is not active"],
      };

/** Waits until a controller has set the address of an Ingress. */
export const createIngressReadiness = (): ReadinessCheck => (live) => {
  const problem =
    "Ingress was not allocated an IP address; does the cluster have an ingress controller?";
  return getListAt(live, "status", "loadBalancer", "ingress").length > 0
    ? ready("Ingress initialization complete")
    : {
        ready: false,
        messages: [createInfoMessage("Waiting for an address")],
        problems: [problem],
      };
};
