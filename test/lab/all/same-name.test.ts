import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ClusterError } from "../../../automation/cluster/cluster-error.js";
import type { UpOptions } from "../../../automation/cluster/options.js";
import { identitiesOf } from "../../../automation/cluster/state.js";
import { compareInventories, takeInventory, type CloudObject } from "../../../cloud/inventory.js";
import { changes } from "../support/lab-cluster.js";
import { Stack } from "../support/stack.js";

const minutes = 60_000;
const single = { topology: "single", workers: {} };

describe("two clusters of one name, each in a backend of its own, on the lab", function () {
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
  const up = (stack: Stack, options: UpOptions = {}) => {
    const { cluster, name } = stack;
    cluster.seen.events.length = 0;
    const settings = cluster.settings(single);
    return cluster.service.up(name, { settings, ...cluster.recording(), ...options });
  };
  const identityOf = async ({ cluster, name }: Stack): Promise<string> => {
    const [identity = ""] = identitiesOf(await cluster.service.state(name));
    return identity;
  };
  /** All of the first one is as it was. */
  const requireUntouched = async (): Promise<void> => {
    const { removed } = compareInventories(ofOne, await now());
    assert.deepEqual(removed, []);
    await one.prove(1);
  };

  it("refuses the second one before anything is made, also where nothing else is asked", async () => {
    await one.up(single);
    ofOne = await now();
    const identity = await identityOf(one);
    for (const preflight of [true, "names"] as const)
      await assert.rejects(up(two, { preflight }), (error: unknown) => {
        assert.ok(error instanceof ClusterError);
        assert.equal(error.code, "PREFLIGHT_FAILED");
        assert.match(error.message, /the name 'same' is taken by/);
        assert.ok(error.message.includes(identity));
        return true;
      });
    assert.equal(await two.cluster.service.state("same"), undefined);
    assert.deepEqual(compareInventories(ofOne, await now()), { added: [], removed: [] });
  });

  it("lets both live where a program does without the questions", async () => {
    const [first, second] = [await up(one), await up(two, { preflight: false })];
    assert.deepEqual(changes(one.cluster.seen.events), {});
    assert.notEqual(await identityOf(one), await identityOf(two));
    files = [first, second].map(({ kubeconfigPath = "" }) => readFileSync(kubeconfigPath, "utf8"));
    assert.notEqual(files[0], files[1], "each has a kubeconfig of its own");
    await requireUntouched();
  });

  it("has nothing to do for either, and asks each only about its own", async () => {
    for (const stack of [one, two]) {
      await up(stack);
      assert.deepEqual(changes(stack.cluster.seen.events), {});
    }
  });

  it("destroys the second, and the first goes on as it was", async () => {
    await two.cluster.service.destroy("same");
    assert.deepEqual(compareInventories(ofOne, await now()), { added: [], removed: [] });
    await requireUntouched();
    const path = await one.cluster.service.kubeconfigFile("same");
    assert.equal(readFileSync(path, "utf8"), files[0]);
  });

  it("goes away and leaves nothing", async () => {
    await one.destroyAndLookAround();
  });
});
