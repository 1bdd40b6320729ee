import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { Failure } from "../../../../base/failures/failure.js";
import type { UpOptions } from "../../../../automation/engine/operation-options.js";
import { findClusterIdentities } from "../../../../automation/pulumi/stack-state.js";
import { parseOutputs } from "../../../../automation/verify/cluster-outputs.js";
import {
  compareInventories,
  takeInventory,
  type CloudObject,
} from "../../../../openstack/inventory/inventory.js";
import { markNeverAnswered } from "../../../../components/lookup/existing-servers.js";
import { neverAnsweredMetadataKey } from "../../../../components/lookup/server-metadata.js";
import { changes } from "../../support/stack/lab-cluster.js";
import { Stack, type Changes } from "../../support/stack/stack.js";

const minutes = 60_000;
/**
 * Settings of the two clusters. Both have a control plane with the same name. Each also has a
 * machine that the other cluster does not have.
 */
const withWorker: Changes = { workers: { general: { flavor: "k8s-worker", count: 1 } } };
const withBastion = (generation: number): Changes => ({
  topology: "single",
  workers: {},
  access: "bastion",
  bastion: { flavor: "small", generation },
});
const metadataSchema = z.object({ metadata: z.record(z.string(), z.string()) });

describe("`up` and `destroy` of two clusters with the same name and separate backends, on the lab", function () {
  this.timeout(10 * minutes);
  const [one, two] = [new Stack("same"), new Stack("same")] as const;
  let ofOne: CloudObject[];
  let files: readonly string[];

  before(async () => {
    await one.open();
    await two.open();
  });
  after(async () => {
    await two.cluster.close();
    await one.cluster.close();
  });

  const now = () => takeInventory(one.cluster.cloud);
  const up = (stack: Stack, options: UpOptions = {}, generation = 0) => {
    const { cluster, name } = stack;
    cluster.seen.events.length = 0;
    const settings = cluster.settings(stack === one ? withWorker : withBastion(generation));
    return cluster.service.up(name, { settings, ...cluster.recording(), ...options });
  };
  const identityOf = async ({ cluster, name }: Stack): Promise<string> => {
    const [identity = ""] = findClusterIdentities(await cluster.service.state(name));
    return identity;
  };
  /** Requires that the first cluster is unchanged. */
  const requireUntouched = async (): Promise<void> => {
    const { removed } = compareInventories(ofOne, await now());
    assert.deepEqual(removed, []);
    await one.prove(1);
  };

  it("refuse the second cluster before any change, also in a preflight of names only", async () => {
    await one.up(withWorker);
    ofOne = await now();
    const identity = await identityOf(one);
    for (const preflight of [true, "names"] as const)
      await assert.rejects(up(two, { preflight }), (error: unknown) => {
        assert.ok(error instanceof Failure);
        assert.equal(error.code, "PREFLIGHT_FAILED");
        assert.match(error.message, /the name 'same' is taken by/);
        assert.ok(error.message.includes(identity));
        return true;
      });
    assert.equal(await two.cluster.service.state("same"), undefined);
    assert.deepEqual(compareInventories(ofOne, await now()), { added: [], removed: [] });
  });

  it("create both clusters if the program skips the preflight", async () => {
    const [first, second] = [await up(one), await up(two, { preflight: false })];
    assert.deepEqual(changes(one.cluster.seen.events), {});
    assert.notEqual(await identityOf(one), await identityOf(two));
    files = [first, second].map(({ kubeconfigPath = "" }) => readFileSync(kubeconfigPath, "utf8"));
    assert.notEqual(files[0], files[1], "each has its own kubeconfig");
    await requireUntouched();
  });

  it("have no changes on a second `up`", async () => {
    for (const stack of [one, two]) {
      await up(stack);
      assert.deepEqual(changes(stack.cluster.seen.events), {});
    }
  });

  it("keep a server of the second cluster with the mark for unreachable servers, and remove the mark", async () => {
    const { service, cloud } = two.cluster;
    const { nodes } = parseOutputs(await service.outputs("same"));
    const { serverId = "" } = nodes.find(({ name }) => name === "same-control-plane-0") ?? {};
    await markNeverAnswered(cloud, serverId);
    await up(two);
    assert.deepEqual(changes(two.cluster.seen.events), {}, "it is part of the cluster");
    const path = `/servers/${serverId}/metadata`;
    const { metadata } = metadataSchema.parse(await cloud.request("compute", "GET", path));
    assert.ok(!(neverAnsweredMetadataKey in metadata), "and the mark has gone");
    await requireUntouched();
  });

  it("replace the second cluster's bastion, and keep the first cluster unchanged", async () => {
    const bastionOf = async () =>
      parseOutputs(await two.cluster.service.outputs("same")).bastion?.[0];
    const before = await bastionOf();
    await up(two, {}, 1);
    const after = await bastionOf();
    assert.ok(before && after);
    assert.notEqual(after.serverId, before.serverId);
    await requireUntouched();
  });

  it("destroy the second cluster, and keep the first cluster unchanged", async () => {
    await two.cluster.service.destroy("same");
    assert.deepEqual(compareInventories(ofOne, await now()), { added: [], removed: [] });
    await requireUntouched();
    const path = await one.cluster.service.kubeconfigFile("same");
    assert.equal(readFileSync(path, "utf8"), files[0]);
  });

  it("destroy the first cluster without leftovers", async () => {
    await one.destroyAndLookAround();
  });
});
