import { listObjects, type CloudObject } from "../../../cloud/inventory.js";
import { enginesOf, workersOf } from "./engine.js";
import { until } from "./foreign.js";
import { kubectlOn } from "./kubectl.js";
import type { LabCluster } from "./lab-cluster.js";
import { inServer } from "./machines.js";
import type { Draw, FaultName } from "./seed.js";

/** Whom a fault hits. */
export interface Target {
  readonly cluster: LabCluster;
  readonly draw: Draw;
}

/** Hits it now; answers what was hit, undefined when there is nothing yet. */
type Strike = (target: Target) => Promise<string | undefined>;

/** The machines of a role that run, by their names: somebody else's may begin alike. */
async function machines({ name, cloud }: LabCluster, role: string): Promise<CloudObject[]> {
  const own = new RegExp(`^${name}-(${role})-\\d+$`);
  const servers = await listObjects(cloud, "server");
  return servers
    .filter((server) => own.test(server.name) && server.status === "ACTIVE")
    .sort((one, other) => one.name.localeCompare(other.name));
}

/** They all, beginning with the one that was drawn. */
function beginningWith<Item>(items: readonly Item[], { which }: Draw): Item[] {
  const first = Math.floor(which * items.length);
  return [...items.slice(first), ...items.slice(0, first)];
}

function kill(what: string, pids: readonly number[]): Promise<string | undefined> {
  for (const pid of pids) process.kill(pid, "SIGKILL");
  return Promise.resolve(pids.length > 0 ? `${what} ${pids.join(", ")}` : undefined);
}

const controllerPods =
  "-n kube-system delete pod -l app.kubernetes.io/name=openstack-cloud-controller-manager --force --grace-period=0";

/** What hits processes and machines; calls to the cloud fail in the proxy. */
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

/** Hits what the fault is about as soon as it is there, unless all is over before; answers what was hit. */
export async function strike(target: Target, over: AbortSignal): Promise<string | undefined> {
  const act = strikes[target.draw.fault];
  if (!act) return undefined;
  let hit: string | undefined;
  await until(async () => {
    // A machine that boots answers nobody yet.
    hit = await act(target).catch(() => undefined);
    return hit !== undefined || over.aborted;
  }, 3600);
  return hit;
}

/** Waits until a control plane that was reset is back, as somebody would who reset it; one that never had an API has nothing to wait for. */
export async function machinesAreBack(cluster: LabCluster): Promise<void> {
  const ready = "test ! -e /etc/kubernetes/admin.conf || curl -sk https://localhost:6443/readyz";
  await until(async () => {
    const [server] = await machines(cluster, "control-plane");
    if (!server) return false;
    return /^(ok)?\s*$/.test(await inServer(server.id, ready).catch(() => "not yet"));
  }, 180).catch(() => undefined); // What does not come back by itself, `up` is to repair.
}
