import assert from "node:assert/strict";
import type { ListeningService } from "../../../support/engine/listening-service.js";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import { networkType, urnOf } from "../../../support/engine/fake-engine.js";

const bare = { preflight: false, verify: false } as const;

describe("a stack with resources but without a cluster", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  beforeEach(async () => {
    embedder = await Embedder.start();
  });
  afterEach(() => embedder.stop());

  const root = "urn:pulumi:dev::it";
  const bucket = {
    urn: `${root}::their:own:Component$aws:s3/bucket:Bucket::stackadm:index:Cluster`,
    type: "aws:s3/bucket:Bucket",
    custom: true,
    id: "theirs",
  };
  const commands: Readonly<Record<string, (service: ListeningService) => Promise<unknown>>> = {
    refresh: (service) => service.refresh("dev"),
    destroy: (service) => service.destroy("dev"),
    destroyPlan: (service) => service.destroyPlan("dev"),
  };
  for (const [name, command] of Object.entries(commands)) {
    it(`makes ${name} fail with the names of project and stack`, async () => {
      embedder.engine.state({ resources: [bucket] });
      const { message, hint, exitCode } = await fails(
        command(embedder.service()),
        "INVALID_CONFIG",
      );
      assert.equal(
        message,
        "Stack 'dev' of project 'it' has resources, but no stackadm cluster. Nothing was changed.",
      );
      assert.match(hint, /--cwd.* plain `pulumi`/);
      assert.equal(exitCode, 2);
      assert.deepEqual(embedder.engine.operations(), []);
      assert.deepEqual(
        embedder.cloud.seen.filter(({ method }) => method === "DELETE"),
        [],
      );
    });

    it(`allows ${name} if the stack is empty or contains a cluster or a part of a cluster`, async () => {
      const cluster = {
        urn: `${root}::stackadm:index:Cluster::dev`,
        type: "stackadm:index:Cluster",
      };
      const network = { urn: urnOf(networkType, "net"), type: networkType, custom: true, id: "n" };
      const wrapped = {
        ...network,
        urn: `${root}::their:own:Component$stackadm:index:Cluster$${networkType}::net`,
      };
      for (const resources of [[], [bucket, cluster], [bucket, network], [wrapped]]) {
        embedder.engine.state({ resources });
        await command(embedder.service());
      }
    });
  }

  it("allows a destroy plan if the first run stopped while it created a provider", async () => {
    const type = "pulumi:providers:openstack";
    const resource = { urn: `${root}::${type}::default`, type, custom: true };
    const pending_operations = [{ type: "creating", resource }];
    embedder.engine.state({ resources: [], pending_operations });
    const plan = await embedder.service().destroyPlan("dev");
    assert.deepEqual(plan.goes, []);
  });

  it("accepts a new cluster from the user's own program", async () => {
    embedder.engine.state({ resources: [bucket] });
    await embedder.service().preview("dev", bare);
    assert.deepEqual(embedder.engine.operations(), ["preview"]);
  });
});
