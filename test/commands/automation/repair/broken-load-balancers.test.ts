import assert from "node:assert/strict";
import { getClusterTags } from "../../../../openstack/inventory/ownership.js";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import { networkType, urnOf } from "../../../support/engine/fake-engine.js";
import {
  balancerInState,
  besideBalancer as rest,
  identity,
  made,
  type Recorded,
} from "../../../support/cloud/load-balancer-state.js";

const bare = { verify: false, kubeconfigFile: false } as const;
const path = "/load-balancer/lbaas/loadbalancers";

describe("a load balancer in the state that Octavia cannot change", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let notes: string[];
  /**
   * Status at each request, the last one for all further requests; undefined if the load balancer
   * is deleted.
   */
  let statuses: (string | undefined)[];
  let tags: readonly string[];
  /** Inputs of its address, and further fields of its entry in the state. */
  let kept: object;
  let lasting: object;
  /** Operations that the engine had run at the time of each deletion. */
  let deletions: (readonly string[])[];
  const onNote = (text: string): void => void notes.push(text);

  const parts = (): Recorded[] => balancerInState(kept, lasting);
  const holding = (...more: readonly Recorded[]): void => {
    const [member] = parts().slice(-1);
    const behind = { dependencies: [member?.urn, urnOf(networkType, "dev-net")] };
    const machine = made("openstack:networking/port:Port", "port", {}, behind);
    embedder.engine.state({ resources: [...rest(), ...parts(), machine, ...more] });
  };
  const left = (): Recorded[] => embedder.engine.stateNow()?.deployment["resources"] as Recorded[];
  const idsLeft = (): string[] => left().map(({ id }) => id);
  const balancer = () => ({ id: "lb", name: "dev-api", provisioning_status: statuses[0], tags });

  beforeEach(async () => {
    embedder = await Embedder.start();
    [notes, statuses, deletions] = [[], ["ERROR"], []];
    [kept, lasting] = [{}, {}];
    tags = getClusterTags({ name: "dev", identity });
    const { cloud, engine } = embedder;
    const listed = () => (statuses[0] === undefined ? [] : [balancer()]);
    cloud.on(`GET ${path}`, () => ({ body: { loadbalancers: listed() } }));
    cloud.on(`GET ${path}/lb`, () => {
      const answer =
        statuses[0] === undefined ? { status: 404 } : { body: { loadbalancer: balancer() } };
      if (statuses.length > 1) statuses.shift();
      return answer;
    });
    cloud.on(`DELETE ${path}/lb`, () => {
      assert.ok(engine.heldBy() !== undefined, "no other process works on the stack");
      deletions.push(engine.operations());
      statuses = [undefined];
      return { status: 204 };
    });
    holding();
  });
  afterEach(() => embedder.stop());
  const others = ["default", "i", "net", "theirs", "port"];
  /** Makes the engine fail, so that the test sees the state before the engine deletes it. */
  const stopBefore = (): void => {
    embedder.engine.runs({ destroy: { code: 255, stderr: "error: no\n" } });
  };

  it("is deleted with its children before `up` recreates it", async () => {
    await embedder.service().up("dev", { ...bare, onNote });
    assert.deepEqual([deletions, idsLeft()], [[["hold"]], others]);
    assert.deepEqual(embedder.engine.operations(), ["hold", "up"]);
    const cascade = embedder.cloud.seen.find(({ method }) => method === "DELETE");
    assert.equal(cascade?.path, `${path}/lb?cascade=true`);
    assert.deepEqual(left().at(-1)?.["dependencies"], [urnOf(networkType, "dev-net")]);
    assert.deepEqual(notes, [
      "The load balancer 'dev-api' (lb) is in ERROR, and Octavia changes no load balancer in ERROR: this run deletes it with everything in it and recreates it. Until then nothing answers at its address. It has no separate port, so it may get another address than 10.0.0.9.",
    ]);
  });

  it("is kept in the state if an ingress answers 404 instead of Octavia", async () => {
    embedder.cloud.on(`GET ${path}/lb`, { status: 404, body: "default backend - 404" });
    await embedder.service().up("dev", { ...bare, onNote });
    assert.deepEqual([deletions, embedder.engine.operations(), notes], [[], ["up"], []]);
    assert.ok(idsLeft().includes("lb"));
  });

  it("keeps its address after recreation if it has its own port", async () => {
    kept = { vipPortId: "port" };
    holding();
    await embedder.service().up("dev", { ...bare, onNote });
    assert.match(notes.join("\n"), /Until then nothing answers at its address\.$/);
  });

  it("is deleted with its children before the engine destroys the stack", async () => {
    stopBefore();
    await assert.rejects(embedder.service().destroy("dev", { onNote }));
    assert.deepEqual([deletions, idsLeft()], [[["hold"]], others]);
    assert.deepEqual(embedder.engine.operations(), ["hold", "destroy"]);
    assert.match(notes.join("\n"), /is in ERROR.*: this run deletes it with everything in it\.$/m);
  });

  it("is deleted if the cluster is abandoned", async () => {
    stopBefore();
    await assert.rejects(embedder.service().destroy("dev", { abandon: true, onNote }));
    assert.deepEqual([deletions, idsLeft()], [[["hold", "hold"]], others]);
  });

  for (const [operation, said] of [
    [
      "up",
      /\(lb\) no longer exists: this run recreates it with everything in it\. It has no separate/m,
    ],
    ["destroy", /\(lb\) no longer exists, nor does anything that was in it\.$/m],
  ] as const)
    it(`is removed from the state with its children if it no longer exists: ${operation}`, async () => {
      statuses = [undefined];
      stopBefore();
      const options = { ...bare, onNote };
      await embedder
        .service()
        [operation]("dev", options)
        .catch(() => undefined);
      assert.deepEqual([deletions, idsLeft()], [[], others]);
      assert.deepEqual(embedder.engine.operations(), ["hold", operation]);
      assert.match(notes.join("\n"), said);
    });

  it("delays a destroy while its status is PENDING_UPDATE, and is deleted if the status becomes ERROR", async () => {
    statuses = ["PENDING_UPDATE", "PENDING_UPDATE", "ERROR"];
    stopBefore();
    await assert.rejects(embedder.service().destroy("dev", { onNote }));
    assert.deepEqual([deletions, idsLeft()], [[["hold"]], others]);
  });

  it("delays `up` while its status is PENDING_DELETE", async () => {
    statuses = ["PENDING_DELETE", undefined];
    await embedder.service().up("dev", { ...bare, onNote });
    assert.deepEqual([deletions, idsLeft()], [[], others]);
    assert.match(notes.join("\n"), /no longer exists: this run recreates it/);
  });

  for (const status of ["ACTIVE", "PENDING_UPDATE"])
    it(`is left to the engine by \`up\` if its status is ${status}`, async () => {
      statuses = [status];
      await embedder.service().up("dev", { ...bare, onNote });
      assert.deepEqual([deletions, notes], [[], []]);
      assert.deepEqual(embedder.engine.operations(), ["up"]);
    });

  for (const operation of ["preview", "refresh"] as const)
    it(`is only reported by ${operation}`, async () => {
      for (const [status, said] of [
        ["ERROR", /^! The load .* is in ERROR, .*: `stackadm up` deletes and recreates it/],
        [
          undefined,
          /^! The load balancer 'lb' \(lb\) no longer exists: `stackadm up` recreates it/,
        ],
      ] as const) {
        [notes, statuses] = [[], [status]];
        await embedder.service()[operation]("dev", { onNote });
        assert.match(notes.join("\n"), said);
      }
      assert.deepEqual(deletions, []);
      assert.deepEqual(embedder.engine.operations(), [operation, operation]);
    });

  for (const [status, operation] of [
    ["ERROR", "replace"],
    [undefined, "create"],
    ["PENDING_DELETE", "create"],
  ] as const)
    it(`fails \`up\` with \`expectNoChanges\`, and adds a row to the plan: ${status ?? "deleted"}`, async () => {
      const plan = [{ operation, type: "LoadBalancer", name: "dev-lb" }];
      const options = { ...bare, expectNoChanges: true, onNote };
      statuses = [status];
      const refusal = await fails(embedder.service().up("dev", options), "UNEXPECTED_CHANGES");
      assert.match(refusal.message, new RegExp(`change:\n {2}${operation} LoadBalancer 'dev-lb'$`));
      assert.deepEqual(await embedder.service().preview("dev"), { plan });
      assert.deepEqual([deletions, embedder.engine.operations()], [[], ["preview", "preview"]]);
      assert.match(notes.join("\n"), /^! The load balancer .*: `stackadm up` /);
    });

  it("counts as one difference for a refresh", async () => {
    assert.deepEqual(await embedder.service().refresh("dev"), { changed: 1 });
  });

  it("is not checked with `expectNoChanges` if an interrupted run needs a repair", async () => {
    const [operation] = rest();
    const pending = [{ resource: operation, type: "creating" }];
    embedder.engine.state({ resources: rest(), pending_operations: pending });
    const options = { ...bare, expectNoChanges: true };
    const refusal = await fails(embedder.service().up("dev", options), "UNEXPECTED_CHANGES");
    assert.match(refusal.message, /`up` would first repair what an interrupted run left/);
    assert.deepEqual(embedder.engine.operations(), []);
  });

  it("is kept if it has another cluster's identity: `up` reports the load balancer, destroy fails", async () => {
    tags = getClusterTags({ name: "dev", identity: "ba9876543210" });
    await embedder.service().up("dev", { ...bare, preflight: false, onNote });
    const byHand = /Delete it with `openstack loadbalancer delete --cascade lb`, then run/;
    assert.match(notes.join("\n"), byHand);
    const refusal = await fails(embedder.service().destroy("dev"), "LOAD_BALANCER_ERROR");
    assert.match(refusal.message, /^The load balancer 'dev-api' \(lb\) is in ERROR, .*identity/);
    assert.match(refusal.hint, byHand);
    assert.deepEqual([deletions, embedder.engine.operations()], [[], ["up"]]);
  });

  it("is left to the engine on destroy if it lacks the identity and is childless or retained", async () => {
    tags = [];
    stopBefore();
    const [whole] = parts();
    embedder.engine.state({ resources: [...rest(), ...(whole ? [whole] : [])] });
    await assert.rejects(embedder.service().destroy("dev"));
    lasting = { retainOnDelete: true };
    holding();
    await assert.rejects(embedder.service().destroy("dev"));
    assert.deepEqual([deletions, embedder.engine.operations()], [[], ["destroy", "destroy"]]);
  });

  it("is queried only once by `up` if Octavia is unavailable", async () => {
    embedder.cloud.on(`GET ${path}/lb`, { status: 503, body: {} });
    await embedder.service().up("dev", { ...bare, onNote });
    const asked = embedder.cloud.seen.filter((one) => one.path === `${path}/lb`);
    assert.deepEqual([asked.length, notes], [1, []]);
    assert.deepEqual(embedder.engine.operations(), ["up"]);
  });

  it("is not queried if its provider has its own cloud setting", async () => {
    const urn = urnOf("pulumi:providers:openstack", "another");
    const elsewhere = { urn, type: "pulumi:providers:openstack", id: "default" };
    const [, ...further] = rest();
    const theirs = [...further, ...parts()].map((one) => ({ ...one, provider: `${urn}::default` }));
    embedder.engine.state({
      resources: [{ ...elsewhere, inputs: { cloud: "another" } }, ...theirs],
    });
    statuses = [undefined];
    await embedder.service().up("dev", { ...bare, onNote });
    assert.deepEqual([notes, embedder.engine.operations()], [[], ["up"]]);
  });

  it("stays untouched if another operation holds the lock or removed it from the state", async () => {
    const stderr = "error: the stack is currently locked by 1 lock(s)\n";
    embedder.engine.runs({ hold: { stderr, code: 255 } });
    await fails(embedder.service().up("dev", bare), "STACK_LOCKED");
    assert.deepEqual(deletions, []);
    embedder.engine.runs({ hold: { state: { resources: rest() } } });
    await embedder.service().up("dev", bare);
    assert.deepEqual([deletions, idsLeft()], [[], rest().map(({ id }) => id)]);
  });
});
