import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  controlPlanesOf,
  entryRole,
  machinesOf,
  planCluster,
  securityGroupsOf,
} from "../../../../components/plan/cluster-plan.js";
import { roleTable } from "../../../../components/plan/roles.js";

const spec = {
  name: "dev",
  zones: ["zone-a", "zone-b"],
  controlPlane: { flavor: "big", count: 3 },
  workers: {
    general: { flavor: "small", count: 2, generation: 4 },
    none: { flavor: "small", count: 0, generation: 0 },
  },
};

const pools = fc.dictionary(
  fc.stringMatching(/^[a-z][a-z0-9-]{0,8}[a-z0-9]$/),
  fc.record({
    flavor: fc.constant("small"),
    count: fc.nat(5),
    generation: fc.nat(3),
  }),
  { maxKeys: 4, noNullPrototype: true },
);
const specs = fc.record({
  name: fc.constant("dev"),
  zones: fc.uniqueArray(fc.constantFrom("a", "b", "c")),
  controlPlane: fc.record({ flavor: fc.constant("big"), count: fc.constantFrom(1, 3, 5) }),
  workers: pools,
});

describe("the plan of a cluster", () => {
  it("names every machine after cluster, group and position, the control planes first", () => {
    assert.deepEqual(
      machinesOf(planCluster(spec)).map(({ name, role, zone }) => [name, role, zone]),
      [
        ["dev-control-plane-0", "control-plane", "zone-a"],
        ["dev-control-plane-1", "control-plane", "zone-b"],
        ["dev-control-plane-2", "control-plane", "zone-a"],
        ["dev-general-0", "worker", "zone-a"],
        ["dev-general-1", "worker", "zone-b"],
      ],
    );
  });

  it("has a group for a pool without machines too: it may get some", () => {
    const { groups } = planCluster(spec);
    assert.deepEqual(
      groups.map(({ name, machines }) => [name, machines.length]),
      [
        ["dev-control-plane", 3],
        ["dev-general", 2],
        ["dev-none", 0],
      ],
    );
  });

  it("leaves the zone to Nova when none is named", () => {
    const [first] = controlPlanesOf(planCluster({ ...spec, zones: [] }));
    assert.ok(first && !("zone" in first));
  });

  it("never gives two machines one name, nor one machine another name when others come or go", () => {
    fc.assert(
      fc.property(specs, (one) => {
        const names = machinesOf(planCluster(one)).map(({ name }) => name);
        assert.equal(new Set(names).size, names.length);
        const more = {
          ...one,
          workers: Object.fromEntries(
            Object.entries(one.workers).map(([pool, size]) => [
              pool,
              { ...size, count: size.count + 1 },
            ]),
          ),
        };
        const grown = new Set(machinesOf(planCluster(more)).map(({ name }) => name));
        assert.ok(names.every((name) => grown.has(name)));
      }),
    );
  });

  it("puts every machine into the group of all and that of its role", () => {
    assert.deepEqual(securityGroupsOf("worker"), ["node", "worker"]);
    assert.deepEqual(
      planCluster(spec).securityGroups.map(({ name }) => name),
      ["dev-node", "dev-control-plane", "dev-worker"],
    );
  });

  it("has a bastion that is none of the nodes, in its zone and its own security group", () => {
    const plan = planCluster({ ...spec, bastion: { flavor: "tiny", zone: "c", generation: 2 } });
    assert.deepEqual(plan.bastion?.machines, [
      {
        ...{ name: "dev-bastion-0", role: "bastion", pool: "bastion", position: 0 },
        ...{ zone: "c", flavor: "tiny", generation: 2 },
      },
    ]);
    assert.equal(machinesOf(plan).at(-1)?.name, "dev-bastion-0");
    assert.deepEqual(plan.groups, planCluster(spec).groups);
    assert.deepEqual([entryRole(plan), entryRole(planCluster(spec))], ["bastion", "control-plane"]);
    assert.equal(plan.securityGroups.at(-1)?.name, "dev-bastion");
    assert.deepEqual(securityGroupsOf("bastion"), ["bastion"]);
  });

  it("has etcd's own machines, which are no nodes, in a security group of their own", () => {
    const plan = planCluster({ ...spec, etcd: { flavor: "fast", count: 3 } });
    assert.deepEqual(
      plan.etcd?.machines.map(({ name, zone, flavor }) => [name, zone, flavor]),
      [
        ["dev-etcd-0", "zone-a", "fast"],
        ["dev-etcd-1", "zone-b", "fast"],
        ["dev-etcd-2", "zone-a", "fast"],
      ],
    );
    assert.deepEqual(plan.groups, planCluster(spec).groups);
    assert.equal(machinesOf(plan).length, 8);
    assert.equal(plan.securityGroups.at(-1)?.name, "dev-etcd");
    assert.deepEqual(securityGroupsOf("etcd"), ["etcd"]);
  });

  it("knows a role that is added to the table, and only by its row", () => {
    const groups = planCluster(spec, {
      ...roleTable,
      gateway: { ...roleTable.worker, title: "gateway" },
    }).securityGroups;
    assert.deepEqual(groups.at(-1), {
      group: "gateway",
      name: "dev-gateway",
      description: "Machines of cluster dev with the role gateway",
    });
  });
});
