import assert from "node:assert/strict";
import {
  parseOutputs,
  type ClusterOutputs,
} from "../../../../automation/verify/cluster-outputs.js";
import {
  compareInventories,
  takeInventory,
  type CloudObject,
} from "../../../../openstack/inventory/inventory.js";
import { etcdMembers } from "../kubernetes/etcd.js";
import { until } from "../cloud/foreign.js";
import { kubectlOn } from "../kubernetes/kubectl.js";
import { changes, labCluster, type LabCluster } from "./lab-cluster.js";
import { inServer } from "../machines/machines.js";
import { openedState, type OpenedResource } from "./secrets.js";

const lease = "-n kube-system get lease kube-controller-manager -o jsonpath={.spec.holderIdentity}";

export type Changes = Readonly<Record<string, unknown>>;

/** Stack on the lab, with operations and checks of its machines. */
export class Stack {
  cluster!: LabCluster;
  initially: CloudObject[] = [];
  outputs!: ClusterOutputs;

  /** `described` contains the cluster's arguments. @default machines of the dev stack */
  constructor(
    readonly name: string,
    private readonly described?: Changes,
  ) {}

  protected make(): Promise<LabCluster> {
    return labCluster(this.name, this.described);
  }

  async open(): Promise<void> {
    this.cluster = await this.make();
    this.initially = await takeInventory(this.cluster.cloud);
  }

  async up(changed: Changes = {}, refresh = false): Promise<void> {
    const { cluster, name } = this;
    cluster.seen.events.length = 0;
    const settings = cluster.settings(changed);
    await cluster.service.up(name, { settings, refresh, ...cluster.recording() });
    this.outputs = parseOutputs(await cluster.service.outputs(name));
  }

  /** Runs `up` again, which must not change anything. */
  async again(changed: Changes = {}): Promise<void> {
    await this.up(changed);
    assert.deepEqual(changes(this.cluster.seen.events), {});
  }

  serverOf(machine: string): string {
    const found = [...this.outputs.nodes, ...(this.outputs.etcd ?? [])].find(
      ({ name }) => name === `${this.name}-${machine}`,
    );
    assert.ok(found, machine);
    return found.serverId;
  }

  /**
   * Returns the resources in the state with decrypted secrets. Only this process sees the secrets.
   */
  opened(): Promise<OpenedResource[]> {
    return openedState(this.cluster);
  }

  get controlPlanes(): ClusterOutputs["nodes"] {
    return this.outputs.nodes.filter(({ role }) => role === "control-plane");
  }

  /**
   * Requires that every control plane is a voting member of etcd, and that its API server answers
   * at its own address.
   */
  async prove(count: number): Promise<void> {
    const names = this.controlPlanes.map(({ name }) => name).sort();
    assert.equal(names.length, count);
    for (const { name, serverId, address } of this.controlPlanes) {
      const members = await etcdMembers(serverId);
      assert.deepEqual(members.map((member) => member.name).sort(), names, name);
      const voting = members.every(({ started, learner }) => started && !learner);
      assert.ok(voting, JSON.stringify(members));
      const ready = await inServer(serverId, `curl -sk https://${address}:6443/readyz`);
      assert.equal(ready.trim(), "ok", name);
    }
    const members = async () => {
      const { problem, verification } = await this.cluster.service.status(this.name);
      assert.equal(problem, undefined);
      return verification.machines.filter(({ name }) => name === "etcd member");
    };
    // kubelet reports that the etcd pod is ready some seconds after etcd answers.
    await until(async () => (await members()).every(({ ok }) => ok)).catch(() => undefined);
    const found = await members();
    const well = found.filter(({ ok }) => ok).map(({ where }) => where);
    assert.deepEqual(well.sort(), names, JSON.stringify(found));
  }

  /**
   * Returns the control plane whose controller manager holds the lease. Sends the query to a
   * control plane other than `except`.
   */
  async leader(except = ""): Promise<string> {
    const asked = this.controlPlanes.find(({ name }) => name !== except);
    return (await kubectlOn(asked?.serverId ?? "", lease)).split("_")[0] ?? "";
  }

  /**
   * Deletes the server of a machine directly in the cloud, so the program does not know. Returns
   * the server's ID.
   */
  async lose(machine: string): Promise<string> {
    const lost = this.serverOf(machine);
    const { cloud } = this.cluster;
    await cloud.request("compute", "DELETE", `/servers/${lost}`);
    await until(async () => !(await takeInventory(cloud)).some(({ id }) => id === lost));
    return lost;
  }

  protected async destroy(): Promise<void> {
    await this.cluster.service.destroy(this.name, this.cluster.recording());
  }

  async destroyAndLookAround(): Promise<void> {
    await this.destroy();
    const { added, removed } = compareInventories(
      this.initially,
      await takeInventory(this.cluster.cloud),
    );
    assert.deepEqual([added, removed], [[], []]);
  }
}
