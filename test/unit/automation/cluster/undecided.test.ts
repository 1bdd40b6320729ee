import { strict as assert } from "node:assert";
import type { ClusterEvent } from "../../../../automation/cluster/events.js";
import { UndecidedCreates } from "../../../../automation/cluster/undecided.js";
import { networkType, urnOf } from "../../../support/engine.js";

const network = urnOf(networkType, "net");

describe("creates of which nobody knows how they ended", () => {
  const change = (urn: string, operation = "create") => ({
    ...{ urn, name: "n", type: "t", phase: undefined, operation },
  });
  const failed = (urn: string, operation?: string): ClusterEvent => ({
    ...{ type: "failed", at: 0, change: change(urn, operation), inputs: { name: "dev" } },
  });
  const said = (text: string): ClusterEvent => ({
    ...{ type: "message", at: 0, urn: network, severity: "error", text },
  });
  const left = (...events: readonly ClusterEvent[]): string[] => {
    const creates = new UndecidedCreates();
    for (const event of events) creates.take(event);
    return creates.creates().map(({ operation }) => operation.resource.urn);
  };
  const got = (code: number): ClusterEvent =>
    said(
      `Expected HTTP response code [201 202] when accessing [POST http://n/v2.0/networks], but got ${String(code)} instead: {}`,
    );

  it("are those to which no answer came, or one that says nothing", () => {
    assert.deepEqual(left(failed(network), said("read: connection reset by peer")), [network]);
    for (const code of [408, 409, 500, 502, 503])
      assert.deepEqual(left(got(code), failed(network)), [network], String(code));
  });

  it("are none that the cloud refused, before or after the engine says that they failed", () => {
    for (const code of [400, 401, 403, 404, 413, 429]) {
      assert.deepEqual(left(got(code), failed(network)), [], String(code));
      assert.deepEqual(left(failed(network), got(code)), [], String(code));
    }
  });

  it("are none that went well when they were tried again", () => {
    const finished: ClusterEvent = { type: "finished", at: 0, change: change(network), id: "made" };
    assert.deepEqual(left(failed(network), finished), []);
  });

  it("are what a replacement makes, too, but no updates, and nothing outside of the cloud", () => {
    assert.deepEqual(left(failed(network, "create-replacement")), [network]);
    assert.deepEqual(left(failed(network, "update")), []);
    for (const type of ["command:remote:Command", "kubernetes:core/v1:ConfigMap"])
      assert.deepEqual(left(failed(urnOf(type, "one"))), []);
  });

  it("have the inputs by which they are found again", () => {
    const creates = new UndecidedCreates();
    creates.take(failed(network));
    assert.deepEqual(creates.creates()[0]?.operation.resource.inputs, { name: "dev" });
  });
});
