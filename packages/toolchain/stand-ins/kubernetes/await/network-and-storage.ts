import { isNotFound } from "../client/client.js";
import { at, listAt, mapAt, textAt } from "../objects/json.js";
import { conditionOf, nameOf, namespaceOf } from "../objects/object-fields.js";
import { info, warning } from "./readiness.js";
import type { ReadinessCheck, ReadinessContext, Verdict } from "./readiness.js";
import { isObject } from "../../plugin/values.js";
import type { Json, JsonObject } from "../../plugin/values.js";

const ready = (...texts: string[]): Verdict => ({
  ready: true,
  messages: texts.map(info),
  problems: [],
});

const noPods =
  "Service does not target any Pods. Selected Pods may not be ready, or field '.spec.selector' may not match labels on any Pods";
const noAddress = "Service was not allocated an IP address; does your cloud provider support this?";

/**
 * Waits for an address (type LoadBalancer), and until the endpoints have not changed for a while
 * and are all ready.
 */
export function serviceReadiness(context: ReadinessContext): ReadinessCheck {
  let seen: Json | undefined = "never looked";
  let since = 0;
  return async (live) => {
    const addressed =
      textAt(live, "spec", "type") !== "LoadBalancer" ||
      listAt(live, "status", "loadBalancer", "ingress").length > 0;
    if (!selectsPods(live)) {
      return addressed ? ready() : { ready: false, messages: [], problems: [noAddress] };
    }
    const endpoints = await endpointsOf(context, live);
    const version = at(endpoints, "metadata", "resourceVersion");
    if (version !== seen) [seen, since] = [version, Date.now()];
    const settled =
      context.settle === 0 || (endpoints !== undefined && Date.now() - since >= context.settle);
    return serviceVerdict({ addressed, settled, endpoints });
  };
}

const selectsPods = (service: JsonObject): boolean =>
  textAt(service, "spec", "type") !== "ExternalName" &&
  textAt(service, "spec", "clusterIP") !== "None" &&
  Object.keys(mapAt(service, "spec", "selector")).length > 0;

function serviceVerdict(state: {
  addressed: boolean;
  settled: boolean;
  endpoints: JsonObject | undefined;
}): Verdict {
  const { addressed, settled } = state;
  const subsets = listAt(state.endpoints, "subsets").filter(isObject);
  const some = (name: string) => subsets.some((subset) => listAt(subset, name).length > 0);
  if (addressed && settled && !some("notReadyAddresses")) {
    return ready("Service initialization complete");
  }
  const doing =
    settled && some("addresses")
      ? "[2/3] Attempting to allocate IP address to Service"
      : "[1/3] Finding Pods to direct traffic to";
  const problems = [...(some("addresses") ? [] : [noPods]), ...(addressed ? [] : [noAddress])];
  return { ready: false, messages: [info(doing)], problems };
}

async function endpointsOf(
  context: ReadinessContext,
  service: JsonObject,
): Promise<JsonObject | undefined> {
  const metadata = { name: nameOf(service), namespace: namespaceOf(service) };
  try {
    return await context.cluster.get({ apiVersion: "v1", kind: "Endpoints", metadata });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * Waits until the claim is bound. If the storage class waits for the first consumer, a pending
 * claim counts as ready, because the program may create the pod that uses it later.
 */
export function claimReadiness(context: ReadinessContext): ReadinessCheck {
  return async (live) => {
    const phase = textAt(live, "status", "phase");
    if (phase === "Bound") return ready();
    const name = textAt(live, "spec", "storageClassName");
    const complaint = name ? undefined : `no storage class found for "${nameOf(live)}"`;
    const mode = name ? await bindingMode(context, name) : { problem: complaint };
    if (mode.mode === "WaitForFirstConsumer" && phase === "Pending") return ready();
    const problems = mode.problem === undefined ? [] : [mode.problem];
    return {
      ready: false,
      messages: problems.map(warning),
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
    return { mode: textAt(await context.cluster.get(kind), "volumeBindingMode") };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problem: `getting storageclass "${name}": ${why}` };
  }
}

export const volumeReadiness = (): ReadinessCheck => (live) => {
  const phase = textAt(live, "status", "phase");
  return phase === "Available" || phase === "Bound"
    ? ready()
    : { ready: false, messages: [], problems: [`PersistentVolume is ${phase || "new"}`] };
};

/**
 * Waits until the server serves the new kind in every version, so that its objects can be created
 * at once.
 */
export function crdReadiness({ cluster }: ReadinessContext): ReadinessCheck {
  const waiting = (problem: string): Verdict => ({
    ready: false,
    messages: [info(problem)],
    problems: [problem],
  });
  return async (live) => {
    const refused = conditionOf(live, "NamesAccepted");
    if (refused?.status === "False") return waiting(`[${refused.reason}] ${refused.message}`);
    if (conditionOf(live, "Established")?.status !== "True") {
      return waiting("CustomResourceDefinition is not established");
    }
    const [group, kind] = [textAt(live, "spec", "group"), textAt(live, "spec", "names", "kind")];
    for (const item of listAt(live, "spec", "versions")) {
      const version = textAt(item, "name");
      const served = at(item, "served") === true;
      if (served && !(await cluster.discovery.exists({ group, version, kind }))) {
        return waiting(`The API server does not serve ${group}/${version} ${kind} yet`);
      }
    }
    return ready();
  };
}

export const namespaceReadiness = (): ReadinessCheck => (live) =>
  textAt(live, "status", "phase") === "Active"
    ? ready()
    : {
        ready: false,
        messages: [info("Namespace is not active")],
        problems: ["Namespace is not active"],
      };

/** Waits until a controller has set an address. */
export const ingressReadiness = (): ReadinessCheck => (live) => {
  const problem =
    "Ingress was not allocated an IP address; does the cluster have an ingress controller?";
  return listAt(live, "status", "loadBalancer", "ingress").length > 0
    ? ready("Ingress initialization complete")
    : { ready: false, messages: [info("Waiting for an address")], problems: [problem] };
};
