import assert from "node:assert/strict";
import { parseClusterSpec } from "../../../../../components/config/cluster-spec.js";
import {
  findFrozenValueChanges,
  collectFrozenValues,
} from "../../../../../components/config/immutable-fields.js";
import { golden } from "../../../../support/golden.js";
import { smallest } from "../../../../support/config/spec.js";

const problems = (over: object): string[] => {
  const result = parseClusterSpec({ ...smallest, ...over });
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path}: ${message}`)
    : [];
};
const of = (ingress: object) => ({ kind: "workers", pool: "general", ...ingress });
const office = { network: { existing: { network: "office" } }, externalNetwork: undefined };
const inside = { endpoint: { kind: "private" }, access: "direct" };

/** Wrong values with the path that the error must name, one per row. */
const mistakes: readonly (readonly [string, object])[] = [
  ["ingress", { ingress: "workers" }],
  ["ingress.kind", { ingress: { kind: "nginx" } }],
  ["ingress.pool", { ingress: { kind: "workers" } }],
  ["ingress.pool", { ingress: of({ pool: "edge" }) }],
  [
    "ingress.pool",
    {
      ingress: of({ pool: "edge" }),
      workers: { ...smallest.workers, edge: { flavor: "m", count: 0 } },
    },
  ],
  ["ingress.replicas", { ingress: of({ replicas: 3 }) }],
  ["ingress.replicas", { ingress: of({ replicas: 0 }) }],
  ["ingress.public", { ...office, ...inside, ingress: of({}) }],
  ...["proxy-protocol", "x-forwarded-for", "default-tls-container-ref"].map(
    (name): readonly [string, object] => [
      `ingress.annotations.loadbalancer.openstack.org/${name}`,
      {
        ingress: { kind: "service", annotations: { [`loadbalancer.openstack.org/${name}`]: "x" } },
      },
    ],
  ),
  ["ingress", { ingress: { kind: "service", pool: "general" } }],
  ["ingress", { ingress: { kind: "service" }, cloudController: { enabled: false } }],
  ["ingress", { ingress: of({}), loadBalancer: { enabled: false } }],
];

describe("ingress settings", () => {
  for (const [path, over] of mistakes)
    it(`refuse ${JSON.stringify(over)} at ${path}`, () => {
      const found = problems(over);
      assert.equal(found.length, 1, found.join("\n"));
      assert.ok(found[0]?.startsWith(`cluster.${path}: `), found[0]);
    });

  it("produce the reviewed error messages", () => {
    golden("spec-errors-ingress.txt", mistakes.flatMap(([, over]) => problems(over)).join("\n"));
  });

  it("accept every kind, with defaults", () => {
    const rows = [
      [{ kind: "service" }, { kind: "service", replicas: 2, defaultClass: true, public: true }],
      [of({}), of({ replicas: 2, defaultClass: true, public: true })],
    ];
    for (const [written, expected] of rows) {
      const result = parseClusterSpec({ ...smallest, ingress: written });
      assert.ok("spec" in result);
      assert.deepEqual(result.spec.ingress, expected);
    }
  });

  it("may be added, removed and changed in an existing cluster", () => {
    const frozen = (over: object) => {
      const result = parseClusterSpec({ ...smallest, ...over });
      assert.ok("spec" in result);
      return collectFrozenValues(result.spec);
    };
    const [having, without] = [frozen({ ingress: of({}) }), frozen({})];
    assert.deepEqual(
      [findFrozenValueChanges(having, without), findFrozenValueChanges(without, having)],
      [[], []],
    );
    assert.deepEqual(
      findFrozenValueChanges(having, frozen({ ingress: of({ public: false }) })),
      [],
    );
  });

  it("work without a cloud controller and without floating IPs", () => {
    assert.deepEqual(problems({ ingress: of({}), cloudController: { enabled: false } }), []);
    assert.deepEqual(problems({ ...office, ...inside, ingress: of({ public: false }) }), []);
  });
});
