import assert from "node:assert/strict";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import {
  commandType,
  diagnostic,
  instanceType,
  stepEvent,
  urnOf,
  type Engine,
} from "../../../support/engine/fake-engine.js";
import type { FakeCloud } from "../../../support/cloud/fake-openstack.js";

/** Server IDs of a control plane and a worker. */
const ids = {
  "dev-control-plane-0": "0b1c2d3e-0000-4000-8000-000000000000",
  "dev-general-0": "0b1c2d3e-0000-4000-8000-000000000001",
} as const;

describe("the first steps of a destroy", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let cloud: FakeCloud;
  const nova = (statuses: Readonly<Record<keyof typeof ids, string | undefined>>): void => {
    for (const [name, id] of Object.entries(ids)) {
      const status = statuses[name as keyof typeof ids];
      const server = { id, name, status };
      cloud.on(
        `GET /compute/servers/${id}`,
        status === undefined ? { status: 404 } : { body: { server } },
      );
    }
  };
  const server = (name: keyof typeof ids) => ({
    urn: urnOf(instanceType, `${name}-server`),
    type: instanceType,
    id: ids[name],
  });
  const script = (name: string, on: readonly (keyof typeof ids)[], more = {}) => ({
    urn: urnOf(commandType, name),
    type: commandType,
    id: name,
    inputs: { delete: "sudo -n bash -s" },
    ...more,
    propertyDependencies: { delete: on.map((one) => server(one).urn) },
  });
  beforeEach(async () => {
    embedder = await Embedder.start();
    ({ engine, cloud } = embedder);
    const [first, worker] = ["dev-control-plane-0", "dev-general-0"] as const;
    engine.state({
      resources: [
        ...[server(first), server(worker), script("dev-control-plane-teardown", [first])],
        script("dev-workers-general-0-leave", [first, worker], { deletedWith: server(first).urn }),
      ],
    });
  });
  afterEach(() => embedder.stop());
  const destroy = () => embedder.service().destroy("dev");

  it("reports immediately that the teardown machine is stopped, and names the command that starts it", async () => {
    nova({ "dev-control-plane-0": "SHUTOFF", "dev-general-0": "ACTIVE" });
    const { message, hint } = await fails(destroy(), "SERVER_STOPPED");
    assert.match(message, /dev-control-plane-0, .* Nova says SHUTOFF. Nothing was changed\.$/);
    assert.match(hint, /`openstack server start dev-control-plane-0`, then run the same/);
    assert.doesNotMatch(hint, /--abandon/);
    assert.deepEqual(engine.operations(), []);
  });

  it("reads the state once without and once with secrets", async () => {
    nova({ "dev-control-plane-0": "ACTIVE", "dev-general-0": "ACTIVE" });
    await destroy();
    const reads = engine.calls().filter((call) => call.startsWith("stack export"));
    assert.deepEqual(
      reads.map((call) => call.includes("--show-secrets")),
      [false, true],
    );
  });

  it("suggests `destroy --abandon` if no control plane has a server any more", async () => {
    nova({ "dev-control-plane-0": undefined, "dev-general-0": "ACTIVE" });
    const { hint } = await fails(destroy(), "SERVER_STOPPED");
    assert.match(hint, /^Nova says that no control plane has a server.*destroy --abandon/);
  });

  it("suggests `up --refresh` if the teardown machine was deleted and another is left", async () => {
    nova({ "dev-control-plane-0": undefined, "dev-general-0": "ACTIVE" });
    const other = "0b1c2d3e-0000-4000-8000-000000000002";
    const { deployment } = engine.stateNow() ?? assert.fail("there is a state");
    const second = {
      urn: urnOf(instanceType, "dev-control-plane-1-server"),
      type: instanceType,
      id: other,
    };
    engine.state({ resources: [...(deployment["resources"] as []), second] });
    cloud.on(`GET /compute/servers/${other}`, {
      body: { server: { id: other, name: "dev-control-plane-1", status: "SHUTOFF" } },
    });
    const { hint } = await fails(destroy(), "SERVER_STOPPED");
    assert.match(hint, /up --refresh/);
    assert.doesNotMatch(hint, /--abandon/);
  });

  it("report an ingress that answers 404 instead of Nova", async () => {
    nova({ "dev-control-plane-0": "ACTIVE", "dev-general-0": "ACTIVE" });
    const path = `/compute/servers/${ids["dev-control-plane-0"]}`;
    cloud.on(`GET ${path}`, { status: 404, body: "default backend - 404" });
    await assert.rejects(destroy(), /a proxy or ingress answered 404 instead of/);
    assert.deepEqual(engine.operations(), []);
  });

  it("ignores a stopped worker", async () => {
    nova({ "dev-control-plane-0": "ACTIVE", "dev-general-0": "SHUTOFF" });
    await destroy();
    assert.deepEqual(engine.operations(), ["destroy"]);
  });

  it("makes the next `up` repair the cluster if the destroy fails after the teardown", async () => {
    nova({ "dev-control-plane-0": "ACTIVE", "dev-general-0": "ACTIVE" });
    const { deployment } = engine.stateNow() ?? assert.fail("there is a state");
    const inControlPlane = `stackadm:kubeadm:ControlPlane$${commandType}`;
    const init = {
      ...script("dev-control-plane-0-init", ["dev-control-plane-0"]),
      urn: urnOf(inControlPlane, "dev-control-plane-0-init"),
    };
    engine.state({ ...deployment, resources: [...(deployment["resources"] as []), init] });
    const teardown = { type: inControlPlane, name: "dev-control-plane-teardown", op: "delete" };
    const failed = { code: 1, events: [diagnostic("the power failed")] };
    const inputsOfInit = (): unknown =>
      (engine.stateNow()?.deployment["resources"] as { urn: string; inputs: unknown }[]).find(
        ({ urn }) => urn === init.urn,
      )?.inputs;

    engine.runs({ destroy: failed });
    await fails(destroy(), "FAILED");
    assert.deepEqual(inputsOfInit(), init.inputs, "nothing was released");

    const released = ["resourcePreEvent", "resOutputsEvent"] as const;
    const events = [...released.map((when) => stepEvent(when, teardown)), ...failed.events];
    engine.runs({ destroy: { ...failed, events } });
    await fails(destroy(), "FAILED");
    assert.deepEqual(inputsOfInit(), { ...init.inputs, update: "did not come to its end" });
  });
});
