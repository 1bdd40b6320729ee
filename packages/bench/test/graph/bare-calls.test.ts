import assert from "node:assert/strict";
import { lookUpCloudFacts } from "../../support/bare/cloud.js";
import { DryRunCloud, createDryRunCreators } from "../../support/bare/dry-run-cloud.js";
import {
  createClusterWithoutEngine,
  type BareRunResult,
  type ResourceCreators,
} from "../../support/bare/run-without-engine.js";
import { requiredLookups } from "../../../../components/cloud-requirements.js";
import type { ClusterArgs } from "../../../../components/config/cluster-spec.js";
import { specOf } from "../../../../test/support/config/spec.js";

const ofLab: Partial<ClusterArgs> = {
  controlPlane: { flavor: "k8s-control-plane" },
  workers: { general: { flavor: "k8s-worker", count: 2 } },
  samples: true,
};

/** Runs the calls and returns a log of them, in order. */
async function rehearse(
  over: Partial<ClusterArgs> = {},
  change: (
    hands: ResourceCreators,
    done: readonly string[],
  ) => Partial<ResourceCreators> = () => ({}),
): Promise<{ readonly done: readonly string[]; readonly made: BareRunResult }> {
  const done: string[] = [];
  const say = (line: string): void => {
    done.push(line);
  };
  const spec = specOf({ ...ofLab, ...over });
  const hands = createDryRunCreators(say);
  const facts = await lookUpCloudFacts(new DryRunCloud(say), requiredLookups(spec));
  const made = await createClusterWithoutEngine(spec, facts, { ...hands, ...change(hands, done) });
  return { done, made };
}

const count = (done: readonly string[], beginning: string): number =>
  done.filter((line) => line.startsWith(beginning)).length;

describe("createBareCluster", () => {
  it("creates each object by one request, and looks up nothing twice", async () => {
    const { done } = await rehearse();
    assert.equal(count(done, "GET "), 3);
    assert.equal(count(done, "POST compute /servers"), 3);
    assert.equal(count(done, "POST network /security-group-rules"), 3, "one for each group");
    assert.equal(count(done, "SSH "), 6, "two for each machine");
    const twice = done.filter((line, index) => done.indexOf(line) !== index);
    assert.deepEqual(twice, []);
  });

  it("returns outputs and the record of its work", async () => {
    const { made } = await rehearse();
    assert.equal(made.outputs.nodes.length, 3);
    assert.match(made.outputs.apiEndpoint, /^https:\/\/203\.0\.113\.\d+:6443$/);
    const kinds = new Set(made.work.map(({ type }) => type.split(":").at(-1)));
    for (const kind of ["Instance", "Command", "Service"]) assert.ok(kinds.has(kind), kind);
  });

  it("applies all objects while the workers join", async () => {
    let joins = 0;
    let over = (): void => undefined;
    const allApplied = new Promise<void>((done) => (over = done));
    await rehearse({}, (hands) => ({
      machine: async (script) => {
        const said = await hands.machine(script);
        if (!script.name.endsWith("-join")) return said;
        joins += 1;
        await allApplied;
        return said;
      },
      put: async (object) => {
        await hands.put(object);
        // The Service is the last object.
        if (object["kind"] === "Service") over();
      },
    }));
    assert.equal(joins, 2);
  });

  it("creates a load balancer before three control planes, which join one after another", async () => {
    const { done } = await rehearse({
      controlPlane: { flavor: "k8s-control-plane", count: 3 },
      endpoint: { kind: "load-balancer" },
    });
    assert.equal(count(done, "POST load-balancer "), 7);
    const joined = done.flatMap((line) => /^SSH (dev-control-plane-\d)-join/.exec(line)?.[1] ?? []);
    assert.deepEqual(joined, ["dev-control-plane-1", "dev-control-plane-2"]);
  });

  it("refuses settings that it does not support", async () => {
    const volumes = [{ name: "data", size: 1, path: "/data" }];
    const workers = { general: { flavor: "k8s-worker", count: 1, volumes } };
    await assert.rejects(rehearse({ workers }), /Volume|volumes/);
  });
});
