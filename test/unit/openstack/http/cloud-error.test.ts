import assert from "node:assert/strict";
import { createStatusError, parseErrorMessage } from "../../../../openstack/http/cloud-error.js";

describe("parseErrorMessage", () => {
  const shapes: Readonly<Record<string, [unknown, string]>> = {
    Nova: [
      { itemNotFound: { code: 404, message: "Instance x could not be found." } },
      "Instance x could not be found.",
    ],
    Neutron: [
      { NeutronError: { type: "X", message: "Network in use.", detail: "" } },
      "Network in use.",
    ],
    Keystone: [
      { error: { code: 403, title: "Forbidden", message: "Not allowed." } },
      "Not allowed.",
    ],
    Octavia: [
      { faultcode: "Client", faultstring: "Load Balancer is immutable.", debuginfo: null },
      "Load Balancer is immutable.",
    ],
  };
  for (const [service, [body, sentence]] of Object.entries(shapes))
    it(`finds the sentence in ${service}'s error`, () => {
      assert.equal(parseErrorMessage(JSON.stringify(body)), sentence);
    });

  it("returns other text than JSON, up to a limit", () => {
    assert.equal(parseErrorMessage(" 503 Service Unavailable\n"), "503 Service Unavailable");
    assert.equal(parseErrorMessage("x".repeat(1000)).length, 300);
  });

  it("returns the JSON if it contains no sentence", () => {
    assert.equal(parseErrorMessage("[1]"), "[1]");
  });
});

describe("createStatusError", () => {
  const table: [number, string, string][] = [
    [401, "", "unauthenticated"],
    [403, "", "forbidden"],
    [404, "", "not-found"],
    [409, "", "conflict"],
    [413, "", "quota"],
    [500, "", "failed"],
    [403, '{"forbidden":{"message":"Quota exceeded for cores"}}', "quota"],
    [404, '{"x":{"message":"quota exceeded"}}', "not-found"],
    [429, '{"x":{"message":"Rate limit exceeded"}}', "failed"],
    [500, '{"x":{"message":"Time limit exceeded"}}', "failed"],
  ];
  for (const [status, body, kind] of table)
    it(`returns kind '${kind}' for ${status} ${body}`, () => {
      const error = createStatusError("GET x", status, body);
      assert.equal(error.kind, kind);
      assert.equal(error.status, status);
      assert.match(error.message, new RegExp(`^GET x: the cloud answered ${status}`));
    });
});
