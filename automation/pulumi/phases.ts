import { parseUrn } from "./urn.js";

/** Phases, in the order in which a cluster is created. A destroy has the reverse order. */
export const phases = [
  "network",
  "security",
  "servers",
  "boot",
  "control plane",
  "workers",
  "cloud and pod network",
  "storage",
  "samples",
] as const;
export type Phase = (typeof phases)[number];

/**
 * Facts about each phase. Phases with the same `stage` run concurrently. `up` and `destroy` are
 * seconds that were measured in the lab with two cores. These seconds are shown next to the elapsed
 * time.
 */
export const phaseFacts: Readonly<
  Record<
    Phase,
    {
      readonly stage: number;
      readonly title: string;
      readonly up: number;
      readonly destroy: number;
    }
  >
> = {
  network: { stage: 0, title: "Network, router and addresses", up: 25, destroy: 20 },
  security: { stage: 0, title: "Security groups, keys and credentials", up: 20, destroy: 15 },
  servers: { stage: 0, title: "Servers", up: 35, destroy: 15 },
  boot: { stage: 1, title: "Machines boot and are prepared", up: 40, destroy: 5 },
  "control plane": { stage: 1, title: "Control plane", up: 20, destroy: 5 },
  workers: { stage: 1, title: "Workers join", up: 10, destroy: 5 },
  "cloud and pod network": {
    stage: 2,
    title: "Cloud controller and pod network",
    up: 20,
    destroy: 10,
  },
  storage: { stage: 2, title: "Storage", up: 20, destroy: 10 },
  samples: { stage: 3, title: "Sample services", up: 30, destroy: 30 },
};

/**
 * Prefixes of type tokens, each with a phase. The first prefix that matches determines the phase.
 */
type Rows = readonly (readonly [prefix: string, phase: Phase])[];

/** Resources whose phase depends only on their own type. */
const ofResource: Rows = [
  ["openstack:networking/secGroup", "security"],
  ["openstack:compute/serverGroup:", "security"],
  ["openstack:compute/keypair:", "security"],
  ["command:local:", "security"],
];

/**
 * Phases of components. A resource without its own row gets the phase of the innermost component
 * with a row in this table.
 */
const ofComponent: Rows = [
  ["stackadm:addons:Samples", "samples"],
  ["stackadm:addons:IngressController", "samples"],
  ["stackadm:addons:BlockStorage", "storage"],
  ["stackadm:addons:", "cloud and pod network"],
  ["stackadm:pod-network:", "cloud and pod network"],
  ["stackadm:identity:", "security"],
  ["stackadm:network:Firewall", "security"],
  ["stackadm:network:", "network"],
  ["stackadm:endpoint:", "network"],
  ["stackadm:ingress:", "network"],
  ["stackadm:access:", "network"],
  ["stackadm:machine:", "servers"],
  ["stackadm:kubeadm:WorkerPool", "workers"],
  ["stackadm:kubeadm:", "control plane"],
  ["stackadm:etcd:", "control plane"],
];

/**
 * Phases of the remaining resources, which are children of the cluster itself or of a component
 * without a row.
 */
const ofProvider: Rows = [
  ["openstack:compute/", "servers"],
  ["openstack:", "network"],
  ["kubernetes:", "cloud and pod network"],
  // All other providers, for example `random`. Their resources are not objects in the cloud.
  ["", "security"],
];

/**
 * Phases of script steps that differ from the phase of the machine's component. The step is the
 * last word of the resource's name. Names from the settings come before the step, so they cannot
 * change the last word.
 */
const ofStep: Readonly<Record<string, Phase>> = {
  scripts: "boot",
  prepare: "boot",
  teardown: "samples",
};

const lookUp = (rows: Rows, type: string): Phase | undefined =>
  rows.find(([prefix]) => type.startsWith(prefix))?.[1];

/**
 * Returns the phase of a script. Scripts run only on booted machines. If the script's component
 * belongs to an earlier phase, returns a phase after the boot.
 */
function ofScript(name: string, component: Phase | undefined): Phase {
  const step = ofStep[name.split("-").at(-1) ?? ""];
  if (step) return step;
  if (component === "servers") return "boot";
  return component === undefined || phaseFacts[component].stage === 0 ? "control plane" : component;
}

/**
 * Returns the phase of a resource. Returns undefined for resources that are not shown (the stack
 * and providers) or are not part of a cluster.
 */
export function findResourcePhase(urn: string): Phase | undefined {
  const { types, type, name } = parseUrn(urn);
  const components = types.filter((one) => one.startsWith("stackadm:"));
  if (type.startsWith("pulumi:") || components.length === 0) return undefined;
  const component = components
    .reverse()
    .map((one) => lookUp(ofComponent, one))
    .find((phase) => phase !== undefined);
  if (type.startsWith("stackadm:")) return component;
  if (type.startsWith("command:remote:")) return ofScript(name, component);
  return lookUp(ofResource, type) ?? component ?? lookUp(ofProvider, type);
}
