import assert from "node:assert/strict";
import { Embedder, fails, settingsOf } from "../../../support/engine/embedder.js";
import { instanceType, urnOf } from "../../../support/engine/fake-engine.js";

describe("the preflight of an up", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  const resource = (id: string) => ({
    urn: urnOf(instanceType, id),
    type: instanceType,
    id,
    custom: true,
  });
  /** Returns the requests of an `up` to the cloud, without authentication. */
  const requests = async (
    options: { readonly expectNoChanges?: boolean } = {},
  ): Promise<string[]> => {
    const before = embedder.cloud.seen.length;
    await embedder.service().up("dev", { verify: false, kubeconfigFile: false, ...options });
    return embedder.cloud.seen
      .slice(before)
      .map(({ method, path }) => `${method} ${path}`)
      .filter((request) => !request.includes("/identity/v3/auth"));
  };
  beforeEach(async () => {
    embedder = await Embedder.start();
    embedder.engine.state({ resources: [resource("a")] });
  });
  afterEach(() => embedder.stop());

  it("asks the cloud each time, also if nothing has changed, and for everything once", async () => {
    const first = await requests();
    assert.ok(first.length > 10, first.join("\n"));
    assert.deepEqual(first, [...new Set(first)]);
    assert.deepEqual((await requests()).sort(), first.sort());
  });

  it("asks once if no change is expected, although the program runs twice", async () => {
    const seen = await requests({ expectNoChanges: true });
    assert.deepEqual(embedder.engine.operations(), ["preview", "up"]);
    assert.ok(seen.includes("GET /compute/limits"), seen.join("\n"));
    assert.deepEqual(seen, [...new Set(seen)]);
  });

  it("asks again after the repair of an interrupted run", async () => {
    const pending = [{ type: "deleting", resource: resource("a") }];
    embedder.engine.state({ resources: [resource("a")], pending_operations: pending });
    const seen = await requests();
    assert.equal(seen.filter((request) => request === "GET /compute/limits").length, 2);
  });

  it("asks about the recorded load balancer provider of the cluster, not about the default", async () => {
    const frozen = {
      urn: urnOf("command:local:Command", "dev-frozen"),
      type: "command:local:Command",
      id: "frozen",
      custom: true,
      outputs: { environment: { "loadBalancer.provider": "ovn" } },
    };
    embedder.engine.state({ resources: [resource("a"), frozen] });
    const offer = (name: string): void => {
      embedder.cloud.on("GET /load-balancer/lbaas/providers", { body: { providers: [{ name }] } });
    };
    offer("ovn");
    await requests();
    offer("amphora");
    const { message } = await fails(requests(), "PREFLIGHT_FAILED");
    assert.match(message, /loadBalancer\.provider: .*ovn/);
  });

  it("warns each time how soon the credential ends", async () => {
    const expiresAt = new Date(Date.now() + 2 * 86_400_000).toISOString().replace(/\.\d+/, "");
    const settings = settingsOf({ credential: { expiresAt } });
    for (const time of ["first", "second"]) {
      const notes: string[] = [];
      const onNote = (text: string): void => void notes.push(text);
      const options = { verify: false, kubeconfigFile: false, settings, onNote };
      await embedder.service().up("dev", options);
      assert.match(notes.join("\n"), /credential\.expiresAt: .* ends at /, time);
    }
  });
});
