/*
 * Runs all fakes in a separate process: an OpenStack cloud, machines that are only SSH servers, and
 * the API of their cluster. Sends the addresses of the fakes to the parent process at the start.
 * Sends the usage of the fakes when the parent process requests it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  fakeProject,
  fakeUser,
  startFakeCloud,
  type FakeCloud,
  type SeenRequest,
} from "../../../../test/support/cloud/fake-openstack.js";
import { prepareReadyCloud } from "../../../../test/support/cloud/ready-cluster.js";
import { FakeKubernetes } from "./kubernetes.js";
import { FakeMachines } from "./machines.js";
import { FakeProject, type FakeMachine } from "./fake-openstack-project.js";
import type { FakesUsage } from "./fakes-process.js";

/** Loopback addresses that no other process uses. */
const outside = { machines: "127.77.0.1", balancer: "127.77.0.2" };

/** Paths of the lists that the program reads from the project. */
const lists = [
  ...["compute/servers/detail", "compute/os-server-groups", "load-balancer/lbaas/loadbalancers"],
  ...["floatingips", "routers", "ports", "subnets", "networks", "security-groups"].map(
    (one) => `network/${one}`,
  ),
  `identity/v3/users/${fakeUser}/application_credentials`,
];

const flavors = ["k8s-control-plane", "k8s-worker"];
const external = { id: "e", name: "public", subnets: [], "router:external": true };
const image = { id: "i", name: "debian-12", status: "active", min_disk: 0, min_ram: 0 };

/**
 * Adds the answers of the cloud that do not concern objects of the project. The quotas are larger
 * than in other tests.
 */
function addCloudAnswers(cloud: FakeCloud): void {
  prepareReadyCloud(cloud);
  const flavor = (id: string) => ({ id, name: id, vcpus: 2, ram: 2048, disk: 20 });
  const much = { limit: 100_000, used: 0, reserved: 0 };
  const answers: Record<string, unknown> = {
    "compute/flavors/detail": { flavors: flavors.map(flavor) },
    "compute/limits": {
      limits: { absolute: { maxTotalInstances: 100_000, totalInstancesUsed: 0 } },
    },
    "image/v2/images": { images: [image] },
    "image/v2/images/i": image,
    "network/networks?router:external=true": { networks: [external] },
    [`network/quotas/${fakeProject}/details`]: { quota: { network: much, port: much } },
    [`load-balancer/lbaas/quotas/${fakeProject}`]: { quota: { load_balancer: 10 } },
  };
  for (const [path, body] of Object.entries(answers)) cloud.on(`GET /${path}`, { body });
  for (const id of flavors) {
    cloud.on(`GET /compute/flavors/${id}`, { body: { flavor: flavor(id) } });
    cloud.on(`GET /compute/flavors/${id}/os-extra_specs`, { body: { extra_specs: {} } });
  }
}

/**
 * Returns the output of a script on a machine. The input of the script shows which script it is.
 */
function answerOf(host: FakeMachine, input: string, cluster: FakeKubernetes): object {
  const init = /^KUBEADM_INIT='(.?)/m.exec(input)?.[1];
  const joins = /^KUBEADM_JOIN=/m.test(input);
  const kubernetes = "1.36.3";
  if (!joins) return { kubelet: kubernetes };
  cluster.join(host, init !== undefined);
  const node = { node: host.name, kubernetes };
  if (init === undefined || init === "'") return node;
  return {
    ...node,
    caCertHash: `sha256:${"a".repeat(64)}`,
    kubeconfig: Buffer.from(cluster.kubeconfig).toString("base64"),
    name: /clusterName: (\S+)/.exec(input)?.[1] ?? "",
    uid: "11111111-2222-3333-4444-555555555555",
  };
}

const isChange = ({ method, path }: SeenRequest): boolean =>
  method !== "GET" && !path.endsWith("/auth/tokens");

async function main(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "stackadm-site-"));
  process.once("exit", () => {
    rmSync(scratch, { recursive: true });
  });
  process.once("disconnect", () => process.exit(0));
  const project = new FakeProject(outside, external);
  const cloud = await startFakeCloud({
    services: ["compute", "network", "image", "volumev3", "load-balancer", "identity"],
    otherwise: (request) => project.answer(request),
  });
  addCloudAnswers(cloud);
  for (const path of lists)
    cloud.on(`GET /${path}`, (request) => project.answer(request) ?? { status: 404 });
  const cluster = await FakeKubernetes.start(scratch, outside.balancer);
  const machines = await FakeMachines.start(outside.machines, {
    hostAt: (address) => project.hostAt(address),
    entry: () => project.entry,
    run: (host, input) => answerOf(host, input, cluster),
  });
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    const { scripts } = machines;
    const cpu = Math.round((user + system) / 1000);
    const calls = cloud.seen.length;
    const changes = cloud.seen.filter(isChange).length;
    process.send?.({ cpu, calls, changes, scripts } satisfies FakesUsage);
  });
  process.send?.({ environment: cloud.environment(), authUrl: cloud.authUrl });
}

void main();
