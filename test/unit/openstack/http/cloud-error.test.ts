import assert from "node:assert/strict";
import {
  createStatusError,
  isHiddenFromUser,
  parseErrorMessage,
} from "../../../../openstack/http/cloud-error.js";

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
    [409, "", "conflict"],
    [413, "", "quota"],
    [500, "", "failed"],
    [403, '{"forbidden":{"message":"Quota exceeded for cores"}}', "quota"],
    [404, '{"itemNotFound":{"code":404,"message":"quota exceeded"}}', "not-found"],
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

describe("createStatusError for status 404", () => {
  const services: Readonly<Record<string, string>> = {
    "Nova and Cinder": '{"itemNotFound":{"code":404,"message":"Instance x could not be found."}}',
    Keystone: '{"error":{"code":404,"message":"Could not find it.","title":"Not Found"}}',
    Neutron: '{"NeutronError":{"type":"PortNotFound","message":"Port x","detail":""}}',
    Octavia: '{"faultcode":"Client","faultstring":"Load Balancer x not found.","debuginfo":null}',
    Barbican: '{"code":404,"title":"Not Found","description":"Secret not found."}',
    "Glance, and every service for an unknown path":
      '{"message":"No image found with ID x<br /><br />","code":"404 Not Found","title":"Not Found"}',
    "Glance in HTML":
      "<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n  <h1>404 Not Found</h1>\n  No image found with ID x<br /><br />\n\n\n\n </body>\n</html>",
  };
  for (const [service, body] of Object.entries(services))
    it(`returns kind 'not-found' for the body of ${service}`, () => {
      assert.equal(createStatusError("GET x", 404, body).kind, "not-found");
    });

  const others: Readonly<Record<string, string>> = {
    "an ingress controller without a backend": "default backend - 404",
    "a Go proxy": "404 page not found\n",
    nginx:
      "<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n",
    "an API gateway": '{"message":"no Route matched with those values"}',
    "a proxy without a body": "",
    "a proxy with an empty object": "{}",
    "a proxy with null": "null",
  };
  for (const [speaker, body] of Object.entries(others))
    it(`returns kind 'failed' for the body of ${speaker}`, () => {
      const error = createStatusError("GET x", 404, body);
      assert.equal(error.kind, "failed");
      assert.match(error.message, /^GET x: a proxy or ingress answered 404 instead of the cloud/);
    });
});

describe("isHiddenFromUser", () => {
  it("returns true for every 404, because no 404 shows that a list is empty", () => {
    for (const body of ["default backend - 404", '{"itemNotFound":{"code":404}}'])
      assert.equal(isHiddenFromUser(createStatusError("GET x", 404, body)), true);
    assert.equal(isHiddenFromUser(createStatusError("GET x", 500, "")), false);
  });

  it("returns true if a service or a gateway does not know the request", () => {
    for (const status of [405, 501])
      assert.equal(isHiddenFromUser(createStatusError("GET x", status, "")), true);
  });
});
