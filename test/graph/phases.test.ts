import { strict as assert } from "node:assert";
import fc from "fast-check";
import { findResourcePhase, phases, type Phase } from "../../automation/pulumi/phases.js";
import { Cluster } from "../../components/cluster.js";
import type { ClusterArgs } from "../../components/config/cluster-spec.js";
import { cloudAnswers } from "../support/cloud/cloud-answers.js";
import { graph, type Row } from "../support/graph/graph.js";
import { smallest } from "../support/config/spec.js";
import { nonEmpty } from "../support/non-empty.js";

const args: ClusterArgs = { ...smallest, zones: ["zone-a", "zone-b"], samples: true };
const build = (name: string, over: Partial<ClusterArgs> = {}): Promise<readonly Row[]> =>
  graph(() => new Cluster(name, { ...args, ...over }), { ...cloudAnswers, stack: name });

/** Returns the number of resources in each phase. */
const counts = (rows: readonly Row[]): Partial<Record<Phase, number>> => {
  const found: Partial<Record<Phase, number>> = {};
  for (const { urn, custom } of rows) {
    const phase = custom ? findResourcePhase(urn) : undefined;
    if (phase !== undefined) found[phase] = (found[phase] ?? 0) + 1;
  }
  return found;
};

describe("findResourcePhase", () => {
  let rows: readonly Row[];
  before(async () => {
    rows = await build("dev");
  });

  it("finds a phase for every resource except providers", () => {
    const without = rows
      .filter(({ custom, type }) => custom && !type.startsWith("pulumi:providers:"))
      .filter(({ urn }) => findResourcePhase(urn) === undefined)
      .map(({ urn }) => urn);
    assert.deepEqual(without, []);
  });

  it("finds resources for every phase", () => {
    assert.deepEqual(Object.keys(counts(rows)).sort(), [...phases].sort());
  });

  it("finds the phase by the component that registers the resource", () => {
    const phaseOfName = (name: string): Phase | undefined =>
      findResourcePhase(rows.find((row) => row.custom && row.name === name)?.urn ?? "");
    const table: readonly (readonly [string, Phase])[] = [
      ["dev-network-router", "network"],
      ["dev-seed", "security"],
      ["dev-workers-general-0-server", "servers"],
      ["dev-workers-general-0-prepare", "boot"],
      ["dev-control-plane-0-init", "control plane"],
      ["dev-workers-general-0-join", "workers"],
      ["dev-workers-general-0-leave", "workers"],
      ["dev-addons-cloud-config-secret", "cloud and pod network"],
      ["dev-addons-storage-controller", "storage"],
      ["dev-addons-samples-claim", "samples"],
      ["dev-control-plane-teardown", "samples"],
    ];
    for (const [name, phase] of table) assert.equal(phaseOfName(name), phase, name);
  });

  it("finds the same phases if pools and classes are called like steps", async () => {
    const shaped = (pool: string, storageClass: string): Partial<ClusterArgs> => ({
      workers: { [pool]: { flavor: "medium", count: 2 } },
      storageClasses: [{ name: storageClass }],
    });
    assert.deepEqual(
      counts(await build("samples", shaped("prepare", "teardown"))),
      counts(await build("dev", shaped("general", "default"))),
    );
  });

  it("finds the same phase for any names of stack, cluster and pool", () => {
    const name = fc.oneof(
      fc.constantFrom(...["samples", "gold", "prepare", "teardown", "csi", "init", "join"]),
      fc.stringMatching(/^[a-z]([a-z0-9-]{0,20}[a-z0-9])?$/),
    );
    const custom = rows.filter((row) => row.custom);
    fc.assert(
      fc.property(name, name, name, (stack, cluster, pool) => {
        for (const { urn } of nonEmpty(custom)) {
          const renamed = urn
            .replace(/^urn:pulumi:[^:]+/, `urn:pulumi:${stack}`)
            .replace("::dev-", `::${cluster}-`)
            .replace("-general-", `-${pool}-`);
          assert.equal(findResourcePhase(renamed), findResourcePhase(urn), renamed);
        }
      }),
    );
  });
});
