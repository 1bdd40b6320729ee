import { strict as assert } from "node:assert";
import type * as PhasesModule from "../../automation/pulumi/phases.js";
import type * as ClusterOutputsModule from "../../automation/verify/cluster-outputs.js";
import type * as BastionModule from "../../components/access/bastion.js";
import type * as ClusterModule from "../../components/cluster.js";
import type * as ClusterSpecModule from "../../components/config/cluster-spec.js";
import type * as GroupOptionsModule from "../../components/config/machines/group-options.js";
import type * as VolumesModule from "../../components/config/machines/volumes.js";
import type * as RolesModule from "../../components/config/roles.js";
import type * as MachineGroupModule from "../../components/machine/machine-group.js";
import type * as PreparationModule from "../../components/machine/preparation.js";
import type * as FieldsModule from "../../components/schema/fields.js";
import type * as SeparateGroupsModule from "../../components/separate-groups.js";
import type { Cluster } from "../../components/cluster.js";
import type { SeparateGroupDefinition } from "../../components/config/machines/separate-group-definition.js";
import type { RoleRow } from "../../components/config/roles.js";
import type { RolloutGroupArgs } from "../../components/machine/machine-group.js";
import type { MachineConnections } from "../../components/machine/machine-connections.js";
import type { ClusterSpec } from "../../components/config/cluster-spec.js";
import type { ComponentResourceOptions } from "@pulumi/pulumi";
import { cloudAnswers } from "../support/cloud/cloud-answers.js";
import { smallest } from "../support/config/spec.js";
import { withFreshModules } from "../support/graph/fresh-modules.js";
import { graph, type Row } from "../support/graph/graph.js";
import { value } from "../support/graph/output-value.js";

type Load = (path: string) => unknown;

/**
 * Returns the file of the role's arguments, which would be components/config/machines/gateway.ts.
 */
function gatewayArguments(load: Load): SeparateGroupDefinition {
  const { doc, nonEmptyTextField, strictObject, integerField } = load(
    "components/schema/fields.ts",
  ) as typeof FieldsModule;
  const { groupFieldSchemas, nodesSchema } = load(
    "components/config/machines/group-options.ts",
  ) as typeof GroupOptionsModule;
  const { workerVolumeSchemas } = load(
    "components/config/machines/volumes.ts",
  ) as typeof VolumesModule;
  return {
    schema: strictObject({
      flavor: nonEmptyTextField("a flavor").meta(doc("replaces nodes", "Flavor.")),
      count: integerField(1, "a number").meta(doc("in place", "Number of machines.")),
      generation: integerField(0, "a generation")
        .default(0)
        .meta(doc("replaces nodes", "Raise it.")),
      ...groupFieldSchemas,
      ...workerVolumeSchemas.all,
      nodes: nodesSchema(workerVolumeSchemas.one),
    }).optional(),
    group: (written) => written,
    conflicts: [],
  };
}

/** Returns the file of the role's component. */
function gatewayClass(load: Load) {
  const { MachineGroup } = load("components/machine/machine-group.ts") as typeof MachineGroupModule;
  const { bastionStep } = load("components/access/bastion.ts") as typeof BastionModule;
  const { getHostValues } = load("components/machine/preparation.ts") as typeof PreparationModule;
  return class Gateway extends MachineGroup {
    constructor(name: string, args: RolloutGroupArgs, opts?: ComponentResourceOptions) {
      super("stackadm:machine:Gateway", name, { ...args, steps: [bastionStep] }, opts);
    }

    formCluster(spec: ClusterSpec, access: MachineConnections): void {
      for (const member of this.members)
        this.script(member, "prepare", { access, step: bastionStep, values: getHostValues(spec) });
    }
  };
}

const gatewayRow = (row: RoleRow): RoleRow => ({
  ...row,
  title: "gateway",
  sshEntry: false,
  proofs: ["login"],
});

/** Adds the role to the two tables that list roles: config/roles.ts and separate-groups.ts. */
function addRole(load: Load): void {
  const { roleTable, separateGroupDefinitions } = load(
    "components/config/roles.ts",
  ) as typeof RolesModule;
  Object.assign(separateGroupDefinitions, { gateway: gatewayArguments(load) });
  Object.assign(roleTable, { gateway: gatewayRow(roleTable.bastion) });
  const { separateGroupClasses } = load(
    "components/separate-groups.ts",
  ) as typeof SeparateGroupsModule;
  Object.assign(separateGroupClasses, { gateway: gatewayClass(load) });
}

const gateway = { flavor: "small", count: 2, generation: 0 };
const clusterClass = (load: Load) =>
  (load("components/cluster.ts") as typeof ClusterModule).Cluster;

async function build(
  load: Load,
  args: object,
): Promise<{ rows: readonly Row[]; cluster: Cluster }> {
  const Type = clusterClass(load);
  let cluster: Cluster | undefined;
  const rows = await graph(() => {
    cluster = new Type("dev", { ...smallest, ...args });
  }, cloudAnswers);
  return { rows, cluster: cluster ?? assert.fail() };
}

const named = (rows: readonly Row[], name: string): Row =>
  rows.find((row) => row.name === name) ?? assert.fail(name);

describe("a role of machines that are not nodes", () => {
  const withRole = <Result>(work: (load: Load) => Promise<Result>): Promise<Result> =>
    withFreshModules((load) => {
      addRole(load);
      return work(load);
    });

  it("puts machines into their own security group, which the entry machine reaches", async () => {
    const { rows } = await withRole((load) => build(load, { gateway }));
    const ports = rows.filter(({ type, name }) => /port:Port$/.test(type) && /gateway/.test(name));
    assert.deepEqual(
      ports.map(({ inputs }) => [inputs["name"], inputs["securityGroupIds"]]),
      [0, 1].map((position) => [`dev-gateway-${String(position)}`, ["dev-firewall-gateway-id"]]),
    );
    const rules = rows.flatMap(({ type, name }) =>
      type.endsWith(":SecGroupRule") && name.includes("-gateway-") ? [name] : [],
    );
    assert.deepEqual(rules, [
      "dev-firewall-gateway-ssh-onward-from-control-plane-v4",
      "dev-firewall-gateway-ssh-onward-from-control-plane-v6",
    ]);
    const script = named(rows, "dev-gateway-1-prepare");
    assert.ok(
      script.propertyDependencies["connection"]?.some((urn) =>
        urn.endsWith("::dev-control-plane-0-scripts"),
      ),
    );
  });

  it("has outputs, host keys and a verification", async () => {
    const { outputs, machines, phase, checks } = await withRole(async (load) => {
      const { rows, cluster } = await build(load, { gateway });
      const { getMachines, parseOutputs } = load(
        "automation/verify/cluster-outputs.ts",
      ) as typeof ClusterOutputsModule;
      const { findResourcePhase } = load("automation/pulumi/phases.ts") as typeof PhasesModule;
      const { roleTable } = load("components/config/roles.ts") as typeof RolesModule;
      const separate = Object.entries(cluster.separateMachines);
      const written = {
        kubeconfig: "",
        clusterName: "dev",
        apiEndpoint: "",
        nodes: await value(cluster.nodes),
        hostKeys: await value(cluster.hostKeys),
        ...Object.fromEntries(
          await Promise.all(separate.map(async ([role, of]) => [role, await value(of)] as const)),
        ),
      };
      return {
        outputs: written,
        machines: getMachines(parseOutputs(written)),
        phase: findResourcePhase(named(rows, "dev-gateway").urn),
        checks: (roleTable as Record<string, RoleRow>)["gateway"]?.proofs,
      };
    });
    const ofRole = machines.filter(({ role }) => role === "gateway");
    assert.deepEqual(
      ofRole.map(({ name, sshThrough }) => [name, sshThrough]),
      [
        ["dev-gateway-0", "dev-control-plane-0"],
        ["dev-gateway-1", "dev-control-plane-0"],
      ],
    );
    assert.ok(outputs.hostKeys.some((line) => line.startsWith("dev-gateway-1,")));
    assert.equal(phase, "servers");
    assert.deepEqual(checks, ["login"]);
  });

  it("is validated together with the other arguments", async () => {
    const problems = await withRole((load) => {
      const { parseClusterSpec } = load(
        "components/config/cluster-spec.ts",
      ) as typeof ClusterSpecModule;
      const result = parseClusterSpec({
        ...smallest,
        name: "dev",
        workers: { gateway: { flavor: "small", count: 1 } },
        gateway: {
          ...gateway,
          nodes: { "2": { flavor: "large" } },
          rootVolume: { size: 5, zone: "{zone}" },
        },
      });
      return Promise.resolve("problems" in result ? result.problems.map(({ path }) => path) : []);
    });
    assert.deepEqual(problems, [
      "cluster.workers.gateway",
      "cluster.gateway.nodes.2",
      "cluster.gateway.rootVolume.zone",
    ]);
  });

  it("records generation and volumes in the immutable values", async () => {
    const values = await withRole(async (load) => {
      const { rows } = await build(load, {
        gateway: { ...gateway, generation: 1, rootVolume: { size: 5 } },
      });
      return named(rows, "dev-frozen").inputs["environment"] as Readonly<Record<string, string>>;
    });
    assert.equal(values["gateway.generation"], "1 1");
    assert.equal(values["gateway.rootVolume.size"], "a volume of its own");
  });

  it("changes nothing in a cluster without such machines", async () => {
    const urns = ({ rows }: { rows: readonly Row[] }) => rows.map(({ urn }) => urn);
    const args = { access: "bastion", bastion: { flavor: "tiny" } };
    const without = await withFreshModules((load) => build(load, args));
    assert.ok(urns(without).some((urn) => urn.endsWith("::dev-bastion")));
    assert.deepEqual(urns(await withRole((load) => build(load, args))), urns(without));
  });
});
