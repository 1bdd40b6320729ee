import assert from "node:assert/strict";
import type { ListeningService } from "../../../support/engine/listening-service.js";
import { Embedder, fails, settingsOf } from "../../../support/engine/embedder.js";
import { networkType, urnOf } from "../../../support/engine/fake-engine.js";
import { fakeProject } from "../../../support/cloud/fake-openstack.js";

const elsewhere = "fedcba9876543210fedcba9876543210";
const bare = { preflight: false, verify: false } as const;

describe("a stack whose cluster is in another project or region than the user's credentials", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  beforeEach(async () => {
    embedder = await Embedder.start();
  });
  afterEach(() => embedder.stop());

  const provider = {
    type: "pulumi:providers:openstack",
    custom: true,
    id: "provider",
    urn: urnOf("pulumi:providers:openstack", "default_3_15_2"),
    // Inputs that the engine writes, and one that does not change the location.
    inputs: { __internal: {}, version: "3.15.2", insecure: "true" },
  };
  const network = (outputs: object) => ({
    urn: urnOf(networkType, "net"),
    type: networkType,
    custom: true,
    id: "n",
    outputs,
    provider: `${provider.urn}::${provider.id}`,
  });
  const holds = (outputs: object, of: object = provider): void => {
    embedder.engine.state({ resources: [of, network(outputs)] });
  };
  const deletions = () => embedder.cloud.seen.filter(({ method }) => method === "DELETE");

  const commands: Readonly<Record<string, (service: ListeningService) => Promise<unknown>>> = {
    up: (service) => service.up("dev", bare),
    preview: (service) => service.preview("dev", bare),
    refresh: (service) => service.refresh("dev"),
    destroy: (service) => service.destroy("dev"),
    destroyPlan: (service) => service.destroyPlan("dev"),
    status: (service) => service.status("dev"),
    preflight: (service) => service.preflight("dev"),
  };
  for (const [name, command] of Object.entries(commands)) {
    it(`makes ${name} fail before any change, with both projects in the message`, async () => {
      holds({ tenantId: elsewhere, region: "one" });
      const { message, hint } = await fails(command(embedder.service()), "WRONG_PROJECT");
      assert.equal(
        message,
        `The cluster of stack 'dev' is in project ${elsewhere}, but your credentials are for project ${fakeProject}. Nothing was changed.`,
      );
      assert.match(hint, /OS_CLOUD/);
      assert.deepEqual(embedder.engine.operations(), []);
      assert.deepEqual(deletions(), []);
    });
  }

  it("fails a destroy for another region too", async () => {
    holds({ tenantId: fakeProject, region: "two" });
    const { message } = await fails(embedder.service().destroy("dev"), "WRONG_PROJECT");
    assert.match(message, /is in region two, but your credentials are for region one\./);
    assert.deepEqual(embedder.engine.operations(), []);
  });

  it("fails `up` before the repair of an interrupted run", async () => {
    const pending = { type: "creating", resource: network({}) };
    const resources = [provider, network({ tenantId: elsewhere, region: "" })];
    embedder.engine.state({ resources, pending_operations: [pending] });
    await fails(embedder.service().up("dev", bare), "WRONG_PROJECT");
    assert.deepEqual(embedder.engine.operations(), []);
  });

  it("allows `up` if the location is the same or unknown", async () => {
    for (const outputs of [
      { tenantId: fakeProject, region: "one" },
      { tenantId: fakeProject },
      {},
    ]) {
      holds(outputs);
      await embedder.service().up("dev", bare);
    }
  });

  it("allows `up` if the program's own provider has a cloud setting", async () => {
    const urn = urnOf("pulumi:providers:openstack", "other");
    const own = { ...provider, urn, inputs: { cloud: "other" } };
    embedder.engine.state({
      resources: [
        own,
        {
          ...network({ tenantId: elsewhere, region: "two" }),
          provider: `${urn}::${own.id}`,
        },
      ],
    });
    await embedder.service().up("dev", bare);
  });

  it("fails `up` after the stack's settings got another cloud, and names these settings", async () => {
    const { OS_AUTH_URL: authUrl = "" } = embedder.cloud.environment();
    holds({ tenantId: elsewhere, region: "one" }, { ...provider, inputs: { cloud: "former" } });
    embedder.write(
      "Pulumi.dev.yaml",
      settingsOf({}).replace("config:\n", `config:\n  openstack:authUrl: ${authUrl}\n`),
    );
    const { message } = await fails(embedder.service().up("dev", bare), "WRONG_PROJECT");
    assert.match(
      message,
      /but your credentials \(openstack:authUrl in Pulumi\.dev\.yaml\) are for/,
    );
  });

  describe("after a stopped destroy, when only the cluster's identity is left", () => {
    const identity = (stderr: string) => ({
      urn: urnOf("command:local:Command", "dev-identity"),
      type: "command:local:Command",
      custom: true,
      id: "identity",
      outputs: { stdout: "0123456789ab", stderr },
    });

    it("makes the next destroy fail instead of searching in the wrong project", async () => {
      embedder.engine.state({ resources: [identity(`in project: ${elsewhere}\nin region: one`)] });
      const { message } = await fails(embedder.service().destroy("dev"), "WRONG_PROJECT");
      assert.match(message, new RegExp(`is in project ${elsewhere}, but your credentials`));
      assert.deepEqual([embedder.engine.operations(), deletions()], [[], []]);
    });

    it("is recognized, because the destroy has stored project and region", async () => {
      const resources = [provider, network({ tenantId: fakeProject, region: "one" }), identity("")];
      embedder.engine.state({ resources });
      const stop = new AbortController();
      const onStep = (title: string): void => {
        if (title === "Check that nothing is left in the project") stop.abort();
      };
      const destroyed = embedder.service().destroy("dev", { signal: stop.signal, onStep });
      await fails(destroyed, "CANCELLED");
      assert.deepEqual(embedder.engine.stateNow()?.deployment["resources"], [
        provider,
        identity(`in project: ${fakeProject}\nin region: one`),
      ]);
      await embedder.service().destroy("dev");
      assert.equal(embedder.engine.stateNow(), undefined);
    });
  });
});
