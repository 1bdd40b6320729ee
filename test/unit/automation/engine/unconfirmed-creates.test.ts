import { strict as assert } from "node:assert";
import type { DecodedEngineEvent } from "../../../../automation/pulumi/events.js";
import { UnconfirmedCreates } from "../../../../automation/engine/unconfirmed-creates.js";
import { networkType, urnOf } from "../../../support/engine/fake-engine.js";

const network = urnOf(networkType, "net");

describe("UnconfirmedCreates", () => {
  const change = (urn: string, operation = "create") => ({
    urn,
    name: "n",
    type: "t",
    phase: undefined,
    operation,
  });
  const failed = (urn: string, operation?: string): DecodedEngineEvent => ({
    type: "failed",
    at: 0,
    change: change(urn, operation),
    inputs: { name: "dev" },
  });
  const said = (text: string): DecodedEngineEvent => ({
    type: "message",
    at: 0,
    urn: network,
    severity: "error",
    text,
  });
  const left = (...events: readonly DecodedEngineEvent[]): string[] => {
    const creates = new UnconfirmedCreates();
    for (const event of events) creates.processEvent(event);
    return creates.creates().map(({ operation }) => operation.resource.urn);
  };
  /**
   * Beginnings of error messages of the provider's client. Some codes have special texts, and some
   * texts omit the request.
   */
  const words: Readonly<Record<number, string>> = {
    400: "Bad request with",
    403: "Request forbidden",
    404: "Resource not found",
  };
  const silent: Readonly<Record<number, string>> = {
    401: "Authentication failed",
    408: "The server timed out waiting for the request",
    429: "Too many requests have been sent in a given amount of time.",
    500: "Internal Server Error",
    503: "The service is currently unable to handle the request",
  };
  const request = "[POST http://[::1]:9696/v2.0/networks]";
  const inFull = (code: number, asked: string): string =>
    `Expected HTTP response code [201 202] when accessing ${asked}, but got ${String(code)} instead\n{}`;
  const inWords = (code: number, asked: string): string => {
    const [word, alone] = [words[code], silent[code]];
    if (word !== undefined) return `${word}: ${asked}, error message: {}`;
    return alone ?? inFull(code, asked);
  };
  const got = (text: string): DecodedEngineEvent =>
    said(`Error creating openstack_networking_network_v2: ${text}: provider=openstack@3.15.2`);

  it("lists creates without an answer or with an ambiguous status", () => {
    assert.deepEqual(left(failed(network), said("read: connection reset by peer")), [network]);
    for (const code of [401, 408, 409, 429, 500, 502, 503])
      assert.deepEqual(left(got(inWords(code, request)), failed(network)), [network], String(code));
    for (const code of [408, 409, 500, 502, 503])
      assert.deepEqual(left(got(inFull(code, request)), failed(network)), [network], String(code));
  });

  it("omits creates that the cloud refused, in either order of the events", () => {
    for (const code of [400, 403, 404, 413])
      for (const text of [inWords(code, request), inFull(code, request)]) {
        assert.deepEqual(left(got(text), failed(network)), [], text);
        assert.deepEqual(left(failed(network), got(text)), [], text);
      }
    for (const code of [401, 429])
      assert.deepEqual(left(got(inFull(code, request)), failed(network)), [], String(code));
  });

  it("lists a create that was refused at first and whose second answer was lost", () => {
    const refused = got(inWords(403, request));
    const lost = got('Post "http://[::1]:9696/v2.0/networks": read: connection reset by peer');
    assert.deepEqual(left(refused, lost, failed(network)), [network]);
    assert.deepEqual(left(refused, failed(network), lost), [network]);
    assert.deepEqual(left(lost, refused, failed(network)), [network]);
  });

  it("lists objects that were created if only a later request was refused", () => {
    const later = [
      "[GET http://n/v2.0/networks/made]",
      "[PUT http://n/v2.0/networks/made/tags]",
      "[DELETE http://n/v2.0/security-group-rules/one]",
    ];
    for (const asked of later)
      for (const code of [400, 401, 403, 404, 429])
        for (const text of [inWords(code, asked), inFull(code, asked)])
          assert.deepEqual(left(got(text), failed(network)), [network], text);
  });

  it("omits creates whose retry succeeded", () => {
    const finished: DecodedEngineEvent = {
      type: "finished",
      at: 0,
      change: change(network),
      id: "made",
    };
    assert.deepEqual(left(failed(network), finished), []);
  });

  it("lists creates of a replacement, but neither updates nor resources outside the cloud", () => {
    assert.deepEqual(left(failed(network, "create-replacement")), [network]);
    assert.deepEqual(left(failed(network, "update")), []);
    for (const type of ["command:remote:Command", "kubernetes:core/v1:ConfigMap"])
      assert.deepEqual(left(failed(urnOf(type, "one"))), []);
  });

  it("returns the inputs by which the object can be found", () => {
    const creates = new UnconfirmedCreates();
    creates.processEvent(failed(network));
    assert.deepEqual(creates.creates()[0]?.operation.resource.inputs, { name: "dev" });
  });
});
