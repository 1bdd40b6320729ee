import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { stringify } from "yaml";
import type { EngineOutput } from "../engine/fake-engine.js";
import { emptyProject, fakeProject, type FakeCloud } from "./fake-openstack.js";

const flavor = (name: string) => ({ id: name, name, vcpus: 2, ram: 2048, disk: 20 });
const plenty = { limit: 50, used: 0, reserved: 0 };

/** Prepares a cloud with an empty project and everything that Pulumi.dev.yaml requires. */
export function prepareReadyCloud(cloud: FakeCloud): void {
  emptyProject(cloud);
  const zones = {
    availabilityZoneInfo: ["zone-a", "zone-b"].map((zoneName) => ({
      zoneName,
      zoneState: { available: true },
    })),
  };
  const answers: Record<string, unknown> = {
    "compute/flavors/detail": { flavors: [flavor("k8s-control-plane"), flavor("k8s-worker")] },
    "compute/limits": { limits: { absolute: { maxTotalInstances: 10, totalInstancesUsed: 0 } } },
    "compute/os-availability-zone": zones,
    "volumev3/os-availability-zone": zones,
    "image/images": {
      images: [{ id: "i", name: "debian-12", status: "active", min_disk: 0, min_ram: 0 }],
    },
    "network/networks?router:external=true": { networks: [{ id: "e", name: "public" }] },
    [`network/quotas/${fakeProject}/details`]: { quota: { network: plenty, port: plenty } },
    "volumev3/limits": { limits: { absolute: {} } },
    "load-balancer/lbaas/providers": { providers: [{ name: "amphora" }] },
    [`load-balancer/lbaas/quotas/${fakeProject}`]: { quota: { load_balancer: 10 } },
  };
  for (const [path, body] of Object.entries(answers)) cloud.on(`GET /${path}`, { body });
}

/** Secret that must not appear in any output, unless the user requests the secret. */
export const clientKey = Buffer.from("CANARY-client-key").toString("base64");

export interface FakeCluster {
  /** Whether the worker has joined and is Ready. */
  ready: boolean;
  /** Status of the next certificate, as the control plane's node reports it. */
  certificate?: string;
  /** Number of requests for the nodes. */
  looks: number;
  readonly kubeconfig: string;
  /** Outputs of the stack when the cluster was created. */
  readonly outputs: Readonly<Record<string, EngineOutput>>;
  close(): Promise<void>;
}

/**
 * Nodes of the fake cluster. The program does not know their roles, so the verification only checks
 * the nodes and never uses SSH.
 */
const nodes = [
  { name: "dev-control-plane-0", role: "control plane", zone: "zone-a", address: "10.0.0.10" },
  { name: "dev-general-0", role: "general", zone: "zone-b", address: "10.0.0.11" },
];

const nodeObject = (node: (typeof nodes)[number], ready: boolean, certificate?: string) => ({
  metadata: {
    name: node.name,
    ...(certificate !== undefined && {
      annotations: { "stackadm.io/certificates": certificate },
    }),
    labels: {
      "topology.kubernetes.io/zone": node.zone,
      ...(node.role === "control plane"
        ? { "node-role.kubernetes.io/control-plane": "" }
        : { "stackadm.io/pool": node.role }),
    },
  },
  spec: { providerID: `openstack:///id-of-${node.name}` },
  status: {
    nodeInfo: { kubeletVersion: "v1.36.3" },
    addresses: [{ type: "InternalIP", address: node.address }],
    conditions: [
      { type: "Ready", status: ready ? "True" : "False", message: "no network plugin yet" },
    ],
  },
});

/** Starts the Kubernetes API of a cluster with two nodes, without the samples. */
export async function startFakeCluster(): Promise<FakeCluster> {
  const server = createServer((request, response) => {
    const found = request.url === "/api/v1/nodes";
    if (found) cluster.looks += 1;
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
    const items = nodes.map((node, index) =>
      nodeObject(node, index === 0 || cluster.ready, cluster.certificate),
    );
    response.end(JSON.stringify(found ? { items } : {}));
  });
  await new Promise<void>((listening) => {
    server.listen(0, "127.0.0.1", listening);
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeconfig = stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "admin@dev",
    clusters: [{ name: "dev", cluster: { server: endpoint } }],
    users: [{ name: "admin", user: { "client-key-data": clientKey } }],
    contexts: [{ name: "admin@dev", context: { cluster: "dev", user: "admin" } }],
  });
  const cluster: FakeCluster = {
    ready: true,
    looks: 0,
    kubeconfig,
    outputs: {
      kubeconfig: { value: kubeconfig, secret: true },
      clusterName: { value: "dev" },
      apiEndpoint: { value: "https://203.0.113.7:6443" },
      nodes: { value: nodes.map((node) => ({ ...node, serverId: `id-of-${node.name}` })) },
      hostKeys: { value: [] },
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return cluster;
}
