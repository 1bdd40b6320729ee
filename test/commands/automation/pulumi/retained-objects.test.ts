import assert from "node:assert/strict";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import { networkType, urnOf } from "../../../support/engine/fake-engine.js";

const identity = "0123456789ab";
const bare = { preflight: false, verify: false, kubeconfigFile: false } as const;
const addressType = "openstack:networking/floatingIp:FloatingIp";

describe("a retained object that is no longer in the state", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  const made = (type: string, name: string, more: object) => ({
    urn: urnOf(type, name),
    type,
    custom: true,
    id: name,
    ...more,
  });
  /** Removes a resource from the state, as an interrupted engine would. */
  const forgets = (id: string): void => {
    const { resources } = embedder.engine.stateNow()?.deployment as { resources: { id: string }[] };
    embedder.engine.state({ resources: resources.filter((one) => one.id !== id) });
  };
  const imports = (): number =>
    embedder.engine.calls().filter((call) => call.startsWith("stack import")).length;
  const keeps = async (): Promise<void> => {
    const { stays = [] } = await embedder.service().destroyPlan("dev");
    const { kept, deleted } = await embedder.service().destroy("dev");
    for (const named of [stays, kept])
      assert.deepEqual(
        named.map(({ id, retained }) => [id, retained]),
        [["address", true]],
      );
    assert.deepEqual(deleted, []);
    assert.ok(!embedder.cloud.seen.some(({ method }) => method === "DELETE"));
  };

  beforeEach(async () => {
    embedder = await Embedder.start();
    embedder.engine.state({
      resources: [
        made("command:local:Command", "dev-identity", { outputs: { stdout: identity } }),
        made(networkType, "network", {}),
        made(addressType, "address", { retainOnDelete: true }),
      ],
    });
    const address = {
      id: "address",
      floating_ip_address: "203.0.113.9",
      tags: ["stackadm-cluster=dev", `stackadm-identity=${identity}`],
    };
    embedder.cloud.on("GET /network/floatingips", { body: { floatingips: [address] } });
  });
  afterEach(() => embedder.stop());

  it("is kept and reported by a destroy after a failed destroy", async () => {
    embedder.engine.runs({ destroy: { code: 255, stderr: "error: in use\n" } });
    await fails(embedder.service().destroy("dev"), "FAILED");
    forgets("address");
    embedder.engine.runs({});
    await keeps();
  });

  it("is kept and reported by a destroy after an `up` that removed the object", async () => {
    await embedder.service().up("dev", bare);
    forgets("address");
    await embedder.service().up("dev", bare);
    await keeps();
    assert.equal(imports(), 1, "it is remembered once");
  });

  it("is not recorded in a locked stack, and `up` fails", async () => {
    embedder.engine.refuses({
      "stack import": "error: the stack is currently locked by 1 lock(s)\n",
    });
    await fails(embedder.service().up("dev", bare), "STACK_LOCKED");
    assert.deepEqual(embedder.engine.operations(), []);
  });
});
