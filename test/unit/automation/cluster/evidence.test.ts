import assert from "node:assert/strict";
import { ClusterError } from "../../../../automation/cluster/cluster-error.js";
import { serverOf, withNovasFault } from "../../../../automation/cluster/evidence.js";
import type { StateExport } from "../../../../automation/cluster/state.js";
import { connectCloud } from "../../../../cloud/client.js";
import { instanceType, urnOf } from "../../../support/engine.js";
import { emptyProject, startFakeCloud, type FakeCloud } from "../../../support/fake-openstack.js";

const urn = urnOf(instanceType, "general-0");
const server = (fields: Readonly<Record<string, unknown>>) => ({
  urn,
  type: instanceType,
  custom: true,
  inputs: { name: "dev-general-0" },
  ...fields,
});
const state = (deployment: StateExport["deployment"]): StateExport => ({ version: 3, deployment });

describe("the server that a resource stands for", () => {
  it("is known by its id when it was finished, by its name while it was being made", () => {
    assert.deepEqual(serverOf(state({ resources: [server({ id: "1" })] }), urn), {
      id: "1",
      name: "dev-general-0",
    });
    const pending = { type: "creating", resource: server({}) };
    assert.deepEqual(serverOf(state({ resources: [], pending_operations: [pending] }), urn), {
      id: undefined,
      name: "dev-general-0",
    });
  });

  it("has no id while the engine has none: an empty one is nobody's", () => {
    assert.equal(serverOf(state({ resources: [server({ id: "" })] }), urn)?.id, undefined);
  });

  it("is none for another resource, and without a state", () => {
    assert.equal(serverOf(state({ resources: [server({ id: "1" })] }), `${urn}x`), undefined);
    assert.equal(serverOf(state({}), urn), undefined);
    assert.equal(serverOf(undefined, urn), undefined);
  });
});

describe("a server that Nova could not make", () => {
  let cloud: FakeCloud;
  const error = new ClusterError("SERVER_ERROR", "unexpected state 'ERROR'", "again", { urn });
  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
    cloud.on("GET /compute/servers/detail", {
      body: {
        servers: [
          { id: "other", name: "dev-general-1" },
          { id: "7", name: "dev-general-0", status: "ERROR" },
        ],
      },
    });
    const fault = { message: "No valid host was found.", code: 500 };
    cloud.on("GET /compute/servers/7", {
      body: { server: { id: "7", name: "dev-general-0", status: "ERROR", fault } },
    });
    cloud.on("POST /compute/servers/7/action", { body: { output: "GRUB\nkernel panic" } });
  });
  afterEach(async () => {
    await cloud.close();
  });
  const explained = async (known: StateExport | undefined): Promise<ClusterError> =>
    withNovasFault(error, await connectCloud({ env: cloud.environment() }), known);

  for (const [what, known] of [
    ["by id", state({ resources: [server({ id: "7" })] })],
    ["by name", state({ pending_operations: [{ type: "creating", resource: server({}) }] })],
  ] as const)
    it(`is told with the machine's name and Nova's own reason, found ${what}`, async () => {
      const { code, sentence, hint, subject } = await explained(known);
      assert.equal(
        sentence,
        "The machine dev-general-0 could not be made: Server dev-general-0 (7) is ERROR: No valid host was found.",
      );
      assert.deepEqual([code, hint, subject], ["SERVER_ERROR", "again", { urn }]);
    });

  it("keeps the console out of the sentence", async () => {
    const { sentence } = await explained(state({ resources: [server({ id: "7" })] }));
    assert.doesNotMatch(sentence, /GRUB|\n/);
  });

  it("stays the error that it was when nothing is known of the machine", async () => {
    assert.equal(await explained(undefined), error);
    const unnamed = server({ inputs: { name: "dev-general-9" } });
    assert.equal(await explained(state({ resources: [unnamed] })), error);
  });

  it("is told also when it is gone by now", async () => {
    const { sentence } = await explained(state({ resources: [server({ id: "8" })] }));
    assert.match(sentence, /Server 8 does not exist any more\.$/);
  });
});
