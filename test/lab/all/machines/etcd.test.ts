import assert from "node:assert/strict";
import { useApi } from "../../support/kubernetes/api-client.js";
import { etcdMembers } from "../../support/kubernetes/etcd.js";
import { until } from "../../support/cloud/foreign.js";
import { changes } from "../../support/stack/lab-cluster.js";
import { inServer, scriptRuns } from "../../support/machines/machines.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;

describe("etcd on dedicated machines, on the lab", function () {
  this.timeout(15 * minutes);
  const stack = new Stack("apart");
  const of = (generation: number): Record<string, unknown> => ({
    controlPlane: { flavor: "k8s-control-plane", count: 1 },
    etcd: {
      kind: "dedicated",
      flavor: "k8s-worker",
      generation,
      etcdVolume: { size: 1 },
      steps: { afterKubeadm: "hostname >/etc/after" },
    },
    workers: { general: { flavor: "k8s-worker", count: 1 } },
    samples: false,
  });
  const changed = of(0);
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  /**
   * Requires that each etcd machine sees all etcd machines as voting members, and that the
   * verification of the cluster succeeds.
   */
  const prove = async (): Promise<void> => {
    const machines = stack.outputs.etcd ?? [];
    const names = ["apart-etcd-0", "apart-etcd-1", "apart-etcd-2"];
    for (const { serverId, name } of machines) {
      const members = await etcdMembers(serverId);
      assert.deepEqual(members.map((member) => member.name).sort(), names, name);
      assert.ok(members.every(({ started, learner }) => started && !learner));
      const own = await inServer(serverId, "findmnt -n -o FSTYPE /var/lib/etcd; cat /etc/after");
      assert.equal(own, `ext4\n${name}\n`);
    }
    assert.deepEqual(machines.map(({ name }) => name).sort(), names);
    assert.deepEqual(await unwell(), []);
  };
  /**
   * Returns the etcd machines that `status` reports as unhealthy. Requires that `status` lists all
   * three.
   */
  const unwell = async (): Promise<string[]> => {
    const { machines, verification } = await stack.cluster.service.status(stack.name);
    assert.equal(machines.filter(({ role }) => role === "etcd").length, 3);
    const asked = verification?.machines ?? [];
    assert.equal(asked.length, 3, JSON.stringify(asked));
    return asked.filter(({ ok }) => !ok).map(({ where }) => where);
  };

  it("starts before the control plane, which runs no etcd and has no key of etcd's authority", async () => {
    await stack.up(changed);
    await prove();
    const controlPlane = stack.serverOf("control-plane-0");
    const pods = await inServer(controlPlane, "ls /etc/kubernetes/manifests");
    assert.match(pods, /kube-apiserver\.yaml/);
    assert.doesNotMatch(pods, /etcd/);
    const keys = await inServer(controlPlane, "find /etc/kubernetes -path '*etcd*' -name '*.key'");
    assert.equal(keys.trim(), "/etc/kubernetes/etcd/client.key");
  });

  it("has no changes on a second `up`", async () => {
    await stack.up(changed);
    assert.deepEqual(changes(stack.cluster.seen.events), {});
  });

  it("replaces a member whose server was deleted, without scripts on other machines", async () => {
    const others = [...stack.outputs.nodes, ...(stack.outputs.etcd ?? [])].filter(
      ({ name }) => name !== "apart-etcd-0",
    );
    const runs = (): Promise<number[]> =>
      Promise.all(others.map(({ serverId }) => scriptRuns(serverId)));
    const before = await runs();
    const lost = await stack.lose("etcd-0");
    // The first attempts may fail, because the API server may wait for the lost member.
    await until(async () => String(await unwell().catch(() => [])) === "apart-etcd-0");
    await stack.up(changed, true);
    assert.notEqual(stack.serverOf("etcd-0"), lost);
    assert.deepEqual(await runs(), before);
    await prove();
  });

  it("replaces its machines one at a time for a new generation, while the API keeps answering", async () => {
    const ids = (): string[] => (stack.outputs.etcd ?? []).map(({ serverId }) => serverId);
    const nodes = stack.outputs.nodes.map(({ serverId }) => serverId);
    const [before, use] = [ids(), useApi(stack.outputs.kubeconfig)];
    await stack.up(of(1));
    const { longestGap, answered, said } = await use.end();
    assert.equal(ids().filter((id) => before.includes(id)).length, 0);
    assert.deepEqual(
      stack.outputs.nodes.map(({ serverId }) => serverId),
      nodes,
    );
    const replaced = stack.cluster.seen.events.flatMap((event) =>
      event.type === "resource" && event.state === "finished" && event.kind === "Instance"
        ? [`${event.change} ${event.name}`]
        : [],
    );
    assert.deepEqual(
      replaced.filter((line) => /replace/.test(line) && !line.startsWith("replace ")),
      [0, 1, 2].flatMap((position) =>
        ["delete-replaced", "create-replacement"].map(
          (what) => `${what} apart-etcd-${String(position)}-server`,
        ),
      ),
    );
    await prove();
    // The API server connects to another etcd member if its current member disappears.
    assert.ok(answered > 300 && longestGap < 30_000, said);
    await stack.again(of(1));
  });

  it("is destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});
