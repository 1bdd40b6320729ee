import assert from "node:assert/strict";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import { urnOf } from "../../../support/engine/fake-engine.js";

const identity = "0123456789ab";
const bare = { verify: false, kubeconfigFile: false } as const;

describe("a server of a failed run that is not in the state", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  /** Operations that the engine had run at the time of each deletion. */
  let deletions: (readonly string[])[];
  const created = "2026-01-02T10:04:00Z";
  const manifest = { time: "2026-01-02T10:30:00Z" };
  const resource = (type: string, name: string, id: string) => ({
    urn: urnOf(type, name),
    type,
    custom: true,
    id,
    created,
  });
  const ofIdentity = {
    ...resource("command:local:Command", "dev-identity", "made"),
    outputs: { stdout: identity },
  };
  const ofPort = resource("openstack:networking/port:Port", "dev-general-0-port", "its port");
  const ofScript = resource("command:remote:Command", "dev-general-0-prepare", "ran");

  beforeEach(async () => {
    embedder = await Embedder.start();
    deletions = [];
    const [startTime, endTime] = ["2026-01-02T10:00:00Z", "2026-01-02T10:30:00Z"];
    embedder.engine.history([{ kind: "update", result: "failed", startTime, endTime }]);
    const metadata = { "stackadm-cluster": "dev", "stackadm-identity": identity };
    const made = { created: "2026-01-02T10:05:00Z", status: "ACTIVE", metadata };
    const server = { id: "server", name: "dev-general-0", ...made };
    let servers: readonly object[] = [server];
    embedder.cloud.on("GET /compute/servers/detail", () => ({ body: { servers } }));
    embedder.cloud.on("DELETE /compute/servers/server", () => {
      assert.ok(embedder.engine.heldBy() !== undefined, "no other process works on the stack");
      deletions.push(embedder.engine.operations());
      servers = [];
      return { status: 204 };
    });
    const attached = { device_owner: "compute:nova", device_id: "server" };
    const ports = [{ id: "its port", name: "dev-general-0", ...attached }];
    embedder.cloud.on("GET /network/ports", { body: { ports } });
  });
  afterEach(() => embedder.stop());

  it("is deleted if the state has its port, and no script ran on it", async () => {
    embedder.engine.state({ manifest, resources: [ofIdentity, ofPort] });
    await embedder.service().up("dev", bare);
    assert.deepEqual(deletions, [["hold"]]);
    assert.deepEqual(embedder.engine.operations(), ["hold", "up"]);
  });

  it("is kept if the state is older than the failed run", async () => {
    const older = { time: "2026-01-02T09:00:00Z" };
    // Refreshing the unread resource would write the state, which would no longer be old.
    const unread = { ...ofPort, initErrors: ["500"] };
    embedder.engine.state({ manifest: older, resources: [ofIdentity, unread] });
    await fails(embedder.service().up("dev", bare), "PREFLIGHT_FAILED");
    assert.deepEqual([deletions, embedder.engine.operations()], [[], []]);
  });

  it("is kept if a script ran on it, because the state has lost a cluster machine", async () => {
    embedder.engine.state({ manifest, resources: [ofIdentity, ofPort, ofScript] });
    await fails(embedder.service().up("dev", bare), "PREFLIGHT_FAILED");
    assert.deepEqual([deletions, embedder.engine.operations()], [[], []]);
  });
});
