import { strict as assert } from "node:assert";
import fc from "fast-check";
import { parseClusterSpec, type ClusterSpec } from "../../../../components/config/cluster-spec.js";
import { topologies } from "../../../../components/config/topology.js";
import { plainGroup, smallest } from "../../../support/config/spec.js";

const { workers: general, ...without } = smallest;
const flavor = "medium";
const pool = (count: number) => ({ general: { flavor, count } });

const spec = (written: object): ClusterSpec => {
  const result = parseClusterSpec({ ...without, ...written });
  assert.ok("spec" in result, JSON.stringify(result));
  return result.spec;
};
const problems = (written: object): string[] => {
  const result = parseClusterSpec({ ...without, ...written });
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path}: ${message}`)
    : [];
};

describe("topology", () => {
  it("sets the cluster's shape by one word", () => {
    const shapes = [
      ["single", {}],
      ["one-control-plane", { workers: general }],
      ["ha", { workers: general }],
    ] as const;
    assert.deepEqual(
      shapes.map(([topology, more]) => {
        const { controlPlane, endpoint, workers } = spec({ topology, ...more });
        const { count, schedulable } = controlPlane;
        return [topology, count, schedulable, endpoint.kind, Object.keys(workers)];
      }),
      [
        ["single", 1, true, "floating-ip", []],
        ["one-control-plane", 1, false, "floating-ip", ["general"]],
        ["ha", 3, false, "load-balancer", ["general"]],
      ],
    );
  });

  it("keeps the user's other settings", () => {
    const five = { flavor, count: 5, generation: 0, schedulable: true };
    const { controlPlane, endpoint } = spec({
      topology: "ha",
      controlPlane: five,
      workers: pool(2),
      endpoint: { kind: "virtual-ip" },
    });
    assert.deepEqual([controlPlane, endpoint.kind], [{ ...five, ...plainGroup }, "virtual-ip"]);
  });

  it("refuses contradictions all at once, with what to write", () => {
    assert.deepEqual(
      problems({ topology: "ha", controlPlane: { flavor, count: 1 }, workers: pool(1) }),
      [
        "cluster.controlPlane.count: 1 is not what the topology ha has; write 3 or 5, or leave `topology` out",
        "cluster.workers: the topology ha has at least 2 workers; write pools with so many machines together, or leave `topology` out",
      ],
    );
    assert.deepEqual(problems({ topology: "single", workers: pool(1) }), [
      "cluster.workers: the topology single has none; leave them out, or leave `topology` out",
    ]);
    assert.deepEqual(problems({ topology: "big", workers: pool(1) }), [
      'cluster.topology: "big" is no topology; write one of single, one-control-plane, ha',
    ]);
  });

  it("is optional: every shape can be written out, which changes no other defaults", () => {
    const { controlPlane, endpoint } = spec({ workers: pool(0) });
    assert.deepEqual(
      [controlPlane.count, controlPlane.schedulable, endpoint.kind],
      [1, false, "floating-ip"],
    );
    assert.deepEqual(problems({}), [
      "cluster.workers: is missing; write a pool like `general: {flavor: ..., count: 2}`, or `topology: single`",
    ]);
    assert.deepEqual(problems({ controlPlane: { flavor, schedulable: true } }), []);
  });

  it("needs a machine without taints for samples and for the ingress controller", () => {
    const tainted = (effect: string) => ({ taints: [{ key: "gpu", effect }] });
    const pools = (effect: string, more: object = {}) => ({
      workers: { gpu: { flavor, count: 2, ...tainted(effect) }, ...more },
    });
    const message =
      "has pods, and no machine without taints runs pods; write a worker's pool with a count and without taints, or leave it out";
    const ingress = { kind: "service" };
    for (const effect of ["NoSchedule", "NoExecute"]) {
      assert.deepEqual(problems({ samples: true, ingress, ...pools(effect) }), [
        `cluster.samples: ${message}`,
        `cluster.ingress: ${message}`,
      ]);
      assert.deepEqual(problems({ samples: true, ...pools(effect, pool(1)) }), []);
      assert.equal(problems({ samples: true, ...pools(effect, pool(0)) }).length, 1);
    }
    assert.deepEqual(problems({ samples: true, ...pools("PreferNoSchedule") }), []);
    const schedulable = { flavor, schedulable: true };
    assert.deepEqual(
      problems({ samples: true, controlPlane: schedulable, ...pools("NoSchedule") }),
      [],
    );
  });

  it("needs a machine on which the cluster's DNS runs", () => {
    const taints = [{ key: "example.org/a", effect: "NoSchedule" }];
    const controlPlane = { flavor, taints };
    assert.deepEqual(problems({ controlPlane, workers: general }), []);
    assert.deepEqual(
      problems({ controlPlane, workers: { general: { flavor, count: 1, taints } } }),
      [
        "cluster.controlPlane.taints: leave no machine for the cluster's DNS; leave them out, or write a pool of workers without taints",
      ],
    );
    assert.deepEqual(problems({ workers: { general: { flavor, count: 1, taints } } }), []);
  });

  it("equals its written-out settings", () => {
    const chosen = fc.constantFrom(...topologies);
    fc.assert(
      fc.property(chosen, fc.integer({ min: 2, max: 9 }), (topology, count) => {
        const workers = topology === "single" ? {} : pool(count);
        const { topology: word, ...short } = spec({ topology, workers });
        const { controlPlane, endpoint } = short;
        assert.deepEqual(spec({ controlPlane, endpoint, workers }), short, word);
      }),
    );
  });
});
