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

interface Rule {
  readonly phase: Phase;
  /** Tested on the chain of type tokens, joined by `$`. */
  readonly type: RegExp;
  /** Tested on the logical name. Default: any. */
  readonly name?: RegExp;
}

/** The first rule that fits decides. */
const rules: readonly Rule[] = [
  { phase: "samples", type: /:Samples\b|:Farewell\b/ },
  { phase: "samples", type: /kubernetes:|command:/, name: /sample|farewell/ },
  { phase: "storage", type: /:(BlockStorage|Storage\w*)\b|storage\.k8s\.io/ },
  { phase: "storage", type: /kubernetes:/, name: /csi|storage|cinder|gold/ },
  { phase: "cloud and pod network", type: /kubernetes:|stackadm:addons:/ },
  { phase: "boot", type: /command:remote:/, name: /prepare/ },
  { phase: "workers", type: /command:remote:|:WorkerPool\b.*command:/, name: /join|leave/ },
  { phase: "control plane", type: /command:remote:/ },
  { phase: "control plane", type: /stackadm:kubeadm:(ControlPlane|Readiness|EtcdCluster)$/ },
  { phase: "workers", type: /stackadm:kubeadm:WorkerPool$/ },
  {
    phase: "security",
    type: /networking\/secGroup|compute\/(keypair|serverGroup)|applicationCredential/i,
  },
  { phase: "security", type: /stackadm:(identity|network:Firewall)|command:local:/ },
  { phase: "servers", type: /compute\/instance|stackadm:machine:|blockstorage/i },
  { phase: "servers", type: /stackadm:machine:.*networking\/port/i },
  { phase: "network", type: /openstack:|stackadm:network:/ },
];

/** The phase a resource belongs to; undefined for what is not worth showing (the stack, providers). */
export function phaseOf(urn: string): Phase | undefined {
  const { types, type, name } = parseUrn(urn);
  if (type.startsWith("pulumi:providers:") || type === "pulumi:pulumi:Stack") return undefined;
  const chain = types.join("$");
  const joinOfControlPlane = /:ControlPlane\b/.test(chain) && /command:remote:/.test(chain);
  const found = rules.find((rule) => rule.type.test(chain) && (rule.name?.test(name) ?? true));
  // A second control plane joins too, but that is the control plane's phase.
  return found?.phase === "workers" && joinOfControlPlane ? "control plane" : found?.phase;
}
