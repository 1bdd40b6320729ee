import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  listPlannedControlPlanes,
  getSshEntryRole,
  listPlannedMachines,
  planCluster,
  listSecurityGroupKeys,
} from "../../../../components/plan/cluster-plan.js";
import { plainGroup, plainMachine } from "../../../support/config/spec.js";

const spec = {
  name: "dev",
  image: "debian-12",
  zones: ["zone-a", "zone-b"],
  controlPlane: { ...plainGroup, flavor: "big", count: 3 },
  workers: {
    general: { ...plainGroup, flavor: "small", count: 2, generation: 4 },
    none: { ...plainGroup, flavor: "small", count: 0, generation: 0 },
  },
};

const override = fc.record(
  {
    flavor: fc.constantFrom("huge", "tiny"),
    image: fc.constant("debian-13"),
    zone: fc.constant("z"),
    generation: fc.nat(3),
    runtimeVolume: fc.record({ size: fc.integer({ min: 1, max: 50 }) }),
  },
  { requiredKeys: [] },
);
const fixed = {
  labels: fc.constant({}),
  taints: fc.constant([]),
  tags: fc.constant([]),
  cloudInit: fc.constant([]),
  steps: fc.constant(plainGroup.steps),
  metadata: fc.constant({}),
  schedulerHints: fc.constant({}),
  securityGroups: fc.constant([]),
  spread: fc.constantFrom("soft" as const, "hard" as const, "none" as const),
  nodes: fc.dictionary(fc.constantFrom("0", "1", "2"), override, { noNullPrototype: true }),
};
const pools = fc.dictionary(
  fc.stringMatching(/^[a-z][a-z0-9-]{0,8}[a-z0-9]$/),
  fc.record({
    ...fixed,
    flavor: fc.constant("small"),
    count: fc.nat(5),
    generation: fc.nat(3),
  }),
  { maxKeys: 4, noNullPrototype: true },
);
const specs = fc.record({
  name: fc.constant("dev"),
  zones: fc.uniqueArray(fc.constantFrom("a", "b", "c")),
  image: fc.constant("debian-12"),
  controlPlane: fc.record({
    ...fixed,
    flavor: fc.constant("big"),
    count: fc.constantFrom(1, 3, 5),
  }),
  workers: pools,
});

describe("planCluster", () => {
  it("names every machine after cluster, group and position, the control planes first", () => {
    assert.deepEqual(
      listPlannedMachines(planCluster(spec)).map(({ name, role, zone }) => [name, role, zone]),
      [
        ["dev-control-plane-0", "control-plane", "zone-a"],
        ["dev-control-plane-1", "control-plane", "zone-b"],
        ["dev-control-plane-2", "control-plane", "zone-a"],
        ["dev-general-0", "worker", "zone-a"],
        ["dev-general-1", "worker", "zone-b"],
      ],
    );
  });

  it("contains a group for an empty pool too", () => {
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

  it("leaves the zone to Nova if the user names none", () => {
    const [first] = listPlannedControlPlanes(planCluster({ ...spec, zones: [] }));
    assert.ok(first && !("zone" in first));
  });

  it("gives machines unique names that do not change with the number of machines", () => {
    fc.assert(
      fc.property(specs, (one) => {
        const names = listPlannedMachines(planCluster(one)).map(({ name }) => name);
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
        const grown = new Set(listPlannedMachines(planCluster(more)).map(({ name }) => name));
        assert.ok(names.every((name) => grown.has(name)));
      }),
    );
  });

  it("prefers a machine's own settings to its group's and the cluster's", () => {
    const chosen = {
      ...plainGroup,
      flavor: "small",
      count: 3,
      generation: 1,
      image: "debian-13",
      zones: ["zone-c"],
      nodes: { "1": { flavor: "huge", zone: "zone-d" }, "2": { image: "other", generation: 2 } },
    };
    const { groups } = planCluster({ ...spec, workers: { gpu: chosen } });
    assert.deepEqual(
      groups.map(({ machines }) =>
        machines.map(({ flavor, image, zone, generation }) => [flavor, image, zone, generation]),
      ),
      [
        ["zone-a", "zone-b", "zone-a"].map((zone) => ["big", "debian-12", zone, 0]),
        [
          ["small", "debian-13", "zone-c", 1],
          ["huge", "debian-13", "zone-d", 1],
          ["small", "other", "zone-c", 2],
        ],
      ],
    );
  });

  it("replaces a volume of the group by the machine's own as a whole", () => {
    const { groups } = planCluster({
      ...spec,
      workers: {
        gpu: {
          ...plainGroup,
          flavor: "small",
          count: 2,
          rootVolume: { size: 20 },
          runtimeVolume: { size: 25, type: "fast" },
          nodes: { "1": { runtimeVolume: { size: 50 } } },
        },
      },
    });
    assert.deepEqual(
      groups[1]?.machines.map(({ volumes }) =>
        volumes.map(({ purpose, size, type }) => [purpose, size, type]),
      ),
      [
        [
          ["root", 20, undefined],
          ["runtime", 25, "fast"],
        ],
        [
          ["root", 20, undefined],
          ["runtime", 50, undefined],
        ],
      ],
    );
  });

  it("changes no other machine if one machine gets its own settings", () => {
    fc.assert(
      fc.property(specs, override, fc.nat(4), (one, own, position) => {
        const [before, after] = [
          one,
          {
            ...one,
            controlPlane: {
              ...one.controlPlane,
              nodes: { ...one.controlPlane.nodes, [String(position)]: own },
            },
          },
        ].map((each) =>
          listPlannedMachines(planCluster(each)).filter(
            ({ name }) => name !== `dev-control-plane-${String(position)}`,
          ),
        );
        assert.deepEqual(before, after);
      }),
    );
  });

  it("supports soft, hard and no anti-affinity", () => {
    const policyOf = (spread: "soft" | "hard" | "none") =>
      planCluster({ ...spec, controlPlane: { ...spec.controlPlane, spread } }).groups[0].policy;
    assert.deepEqual((["soft", "hard", "none"] as const).map(policyOf), [
      ...["soft-anti-affinity", "anti-affinity", undefined],
    ]);
  });

  it("puts every machine into the group of all machines and the group of its role", () => {
    assert.deepEqual(listSecurityGroupKeys("worker"), ["node", "worker"]);
    assert.deepEqual(
      planCluster(spec).securityGroups.map(({ name }) => name),
      ["dev-node", "dev-control-plane", "dev-worker"],
    );
  });

  it("contains a bastion that is not a node, in its own zone and security group", () => {
    const bastion = { ...plainMachine, flavor: "tiny", zone: "c", generation: 2 };
    const plan = planCluster({ ...spec, bastion });
    assert.deepEqual(plan.separate[0]?.machines, [
      {
        name: "dev-bastion-0",
        role: "bastion",
        pool: "bastion",
        position: 0,
        zone: "c",
        flavor: "tiny",
        generation: 2,
        image: "debian-12",
        tags: [],
        metadata: {},
        schedulerHints: {},
        volumes: [],
        cloudInit: [],
      },
    ]);
    assert.equal(listPlannedMachines(plan).at(-1)?.name, "dev-bastion-0");
    assert.deepEqual(plan.groups, planCluster(spec).groups);
    assert.deepEqual(
      [getSshEntryRole(plan), getSshEntryRole(planCluster(spec))],
      ["bastion", "control-plane"],
    );
    assert.equal(plan.securityGroups.at(-1)?.name, "dev-bastion");
    assert.deepEqual(listSecurityGroupKeys("bastion"), ["bastion"]);
  });

  it("gives a bastion its own image, root volume and other settings", () => {
    const chosen = { image: "debian-13", tags: ["way-in"], metadata: { owner: "me" } };
    const more = { cloudInit: ["#!/bin/sh\n"], schedulerHints: { query: "[]" } };
    const plan = planCluster({
      ...spec,
      bastion: {
        ...plainMachine,
        flavor: "tiny",
        generation: 0,
        ...chosen,
        ...more,
        rootVolume: { size: 8, type: "fast" },
      },
    });
    const [machine = assert.fail()] = plan.separate[0]?.machines ?? [];
    const { image, tags, metadata, cloudInit, schedulerHints, volumes, zone } = machine;
    assert.deepEqual({ image, tags, metadata, cloudInit, schedulerHints }, { ...chosen, ...more });
    assert.deepEqual(volumes, [
      { purpose: "root", name: "dev-bastion-0-root", size: 8, type: "fast" },
    ]);
    assert.equal(zone, "zone-a");
  });

  it("contains etcd's own machines, which are not nodes, in their own security group", () => {
    const plan = planCluster({ ...spec, etcd: { ...plainGroup, flavor: "fast", count: 3 } });
    assert.deepEqual(
      plan.separate[0]?.machines.map(({ name, zone, flavor }) => [name, zone, flavor]),
      [
        ["dev-etcd-0", "zone-a", "fast"],
        ["dev-etcd-1", "zone-b", "fast"],
        ["dev-etcd-2", "zone-a", "fast"],
      ],
    );
    assert.deepEqual(plan.groups, planCluster(spec).groups);
    assert.equal(listPlannedMachines(plan).length, 8);
    assert.equal(plan.securityGroups.at(-1)?.name, "dev-etcd");
    assert.deepEqual(listSecurityGroupKeys("etcd"), ["etcd"]);
  });

  it("gives etcd's machines all group options, and one machine its own settings", () => {
    const plan = planCluster({
      ...spec,
      etcd: {
        ...plainGroup,
        flavor: "fast",
        count: 2,
        image: "debian-13",
        zones: ["zone-c"],
        spread: "hard",
        steps: { beforeKubeadm: "", afterKubeadm: "exit 0" },
        rootVolume: { size: 20 },
        etcdVolume: { size: 5, type: "fast" },
        nodes: { "1": { zone: "zone-d", address: "10.0.0.9", etcdVolume: { size: 9 } } },
      },
    });
    const { policy, labels, steps, machines } = plan.separate[0] ?? assert.fail();
    assert.deepEqual([policy, labels, steps.afterKubeadm], ["anti-affinity", {}, "exit 0"]);
    assert.deepEqual(
      machines.map(({ image, zone, volumes }) => [
        ...[image, zone],
        ...volumes.map(({ name, size, type }) => [name, size, type]),
      ]),
      [
        [
          ...["debian-13", "zone-c", ["dev-etcd-0-root", 20, undefined]],
          ["dev-etcd-0-etcd", 5, "fast"],
        ],
        [
          ...["debian-13", "zone-d", ["dev-etcd-1-root", 20, undefined]],
          ["dev-etcd-1-etcd", 9, undefined],
        ],
      ],
    );
    assert.deepEqual(plan.addresses, ["10.0.0.9"]);
  });
});
