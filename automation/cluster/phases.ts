import { parseUrn } from "./urn.js";

/** The order in which a cluster comes to be; destroying goes through it backwards. */
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

/** What a phase does, which stage it belongs to (the phases of one run side by side), and the seconds it took on the lab with two cores: shown beside the elapsed time. */
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

/** The beginning of a type token, and the phase of what has it. The first row that fits decides. */
type Rows = readonly (readonly [prefix: string, phase: Phase])[];

/** Resources that belong to one phase whatever component makes them. */
const ofResource: Rows = [
  ["openstack:networking/secGroup", "security"],
  ["openstack:compute/serverGroup:", "security"],
  ["openstack:compute/keypair:", "security"],
  ["command:local:", "security"],
];

/** Everything else belongs where the innermost component that has a row belongs. */
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

/** What is left: a resource of the cluster itself, or of a component that has no row yet. */
const ofProvider: Rows = [
  ["openstack:compute/", "servers"],
  ["openstack:", "network"],
  ["kubernetes:", "cloud and pod network"],
  // Made by nobody but the program: random values, keys.
  ["", "security"],
];

/**
 * Scripts that run on machines of a component without belonging to its phase, by their step: the last word of their name, which
 * only the program gives. What people name stands before it.
 */
const ofStep: Readonly<Record<string, Phase>> = { prepare: "boot", teardown: "samples" };

const lookUp = (rows: Rows, type: string): Phase | undefined =>
  rows.find(([prefix]) => type.startsWith(prefix))?.[1];

/** On machines nothing runs before they boot, whatever component they are in. */
function ofScript(name: string, component: Phase | undefined): Phase {
  const step = ofStep[name.split("-").at(-1) ?? ""];
  if (step) return step;
  if (component === "servers") return "boot";
  return component === undefined || phaseFacts[component].stage === 0 ? "control plane" : component;
}

/** The phase that a resource belongs to; undefined for what is not worth showing (the stack, providers) or not the cluster's. */
export function phaseOf(urn: string): Phase | undefined {
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
