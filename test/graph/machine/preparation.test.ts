import { strict as assert } from "node:assert";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { smallest } from "../../support/config/spec.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import type { Row } from "../../support/graph/graph.js";

const flavor = "medium";
const args: ClusterArgs = {
  ...smallest,
  topology: "ha",
  controlPlane: { flavor, count: 3 },
  workers: { general: { flavor, count: 2 }, gpu: { flavor, count: 1 } },
  samples: true,
};
const preparation = /^dev-(?:workers-)?(.*)-prepare$/;

/** Returns the URNs on which a resource depends, directly or through other resources. */
function dependenciesOf(rows: readonly Row[], { urn }: Row): Set<string> {
  const direct = new Map(rows.map((row) => [row.urn, row.dependencies]));
  const found = new Set<string>();
  const follow = (from: string): void => {
    for (const dependency of direct.get(from) ?? []) {
      if (found.has(dependency)) continue;
      found.add(dependency);
      follow(dependency);
    }
  };
  follow(urn);
  return found;
}

/**
 * Returns the machines whose preparation each step waits for, by the step's name. The machine's own
 * preparation is not in the list.
 */
function waitsOf(rows: readonly Row[], step: RegExp): Record<string, readonly string[]> {
  const machines = new Map(
    rows.flatMap(({ name, urn }) => {
      const [, machine] = preparation.exec(name) ?? [];
      return machine === undefined ? [] : [[urn, machine]];
    }),
  );
  const steps = rows.filter(({ name, type }) => /:Command$/.test(type) && step.test(name));
  return Object.fromEntries(
    steps.map((row) => {
      const name = row.name.replace(/^dev-(workers-)?/, "");
      const waits = [...dependenciesOf(rows, row)].flatMap((urn) => machines.get(urn) ?? []);
      return [name, waits.filter((machine) => !name.startsWith(`${machine}-`)).sort()];
    }),
  );
}

describe("the preparation of a machine", () => {
  let rows: readonly Row[];
  before(async () => {
    rows = await clusterRows(args);
  });

  it("depends on no other machine's preparation, directly or indirectly", () => {
    assert.deepEqual(waitsOf(rows, preparation), {
      "control-plane-0-prepare": [],
      "control-plane-1-prepare": [],
      "control-plane-2-prepare": [],
      "general-0-prepare": [],
      "general-1-prepare": [],
      "gpu-0-prepare": [],
    });
  });

  it("precedes the joins of other nodes only on control planes", () => {
    const first = ["control-plane-0"];
    assert.deepEqual(waitsOf(rows, /-(init|join)$/), {
      "control-plane-0-init": [],
      "control-plane-1-join": first,
      "control-plane-2-join": ["control-plane-0", "control-plane-1"],
      "general-0-join": first,
      "general-1-join": first,
      "gpu-0-join": first,
    });
  });

  it("depends on the bastion's preparation, because SSH passes through the bastion", async () => {
    const through = ["bastion-0"];
    assert.deepEqual(
      waitsOf(await clusterRows({ ...args, access: "bastion", bastion: { flavor } }), preparation),
      {
        "bastion-0-prepare": [],
        "control-plane-0-prepare": through,
        "control-plane-1-prepare": through,
        "control-plane-2-prepare": through,
        "general-0-prepare": through,
        "general-1-prepare": through,
        "gpu-0-prepare": through,
      },
    );
  });

  it("has no order between etcd machines, whose members join in order", async () => {
    const apart = await clusterRows({ ...args, etcd: { kind: "dedicated", flavor } });
    assert.deepEqual(waitsOf(apart, /-etcd-\d-(prepare|member)$/), {
      "etcd-0-member": [],
      "etcd-0-prepare": [],
      "etcd-1-member": ["etcd-0"],
      "etcd-1-prepare": [],
      "etcd-2-member": ["etcd-0", "etcd-1"],
      "etcd-2-prepare": [],
    });
  });
});
