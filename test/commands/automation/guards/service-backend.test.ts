import assert from "node:assert/strict";
import type { ListeningService } from "../../../support/engine/listening-service.js";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import { networkType, urnOf, type Engine } from "../../../support/engine/fake-engine.js";
import { DeletableObjects } from "../../../support/cloud/deletable-objects.js";
import type { FakeCloud } from "../../../support/cloud/fake-openstack.js";

const bare = { preflight: false, verify: false } as const;

// Pulumi Cloud lets a preview run while an update runs, so no engine can hold the lock of a stack.
describe("a backend that does not lock previews", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let cloud: FakeCloud;
  let networks: DeletableObjects;
  const pending = (name: string) => ({
    type: "creating",
    resource: {
      urn: urnOf(networkType, name),
      type: networkType,
      custom: true,
      inputs: { name },
    },
  });
  const identity = {
    urn: urnOf("command:local:Command", "dev-identity"),
    type: "command:local:Command",
    custom: true,
    id: "made",
    outputs: { stdout: "0123456789ab" },
  };
  const tags = ["stackadm-cluster=dev", "stackadm-identity=0123456789ab"];
  const interrupted = {
    resources: [identity],
    pending_operations: [pending("first"), pending("second")],
  };
  beforeEach(async () => {
    // Settings of the user's own program, which describe no cluster.
    embedder = await Embedder.start("config: {}\n");
    embedder.backend = "https://api.pulumi.com";
    ({ engine, cloud } = embedder);
    const objects = ["first", "second"].map((name) => ({ id: `id-of-${name}`, name, tags }));
    networks = new DeletableObjects(cloud, "networks", objects);
    engine.state(interrupted);
  });
  afterEach(() => embedder.stop());
  const service = (): ListeningService => embedder.service();
  const deletions = (): number => cloud.seen.filter(({ method }) => method === "DELETE").length;

  const operations: readonly [string, () => Promise<unknown>][] = [
    ["up", () => service().up("dev", bare)],
    ["refresh", () => service().refresh("dev")],
    ["destroy", () => service().destroy("dev")],
    ["destroy --abandon", () => service().destroy("dev", { abandon: true })],
  ];
  for (const [name, operation] of operations)
    it(`makes ${name} fail before any change while an update is in progress`, async () => {
      engine.updating(true);
      const { exitCode, message } = await fails(operation(), "STACK_LOCKED");
      assert.equal(exitCode, 4);
      assert.match(message, /an update in progress/);
      assert.equal(deletions(), 0);
      assert.deepEqual(engine.operations(), []);
      assert.deepEqual(engine.stateNow()?.deployment, interrupted);
    });

  it("stops a repair before the next deletion when an update begins", async () => {
    networks.onDelete = () => {
      engine.updating(true);
    };
    await fails(service().up("dev", bare), "STACK_LOCKED");
    assert.equal(deletions(), 1);
    assert.deepEqual(engine.operations(), []);
    assert.deepEqual(engine.stateNow()?.deployment, interrupted);
  });

  it("lets a repair proceed without an engine if no update is in progress", async () => {
    await service().up("dev", bare);
    assert.deepEqual(networks.ids, []);
    assert.deepEqual(engine.operations(), ["up"]);
    assert.deepEqual(engine.stateNow()?.deployment["pending_operations"], []);
  });

  it("makes an operation fail as locked if the service refuses its write", async () => {
    const refusal = "error: [409] Conflict: Another update is currently in progress.\n";
    engine.refuses({ "stack import": refusal });
    await fails(service().up("dev", bare), "STACK_LOCKED");
    assert.deepEqual(engine.operations(), []);
  });

  it("reports an update as a lock that `unlock` cancels after confirmation", async () => {
    assert.deepEqual(await service().locks("dev"), []);
    engine.updating(true);
    const holders = await service().locks("dev");
    assert.deepEqual(holders, ["an unknown process"]);
    await fails(service().unlock("dev"), "STACK_LOCKED");
    assert.deepEqual(await service().unlock("dev", { holders }), holders);
    const calls = engine.calls().map((call) => call.split(" --")[0]);
    assert.ok(calls.includes("cancel"));
    assert.ok(!calls.some((call) => call?.startsWith("stack rename")));
  });
});
