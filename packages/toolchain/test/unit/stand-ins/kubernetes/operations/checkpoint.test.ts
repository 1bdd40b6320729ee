import { strict as assert } from "node:assert";
import type { ServiceError } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";
import {
  parseCheckpoint,
  renderCheckpoint,
} from "../../../../../stand-ins/kubernetes/operations/checkpoint.js";
import {
  createCancelledError,
  createInitFailedError,
  PartialError,
  createTimedOutError,
  toServiceError,
} from "../../../../../stand-ins/kubernetes/errors.js";
import { containsSecret } from "../../../../../stand-ins/kubernetes/objects/wire.js";
import { initFailureOf } from "../support/harness.js";
import { wrapSecret, isSecret } from "../../../../../stand-ins/plugin/values.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

const live: JsonObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "x", managedFields: [{ manager: "m" }] },
  data: { a: "1", b: "2" },
};
const inputs: JsonObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "x" },
  data: { a: "1" },
};

describe("kubernetes stand-in: the state of a resource", () => {
  const checkpoint = { inputs, live, initialApiVersion: "v1", fieldManager: "m-1" };

  it("is parsed again without the server's own fields", () => {
    const back = parseCheckpoint(renderCheckpoint(checkpoint, inputs));
    assert.deepEqual(back, { ...checkpoint, live: { ...live, metadata: { name: "x" } } });
    assert.deepEqual(live["metadata"], { name: "x", managedFields: [{ manager: "m" }] });
  });

  it("keeps values secret in outputs and inputs that the program marked as secret", () => {
    const marks = { ...inputs, data: { a: wrapSecret("1") } };
    const state = renderCheckpoint(checkpoint, marks);
    assert.deepEqual(state["data"], { a: wrapSecret("1"), b: "2" });
    assert.deepEqual((state["__inputs"] as JsonObject)["data"], { a: wrapSecret("1") });
    assert.ok(!containsSecret(parseCheckpoint(state).live));
  });

  it("keeps a Secret's data secret, even if given as stringData", () => {
    const secret = { ...live, kind: "Secret", data: { p: "eA==" } };
    const marks = { kind: "Secret", stringData: wrapSecret({ p: "x" }) };
    const state = renderCheckpoint({ ...checkpoint, live: secret, inputs: marks }, marks);
    assert.ok(isSecret(state["data"]));
    assert.ok(isSecret((state["__inputs"] as JsonObject)["stringData"]));
  });

  it("is empty for an imported resource", () => {
    assert.deepEqual(parseCheckpoint({}), {
      inputs: {},
      live: {},
      initialApiVersion: "",
      fieldManager: "",
    });
  });
});

describe("kubernetes stand-in: errors on the wire", () => {
  it("contain the original message", () => {
    assert.deepEqual(toServiceError(new Error("why")), { code: status.UNKNOWN, details: "why" });
    assert.equal(toServiceError("text").details, "text");
  });

  it("contain the state of an object that exists but is not ready", () => {
    const state = { ...inputs, data: wrapSecret({ a: "1" }) };
    const error = new PartialError("not ready", live, state, { problems: ["one", "two"] });
    assert.deepEqual(initFailureOf(toServiceError(error) as ServiceError), {
      id: "x",
      properties: state,
      reasons: ["not ready", "one", "two"],
    });
  });

  it("contain the reason for the end of the wait", () => {
    assert.equal(createTimedOutError(live, []).message, "'x' timed out waiting to be Ready");
    assert.equal(
      createCancelledError(live, []).message,
      "Resource operation was cancelled for 'x'",
    );
    assert.match(
      createInitFailedError(live, ["p"]).message,
      /'x' was created but failed to initialize/,
    );
    assert.deepEqual(createInitFailedError(live, ["p"]).problems, ["p"]);
  });
});
