import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import type { CloudFacts } from "../../../components/lookup/cloud-lookup.js";
import { cloudAnswers } from "../../../test/support/cloud/cloud-answers.js";
import {
  fakeProject,
  startFakeCloud,
  type FakeCloud,
} from "../../../test/support/cloud/fake-openstack.js";
import type { Fields, GraphOptions } from "../../../test/support/graph/graph.js";
import { isSecret } from "../../../test/support/graph/secrets.js";
import { prepareReadyCloud } from "../../../test/support/cloud/ready-cluster.js";

/** Fake cluster that exists already: its cloud, its API and its stack's settings. */
export interface BenchFakeCluster {
  readonly cloud: FakeCloud;
  /** Settings of the stack, without the SSH key. The key comes from the SSH agent. */
  readonly args: Omit<ClusterArgs, "ssh">;
  readonly facts: CloudFacts;
  /** Outputs that the providers returned when the cluster was created. */
  readonly answers: GraphOptions;
  close(): Promise<void>;
}

/**
 * Address of the cluster's API: a loopback address that no other process uses. Mocha runs several
 * files at once, each in a process with its number.
 */
export const fakeClusterHost = `127.0.0.${String(77 + Number(process.env["MOCHA_WORKER_ID"] ?? 0))}`;

const args = {
  name: "dev",
  image: "debian-12",
  externalNetwork: "public",
  allowedCidrs: ["203.0.113.0/24"],
  controlPlane: { flavor: "k8s-control-plane" },
  workers: { general: { flavor: "k8s-worker", count: 2 } },
};

const nodeOf = (name: string, pool?: string) => ({
  metadata: {
    name,
    labels: pool ? { "stackadm.io/pool": pool } : { "node-role.kubernetes.io/control-plane": "" },
  },
  spec: { providerID: `openstack:///${name}-server-id` },
  status: {
    nodeInfo: { kubeletVersion: "v1.36.3" },
    addresses: [{ type: "InternalIP", address: "10.0.0.10" }],
    conditions: [{ type: "Ready", status: "True" }],
  },
});

const readyPod = { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };

/** Workload of an add-on whose pods are all available. */
const readyWorkload = (name: string) => ({
  metadata: { name },
  spec: { replicas: 1 },
  status: { desiredNumberScheduled: 3, numberAvailable: 3, availableReplicas: 1 },
});

const base64 = (file: string): string => readFileSync(file).toString("base64");

/** Starts the API of a cluster with three nodes. */
async function startApi(
  directory: string,
): Promise<{ kubeconfig: string; close: () => Promise<void> }> {
  const [key, cert] = [join(directory, "api.key"), join(directory, "api.crt")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const subject = ["-subj", "/CN=api", "-addext", `subjectAltName=IP:${fakeClusterHost}`];
  execFileSync(
    "openssl",
    ["req", "-x509", ...curve, "-nodes", "-days", "2", ...subject, "-keyout", key, "-out", cert],
    { stdio: "pipe" },
  );
  const items: readonly object[] = [
    nodeOf("dev-control-plane-0"),
    ...["dev-general-0", "dev-general-1"].map((name) => nodeOf(name, "general")),
  ];
  const answers: Readonly<Record<string, object>> = {
    "/api/v1/nodes": { items },
    "/api/v1/namespaces/kube-system/pods/etcd-dev-control-plane-0": readyPod,
    "/apis/apps/v1/namespaces/kube-system/daemonsets": {
      items: ["csi-cinder-nodeplugin", "openstack-cloud-controller-manager", "kube-router"].map(
        readyWorkload,
      ),
    },
    "/apis/apps/v1/namespaces/kube-system/deployments": {
      items: ["csi-cinder-controllerplugin"].map(readyWorkload),
    },
  };
  const server = createServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    (request, response) => {
      const found = answers[request.url ?? ""];
      response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify(found ?? {}));
    },
  );
  await new Promise<void>((listening) => {
    server.listen(6443, fakeClusterHost, listening);
  });
  const { port } = server.address() as AddressInfo;
  const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: kubernetes
  cluster: {certificate-authority-data: ${base64(cert)}, server: "https://${fakeClusterHost}:${port}"}
users:
- name: kubernetes-admin
  user: {client-certificate-data: ${base64(cert)}, client-key-data: ${base64(key)}}
`;
  return {
    kubeconfig,
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Adds the answers that the OpenStack plugin needs but the preflight does not. */
function answerPlugin(cloud: FakeCloud): void {
  const flavor = (id: string) => ({ id, name: id, vcpus: 2, ram: 2048, disk: 20 });
  const flavors = ["k8s-control-plane", "k8s-worker"];
  const image = { id: "i", name: "debian-12", status: "active", min_disk: 0, min_ram: 0 };
  const answers: Record<string, unknown> = {
    "image/v2/images": { images: [image] },
    "network/v2.0/networks": { networks: [{ id: "e", name: "public", subnets: [] }] },
    "compute/flavors/detail": { flavors: flavors.map(flavor) },
  };
  for (const [path, body] of Object.entries(answers)) cloud.on(`GET /${path}`, { body });
  for (const id of flavors) {
    cloud.on(`GET /compute/flavors/${id}`, { body: { flavor: flavor(id) } });
    cloud.on(`GET /compute/flavors/${id}/os-extra_specs`, { body: { extra_specs: {} } });
  }
}

/**
 * Returns the outputs of a Secret. The Kubernetes API server returns `stringData` as `data` in
 * base64.
 */
function stored({ stringData }: Fields): Fields {
  const texts = (isSecret(stringData) ? (stringData as { value: unknown }).value : stringData) as
    Record<string, string> | undefined;
  const data = Object.entries(texts ?? {}).map(([key, text]) => [
    key,
    Buffer.from(text).toString("base64"),
  ]);
  return { data: Object.fromEntries(data) as unknown };
}

const withKubeconfig = (kubeconfig: string): GraphOptions => {
  const { outputs = {} } = cloudAnswers;
  const ofScript = outputs["command:remote:Command"];
  return {
    ...cloudAnswers,
    outputs: {
      ...outputs,
      "kubernetes:core/v1:Secret": stored,
      "openstack:networking/floatingIp:FloatingIp": () => ({ address: fakeClusterHost }),
      "command:remote:Command": (inputs, name) => {
        const { stdout } = ofScript?.(inputs, name) ?? {};
        const said = JSON.parse(String(stdout)) as Record<string, unknown>;
        const admin = Buffer.from(kubeconfig).toString("base64");
        return {
          stdout: JSON.stringify({ ...said, ...("kubeconfig" in said && { kubeconfig: admin }) }),
        };
      },
    },
  };
};

/**
 * Starts a fake cluster and its cloud.
 *
 * @param directory directory for the key and certificate of the cluster's API
 */
export async function startBenchFakeCluster(directory: string): Promise<BenchFakeCluster> {
  const services = ["compute", "network", "image", "volumev3", "load-balancer", "identity"];
  const cloud = await startFakeCloud({ services });
  prepareReadyCloud(cloud);
  answerPlugin(cloud);
  const api = await startApi(directory);
  return {
    cloud,
    args,
    facts: {
      imageIds: { "debian-12": "i" },
      externalNetworkId: "e",
      externalNetworkName: "public",
      flavorIds: { "k8s-control-plane": "k8s-control-plane", "k8s-worker": "k8s-worker" },
      scope: {
        authUrl: `${cloud.authUrl}/v9/v3`,
        region: "one",
        projectId: fakeProject,
        roles: ["load-balancer_member", "member", "reader"],
      },
    },
    answers: withKubeconfig(api.kubeconfig),
    close: async () => {
      await api.close();
      await cloud.close();
    },
  };
}
