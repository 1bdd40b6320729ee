import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DeletableObjects } from "../../../support/cloud/deletable-objects.js";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import { networkType, urnOf } from "../../../support/engine/fake-engine.js";

const identity = "0123456789ab";
const search = "Check that nothing is left in the project";
const keptTag = "stackadm-kept=retained";

describe("a destroy that was stopped", function () {
  this.timeout(120_000);
  let embedder: Embedder;
  let groups: DeletableObjects;
  let address: { id: string; floating_ip_address: string; tags: string[] };
  const tags = ["stackadm-cluster=dev", `stackadm-identity=${identity}`];
  const made = (type: string, name: string, more: object) => ({
    urn: urnOf(type, name),
    type,
    custom: true,
    id: name,
    ...more,
  });
  const ids = (objects: readonly { readonly id: string }[]): string[] =>
    objects.map(({ id }) => id);

  beforeEach(async () => {
    embedder = await Embedder.start();
    const { engine, cloud } = embedder;
    engine.state({
      resources: [
        made("command:local:Command", "dev-identity", { outputs: { stdout: identity } }),
        made(networkType, "network", {}),
        made("openstack:networking/floatingIp:FloatingIp", "address", { retainOnDelete: true }),
      ],
    });
    address = { id: "address", floating_ip_address: "203.0.113.9", tags };
    cloud.on("GET /network/floatingips", () => ({ body: { floatingips: [address] } }));
    cloud.on(`PUT /network/floatingips/address/tags/${encodeURIComponent(keptTag)}`, () => {
      address = { ...address, tags: [...tags, keptTag] };
      return { status: 201 };
    });
    // A group that is not in the state. Only the search after the engine finds it.
    const lost = { id: "group", name: "dev-lost", tags };
    groups = new DeletableObjects(cloud, "security-groups", [lost]);
    mkdirSync(dirname(embedder.kubeconfig()), { recursive: true });
    writeFileSync(embedder.kubeconfig(), "");
  });
  afterEach(() => embedder.stop());

  /** Destroys the stack, and stops when the search for left objects begins. */
  const stopInSearch = async (): Promise<void> => {
    const stop = new AbortController();
    const onStep = (title: string): void => {
      if (title === search) stop.abort();
    };
    const stopped = embedder.service().destroy("dev", { signal: stop.signal, onStep });
    const { message } = await fails(stopped, "CANCELLED");
    assert.match(message, /What was done is kept/);
  };

  it("is completed by the next destroy, which keeps and marks a retained object", async () => {
    await stopInSearch();
    assert.deepEqual(groups.ids, ["group"]);
    assert.ok(existsSync(embedder.kubeconfig()));
    const { deleted, kept } = await embedder.service().destroy("dev");
    assert.deepEqual([ids(deleted), ids(kept), groups.ids], [["group"], ["address"], []]);
    assert.ok(address.tags.includes(keptTag));
    assert.ok(!existsSync(embedder.kubeconfig()));
    assert.equal(embedder.engine.stateNow(), undefined);
  });

  it("is followed by destroys that succeed and list the kept object", async () => {
    await stopInSearch();
    await embedder.service().destroy("dev");
    const { held, kept } = await embedder.service().destroy("dev");
    assert.equal(held, false);
    assert.deepEqual(
      kept.map(({ id, retained }) => [id, retained]),
      [["address", true]],
    );
  });

  it("deletes nothing if another operation has created a cluster meanwhile", async () => {
    await stopInSearch();
    const { engine, cloud } = embedder;
    const onStep = (title: string): void => {
      if (title !== search) return;
      const resources = engine.stateNow()?.deployment["resources"] as object[];
      engine.state({ resources: [...resources, made(networkType, "new", {})] });
    };
    await fails(embedder.service().destroy("dev", { onStep }), "STACK_LOCKED");
    assert.ok(!cloud.seen.some(({ method }) => method === "DELETE"));
    assert.ok(engine.stateNow());
  });

  it("can be completed if the search fails", async () => {
    groups.refuseDeletions();
    await fails(embedder.service().destroy("dev"), "FORBIDDEN");
    groups.acceptDeletions();
    const { deleted } = await embedder.service().destroy("dev");
    assert.deepEqual(ids(deleted), ["group"]);
  });
});
