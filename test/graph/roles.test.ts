import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import { connectionsWithoutProxy } from "../../components/access/ssh-route.js";
import type { Endpoint } from "../../components/endpoint/endpoint.js";
import { ControlPlane } from "../../components/kubeadm/control-planes.js";
import type { KubeadmInitResult } from "../../components/kubeadm/kubeadm-init-result.js";
import { WorkerPool } from "../../components/kubeadm/worker-pool.js";
import type { CommonMachineSettings } from "../../components/machine/machine.js";
import { Rollout } from "../../components/lifecycle/rollout.js";
import { Firewall } from "../../components/network/firewall.js";
import { getFirewallRules } from "../../components/network/firewall-plan.js";
import { planCluster, type PlannedGroup } from "../../components/plan/cluster-plan.js";
import { roleTable, type MachineRole, type RoleRow } from "../../components/config/roles.js";
import { UnreachableServers } from "../../components/lifecycle/unreachable-servers.js";
import { canarySeed, cloudAnswers, sampleIdentity } from "../support/cloud/cloud-answers.js";
import { graph, type Row } from "../support/graph/graph.js";
import { renderSentScript } from "../support/graph/sent.js";
import { specOf } from "../support/config/spec.js";
import { knownObjects } from "../support/graph/known-objects.js";

const invented = "gateway" as MachineRole;
const table = roleTable as Record<string, RoleRow>;

describe("a role added to roleTable", () => {
  const pool = { flavor: "medium", count: 1 };
  const spec = specOf({ workers: { edge: pool } });
  after(() => {
    Reflect.deleteProperty(table, invented);
  });

  /** Returns the resources of a pool of such machines, and of the control plane that they join. */
  const rowsOf = (row: RoleRow): Promise<readonly Row[]> => {
    table[invented] = row;
    const plan = planCluster(spec);
    const [leading, edge] = plan.groups;
    assert.ok(edge);
    const planned: PlannedGroup = {
      ...edge,
      role: invented,
      machines: edge.machines.map((machine) => ({ ...machine, role: invented })),
    };
    const mark = { name: "dev", identity: sampleIdentity };
    const machines: CommonMachineSettings = {
      mark,
      objects: knownObjects({ imageIds: {}, flavorIds: {}, securityGroupIds: {} }),
      networkId: "network",
      subnetId: "subnet",
      portSecurity: true,
      routedRanges: ["10.244.0.0/16"],
      routesOfCloud: false,
      login: spec.ssh,
      seed: canarySeed,
      failed: UnreachableServers.forRun(),
    };
    const endpoint: Pick<Endpoint, "getInternalAddresses"> = {
      getInternalAddresses: (addresses) => pulumi.all([...addresses]),
    };
    const facts = { caCertHash: pulumi.output("sha256:a") };
    const { direct: access } = connectionsWithoutProxy;
    assert.ok(access);
    return graph(() => {
      const firewall = new Firewall("dev-firewall", {
        mark,
        groups: plan.securityGroups,
        rules: getFirewallRules(spec),
      });
      const group = (of: PlannedGroup) => ({
        plan: of,
        machines,
        turns: new Rollout(undefined),
        securityGroupIds: row.node ? firewall.groupIds(of.role) : [],
      });
      const controlPlane = new ControlPlane("dev-control-plane", group(leading));
      new WorkerPool("dev-edge", group(planned)).join({
        spec,
        machines,
        access,
        controlPlane,
        endpoint: endpoint as Endpoint,
        facts: facts as KubeadmInitResult,
      });
    }, cloudAnswers);
  };
  const named = (rows: readonly Row[], name: string): Row => {
    const found = rows.find((row) => row.name === name);
    assert.ok(found, name);
    return found;
  };
  const input = (rows: readonly Row[], name: string): string =>
    renderSentScript(named(rows, name).inputs);

  it("determines security groups, images, join and leave of its machines", async () => {
    const rows = await rowsOf({ ...roleTable.worker, kubeadmImages: ["pause"] });
    const { inputs } = named(rows, "dev-edge-0-port");
    assert.deepEqual(inputs["securityGroupIds"], [
      ...["dev-firewall-node-id", "dev-firewall-gateway-id"],
    ]);
    assert.deepEqual(inputs["allowedAddressPairs"], [{ ipAddress: "10.244.0.0/16" }]);
    assert.match(input(rows, "dev-edge-0-prepare"), /^KUBEADM_IMAGES='\/\(pause\):'$/m);
    const join = input(rows, "dev-edge-0-join");
    assert.match(join, /stackadm\.io\/pool=edge/);
    assert.doesNotMatch(join, /certificateKey/);
    assert.match(input(rows, "dev-edge-0-leave"), /^LEAVES='drain'$/m);
  });

  it("has no pool label if its row gives none, like a control plane", async () => {
    const { "control-plane": like } = roleTable;
    const rows = await rowsOf({ ...like, label: "example.org/gateway" });
    const join = input(rows, "dev-edge-0-join");
    assert.match(join, /certificateKey/);
    assert.doesNotMatch(join, /node-labels/);
    assert.match(input(rows, "dev-edge-0-prepare"), /^ETCD_DISK='\/var\/lib\/etcd'$/m);
    assert.match(input(rows, "dev-edge-0-leave"), /^LEAVES='drain remove-etcd-member'$/m);
  });

  it("omits empty leave scripts, and address pairs of machines that are not nodes", async () => {
    const rows = await rowsOf({ ...roleTable.worker, leaves: [] });
    assert.ok(!rows.some(({ name }) => name === "dev-edge-0-leave"));
    assert.ok(rows.some(({ name }) => name === "dev-edge-0-join"));
    const apart = await rowsOf({ ...roleTable.worker, node: false, runsEtcd: true });
    assert.deepEqual(named(apart, "dev-edge-0-port").inputs["allowedAddressPairs"], []);
  });
});
