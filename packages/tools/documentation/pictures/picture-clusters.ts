import {
  exampleArgs,
  exampleNames,
  programNames,
} from "../../../../test/support/config/examples.js";
import { programGraph } from "../../../../test/support/graph/program-graph.js";
import {
  registerCluster,
  type PicturedArgs,
  type RegisteredCluster,
} from "./registered-cluster.js";

/** Cluster whose network is drawn. */
export interface PicturedCluster {
  /** Name of the file without `.svg`. */
  readonly file: string;
  readonly title: string;
  readonly register: () => Promise<RegisteredCluster>;
}

const common = {
  image: "debian-12",
  externalNetwork: "public",
  allowedCidrs: ["198.51.100.0/24"],
  controlPlane: { flavor: "m1.medium" },
  workers: { general: { flavor: "m1.medium", count: 2 } },
  ssh: { publicKey: "ssh-ed25519 AAAA" },
} satisfies PicturedArgs;
const three = { ...common.controlPlane, count: 3 };

/** Clusters with the shapes and endpoints of the documentation. */
const shapes: readonly (Omit<PicturedCluster, "register"> & { readonly args: PicturedArgs })[] = [
  {
    file: "network-single",
    title: "Network of one machine",
    args: { ...common, topology: "single", workers: {} },
  },
  {
    file: "network-floating-ip",
    title: "Network with a floating IP on the control plane",
    args: { ...common, topology: "one-control-plane" },
  },
  {
    file: "network-load-balancer",
    title: "Network with a load balancer in front of three control planes",
    args: { ...common, topology: "ha" },
  },
  {
    file: "network-virtual-ip",
    title: "Network with a virtual IP of three control planes",
    args: { ...common, controlPlane: three, endpoint: { kind: "virtual-ip" } },
  },
  {
    file: "network-existing",
    title: "Network behind your own load balancer",
    args: {
      ...common,
      controlPlane: three,
      endpoint: { kind: "existing", host: "api.example.org" },
      access: "direct",
    },
  },
  {
    file: "network-private",
    title: "Existing network without floating IPs",
    args: {
      ...common,
      externalNetwork: undefined,
      network: { nodes: "10.0.0.0/24", existing: { network: "provider" } },
      endpoint: { kind: "private" },
      access: "direct",
    },
  },
  {
    file: "network-bastion",
    title: "Network with a bastion",
    args: { ...common, topology: "ha", access: "bastion", bastion: { flavor: "m1.small" } },
  },
];

/** Cluster whose resources are drawn. */
export const smallCluster: PicturedArgs = {
  ...common,
  topology: "one-control-plane",
  storageClasses: [{ name: "default", default: true }],
  samples: true,
};

/** Cluster whose upgrade is drawn: several control planes, and two worker pools. */
export const upgradedCluster: PicturedArgs = {
  ...common,
  topology: "ha",
  workers: { ...common.workers, gpu: { flavor: "g1.medium", count: 1 } },
};

const examplePicture = (name: string, register: PicturedCluster["register"]): PicturedCluster => ({
  file: `example-${name}`,
  title: `Network of the example ${name}`,
  register,
});

/** Returns the clusters whose networks are drawn. */
export const listPicturedClusters = (): readonly PicturedCluster[] => [
  ...shapes.map(({ args, ...shape }) => ({ ...shape, register: () => registerCluster(args) })),
  ...exampleNames().map((name) => examplePicture(name, () => registerCluster(exampleArgs(name)))),
  ...programNames().map((name) => examplePicture(name, () => programGraph(name))),
];
