import { listObjects, type CloudObject } from "../../../../openstack/inventory/inventory.js";
import { enginesOf, workersOf } from "./engine.js";
import { until } from "../cloud/foreign.js";
import { kubectlOn } from "../kubernetes/kubectl.js";
import type { LabCluster } from "../stack/lab-cluster.js";
import { inServer } from "../machines/machines.js";
import type { FaultRun, FaultName } from "./seed.js";

/** Cluster on which a fault is caused, and the random choices of the run. */
export interface Target {
  readonly cluster: LabCluster;
  readonly draw: FaultRun;
}

/**
 * Function that causes a fault once. Returns a description of the process or machine that it hit.
 * Returns undefined if this process or machine does not exist yet.
 */
type Strike = (target: Target) => Promise<string | undefined>;

/**
 * Returns the running machines of a role. The whole name must match, because servers of other
 * owners may have the same prefix.
 */
async function machines({ name, cloud }: LabCluster, role: string): Promise<CloudObject[]> {
  const own = new RegExp(`^${name}-(${role})-\\d+$`);
  const servers = await listObjects(cloud, "server");
  return servers
    .filter((server) => own.test(server.name) && server.status === "ACTIVE")
    .sort((one, other) => one.name.localeCompare(other.name));
}

/** Returns all items in rotated order. The item that the run's random number selects is first. */
function beginningWith<Item>(items: readonly Item[], { which }: FaultRun): Item[] {
  const first = Math.floor(which * items.length);
  return [...items.slice(first), ...items.slice(0, first)];
}

function kill(what: string, pids: readonly number[]): Promise<string | undefined> {
  for (const pid of pids) process.kill(pid, "SIGKILL");
  return Promise.resolve(pids.length > 0 ? `${what} ${pids.join(", ")}` : undefined);
}

const controllerPods =
  "-n kube-system delete pod -l app.kubernetes.io/name=openstack-cloud-controller-manager --force --grace-period=0";

/**
 * Functions that cause the faults of processes and machines, by the name of the fault. Failures of
 * cloud calls are missing here, because FaultyProxy causes them.
 */
const strikes: Readonly<Partial<Record<FaultName, Strike>>> = {
  engine: ({ cluster }) => kill("engine", enginesOf(cluster.name)),
  worker: () => kill("worker process", workersOf()),
  ssh: async ({ cluster, draw }) => {
    const all = await machines(cluster, "control-plane|general");
    for (const { id, name } of beginningWith(all, draw)) {
      const cut = await inServer(id, "pkill -KILL -f '^sshd: debian' && echo cut || :");
      if (cut.trim() === "cut") return `the SSH connections of ${name}`;
    }
    return undefined;
  },
  reboot: async ({ cluster }) => {
    const [server] = await machines(cluster, "control-plane");
    if (!server) return undefined;
    const reset = { reboot: { type: "HARD" } };
    await cluster.cloud.request("compute", "POST", `/servers/${server.id}/action`, reset);
    return server.name;
  },
  deleted: async ({ cluster, draw }) => {
    const [server] = beginningWith(await machines(cluster, "general"), draw);
    if (!server) return undefined;
    await cluster.cloud.request("compute", "DELETE", `/servers/${server.id}`);
    return server.name;
  },
  controller: async ({ cluster }) => {
    const [server] = await machines(cluster, "control-plane");
    const said = server ? await kubectlOn(server.id, controllerPods) : "";
    return said.includes("deleted") ? said.trim() : undefined;
  },
};

/**
 * Tries to cause the fault until the process or machine that it hits exists, or until `over` is
 * aborted. Returns the description of this process or machine.
 */
export async function causeFault(target: Target, over: AbortSignal): Promise<string | undefined> {
  const act = strikes[target.draw.fault];
  if (!act) return undefined;
  let hit: string | undefined;
  await until(async () => {
    // Ignores errors, because a booting machine does not answer yet.
    hit = await act(target).catch(() => undefined);
    return hit !== undefined || over.aborted;
  }, 3600);
  return hit;
}

/**
 * Waits until the API server of the control plane that the fault `reboot` has reset is ready. Does
 * not wait if this control plane never had an API server.
 */
export async function machinesAreBack(cluster: LabCluster): Promise<void> {
  const ready = "test ! -e /etc/kubernetes/admin.conf || curl -sk https://localhost:6443/readyz";
  await until(async () => {
    const [server] = await machines(cluster, "control-plane");
    if (!server) return false;
    return /^(ok)?\s*$/.test(await inServer(server.id, ready).catch(() => "not yet"));
  }, 180).catch(() => undefined); // `up` has to repair a control plane that does not recover.
}
