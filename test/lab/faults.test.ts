import assert from "node:assert/strict";
import { Failure } from "../../base/failures/failure.js";
import { findClusterIdentities } from "../../automation/pulumi/stack-state.js";
import {
  findEntrySshTarget,
  parseOutputs,
  outputValues,
  type ClusterOutputs,
} from "../../automation/verify/cluster-outputs.js";
import { verifyCluster } from "../../automation/verify/verify-cluster.js";
import {
  compareInventories,
  listObjects,
  takeInventory,
  type CloudObject,
} from "../../openstack/inventory/inventory.js";
import { deleteOrphans, findOwnedObjects } from "../../openstack/inventory/marked-objects.js";
import { enginesOf } from "./support/faults/engine.js";
import { until } from "./support/cloud/foreign.js";
import { changes, labCluster, type LabCluster } from "./support/stack/lab-cluster.js";
import { clearFault, inServer, injectFault } from "./support/machines/machines.js";

const minutes = 60_000;
const stack = "faults";

describe("`up` with injected faults, on the lab", function () {
  this.timeout(10 * minutes);
  let cluster: LabCluster;
  let initially: CloudObject[];
  let outputs: ClusterOutputs;

  before(async () => {
    cluster = await labCluster(stack);
    initially = await takeInventory(cluster.cloud);
  });
  after(async () => {
    await clearFault(`${stack}-general-0`);
    await cluster.close();
  });

  // The test deletes the cluster without its state, so no command would delete a kubeconfig file.
  const options = { kubeconfigFile: false };
  const up = () =>
    cluster.service.up(stack, {
      ...options,
      settings: cluster.settings(),
      ...cluster.recording(),
    });
  const serverId = async (name: string): Promise<string> => {
    const servers = await listObjects(cluster.cloud, "server");
    return servers.find((server) => server.name === `${stack}-${name}`)?.id ?? "";
  };

  it("reports a server in ERROR with Nova's fault", async () => {
    await injectFault(`${stack}-general-0`, "error");
    const error = await failure(up());
    assert.equal(error.code, "SERVER_ERROR", error.message);
    assert.match(error.message, /faults-general-0.* is ERROR: \S+/);
  });

  it("replaces the server in ERROR, and reports an engine that is killed during kubeadm init", async () => {
    const failed = await serverId("general-0");
    await injectFault(`${stack}-general-0`, "no-boot");
    const running = failure(up());
    const name = "control-plane-0";
    await until(async () => {
      // If the first run had already prepared the control plane, kubeadm would start before the
      // failed server is deleted. So the test first waits for the deletion of the failed server.
      if ((await serverId("general-0")) === failed) return false;
      const id = await serverId(name);
      return id !== "" && (await inServer(id, "pgrep -x kubeadm || :").catch(() => "")) !== "";
    }, 300);
    const engines = enginesOf(stack);
    assert.ok(engines.length > 0, "no engine runs");
    for (const pid of engines) process.kill(pid, "SIGKILL");
    const { code, message } = await running;
    assert.equal(code, "ENGINE_KILLED", message);
    assert.notEqual(await serverId("general-0"), failed);
  });

  it("reports a machine that does not boot within five minutes, with its console log", async () => {
    const begun = Date.now();
    const error = await failure(up());
    assert.ok(Date.now() - begun < 5 * minutes);
    assert.equal(error.code, "SERVER_NEVER_BOOTED", error.message);
    assert.match(error.message, /faults-general-0/);
    assert.match(error.message, /panic/i);
  });

  it("converges to one complete cluster without duplicates", async () => {
    await clearFault(`${stack}-general-0`);
    const silent = await serverId("general-0");
    outputs = parseOutputs(outputValues((await up()).outputs));
    assert.notEqual(await serverId("general-0"), silent);
    const agentSocket = cluster.environment.agent?.socket ?? "";
    const entry = findEntrySshTarget(outputs, { user: "debian", agentSocket });
    const proof = await verifyCluster({ outputs, entry });
    assert.equal(proof.ok, true, JSON.stringify(proof, undefined, 2));
    assert.equal(proof.nodes.length, 3);
    const made = compareInventories(initially, await takeInventory(cluster.cloud)).added;
    const named = made.filter(
      ({ kind }) => kind === "server" || kind === "network" || kind === "router",
    );
    const names = named.map(({ kind, name }) => `${kind} ${name}`).sort();
    assert.deepEqual(names, [
      "network faults",
      "router faults",
      "server faults-control-plane-0",
      "server faults-general-0",
      "server faults-general-1",
    ]);
  });

  it("has no changes on a further run", async () => {
    cluster.seen.events.length = 0;
    await up();
    assert.deepEqual(changes(cluster.seen.events), {});
  });

  it("refuses a machine with another host key", async () => {
    const id = await serverId("general-0");
    const file = "/etc/ssh/ssh_host_ed25519_key";
    await inServer(
      id,
      `cp ${file} /root/kept && rm ${file} && ssh-keygen -q -t ed25519 -N '' -f ${file}`,
    );
    await inServer(id, "systemctl restart ssh");
    // A changed setting of the preparation makes the preparation run again on all machines.
    const ignored = [
      "SystemVerification",
      "Swap",
      "NumCPU",
      "Mem",
      "FileContent--proc-sys-net-bridge-bridge-nf-call-iptables",
      "Hostname",
    ];
    const settings = cluster.settings({ kubernetes: { ignorePreflightErrors: ignored } });
    const again = () => cluster.service.up(stack, { ...options, settings, ...cluster.recording() });
    const error = await failure(again());
    assert.equal(error.code, "HOST_KEY_MISMATCH", error.message);
    assert.match(error.message, /faults-general-0/);
    await inServer(id, `cp /root/kept ${file} && systemctl restart ssh`);
    await again();
  });

  it("marks all objects, so that they can be deleted without the state", async () => {
    const identities = findClusterIdentities(await cluster.service.state(stack));
    assert.equal(identities.size, 1);
    await deleteOrphans(cluster.cloud, await findOwnedObjects(cluster.cloud, identities));
    const left = compareInventories(initially, await takeInventory(cluster.cloud));
    assert.deepEqual(left, { added: [], removed: [] });
  });
});

/** Returns the error of the work. Throws if the work succeeds. */
async function failure(work: Promise<unknown>): Promise<Failure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error("it ended well");
}
