import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { connectCloud } from "../../../../../../openstack/client/cloud-client.js";
import {
  sendHttpRequest,
  type HttpAnswer,
} from "../../../../../../openstack/http/http-exchange.js";
import { FaultyProxy } from "../../../../../lab/support/faults/faulty-proxy.js";

/** Request that reached the API behind the proxy. */
interface Seen {
  readonly line: string;
  readonly host: string;
  readonly body: string;
}

describe("faulty proxy", () => {
  const address = "127.0.0.1";
  const seen: Seen[] = [];
  let upstream: Server;
  let origin: string;
  let proxy: FaultyProxy;
  let through: string;

  before(async () => {
    upstream = createServer((asked, answer) => {
      void text(asked).then((body) => {
        const { method = "", url = "", headers } = asked;
        seen.push({ line: `${method} ${url}`, host: headers.host ?? "", body });
        const token = {
          expires_at: "2999-01-01T00:00:00Z",
          user: { id: "user" },
          project: { id: "project" },
          catalog: [{ type: "network", endpoints: [{ interface: "public", url: origin }] }],
        };
        answer.writeHead(url.endsWith("/auth/tokens") ? 201 : 200, { "x-subject-token": "token" });
        answer.end(JSON.stringify(url.endsWith("/auth/tokens") ? { token } : { origin }));
      });
    });
    upstream.listen(0, address);
    await once(upstream, "listening");
    origin = `http://${address}:${(upstream.address() as AddressInfo).port}`;
    proxy = await FaultyProxy.start({ upstreams: [origin], address });
    through = proxy.rewrite(origin);
  });
  beforeEach(() => {
    proxy.calm();
    seen.length = 0;
    proxy.failed.length = 0;
  });
  after(async () => {
    await proxy.close();
    upstream.close();
  });

  const ask = (method: string, path: string): Promise<HttpAnswer> =>
    sendHttpRequest(`${through}${path}`, { method, ...(method === "POST" && { body: "sent" }) });

  it("forwards requests unchanged, with the client's Host header", async () => {
    const answer = await ask("POST", "/v2.0/ports?limit=1");
    assert.equal(answer.status, 200);
    const host = new URL(through).host;
    assert.notEqual(through, origin);
    assert.deepEqual(seen, [{ line: "POST /v2.0/ports?limit=1", host, body: "sent" }]);
    const call = { method: "POST", url: "/v2.0/ports?limit=1", upstream: origin, own: true };
    assert.deepEqual(proxy.seen.at(-1), call);
  });

  it("delays the selected requests", async () => {
    const delay = (method: string): number => (method === "POST" ? 150 : 0);
    const slow = await FaultyProxy.start({ upstreams: [origin], address, delay });
    try {
      const beganAt = performance.now();
      const url = `${slow.rewrite(origin)}/v2.0/ports`;
      assert.equal((await sendHttpRequest(url, { method: "POST", body: "sent" })).status, 200);
      // A timer may fire up to one millisecond early.
      assert.ok(performance.now() - beganAt >= 149);
      assert.equal(seen.at(-1)?.body, "sent");
    } finally {
      await slow.close();
    }
  });

  it("rewrites complete addresses only, and only in sign-in responses", async () => {
    assert.equal(proxy.rewrite(`${origin}/v3 ${origin}0`), `${through}/v3 ${origin}0`);
    assert.deepEqual(JSON.parse((await ask("GET", "/v2.0/ports")).body), { origin });
    assert.ok(!(await ask("GET", "/v3/auth/tokens")).body.includes(`${origin}"`));
  });

  it("is between a client and every service of the catalog", async () => {
    const env = {
      OS_AUTH_URL: `${through}/v3`,
      OS_USERNAME: "user",
      OS_PASSWORD: "x",
      OS_PROJECT_NAME: "project",
    };
    const cloud = await connectCloud({ env });
    await cloud.request("network", "GET", "/networks");
    assert.deepEqual(
      seen.map(({ line, host }) => [line, host === new URL(through).host]),
      [
        ["POST /v3/auth/tokens", true],
        ["GET /v2.0/networks", true],
      ],
    );
  });

  for (const status of [409, 500, 503] as const)
    it(`returns ${status} instead of forwarding to the API`, async () => {
      proxy.fail(({ write }) => (write === 2 ? status : undefined));
      const statuses = [];
      for (const method of ["POST", "GET", "DELETE", "PUT"])
        statuses.push((await ask(method, "/v2.0/ports")).status);
      assert.deepEqual(statuses, [200, 200, status, 200]);
      assert.ok(!seen.some(({ line }) => line.startsWith("DELETE")));
      assert.deepEqual(proxy.failed, [`DELETE /v2.0/ports: ${status}`]);
    });

  it("forwards a request and drops its response", async () => {
    proxy.fail(() => "lost");
    await assert.rejects(ask("POST", "/v2.0/ports"), { code: "ECONNRESET" });
    assert.deepEqual(
      seen.map(({ line, body }) => [line, body]),
      [["POST /v2.0/ports", "sent"]],
    );
    assert.deepEqual(proxy.failed, ["POST /v2.0/ports: lost"]);
  });

  it("counts all requests from the start of the fault, and sign-ins not as writes", async () => {
    await ask("POST", "/v2.0/ports");
    const counted: unknown[] = [];
    proxy.fail((call) => {
      counted.push(call);
      return undefined;
    });
    await ask("POST", "/v3/auth/tokens");
    await ask("POST", "/v2.0/ports");
    await ask("GET", "/v2.0/ports");
    assert.deepEqual(counted, [
      { number: 1, method: "POST" },
      { number: 2, method: "POST", write: 1 },
      { number: 3, method: "GET" },
    ]);
  });

  it("returns no response if the API returns none", async () => {
    const silent = await FaultyProxy.start({ upstreams: [`http://${address}:9`], address });
    const gone = sendHttpRequest(`${silent.rewrite(`http://${address}:9`)}/`);
    await assert.rejects(gone, { code: "ECONNRESET" });
    await silent.close();
  });
});
