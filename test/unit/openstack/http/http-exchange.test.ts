import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { TLSSocket } from "node:tls";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import {
  isUntrustedCertificate,
  sendHttpRequest,
  type HttpOptions,
} from "../../../../openstack/http/http-exchange.js";
import { startFakeCloud } from "../../../support/cloud/fake-openstack.js";
import { ProxyServer } from "../../../support/proxy-server.js";
import { WebServer } from "../../../support/web-server.js";
import { Authority } from "../support/authority.js";
import { refused } from "../support/refused.js";

/** Returns the error of a request. */
const failing = (work: Promise<unknown>): Promise<NodeJS.ErrnoException> =>
  work.then(
    () => assert.fail("succeeded"),
    (error: unknown) => error as NodeJS.ErrnoException,
  );

describe("an HTTP request through a proxy", () => {
  let proxy: ProxyServer;
  beforeEach(async () => {
    proxy = await ProxyServer.open();
  });
  afterEach(() => proxy.close());

  describe("to a server without TLS", () => {
    let web: WebServer;
    beforeEach(async () => {
      web = await WebServer.open();
      web.answer("/there", { headers: { "x-one": "1" }, body: "hello" });
    });
    afterEach(() => web.close());
    const send = (options: HttpOptions = {}, host = "cloud.example") =>
      sendHttpRequest(`${web.url(host)}/there`, {
        proxies: { HTTP_PROXY: proxy.url() },
        timeout: 5000,
        ...options,
      });

    it("reaches a host that only the proxy can resolve", async () => {
      const { status, headers, body } = await send();
      assert.deepEqual([status, headers["x-one"], body], [200, "1", "hello"]);
      assert.deepEqual(proxy.asked, [`GET ${web.url("cloud.example")}/there`]);
    });

    it("sends method, headers and body", async () => {
      web.answer("/there", { status: 201 });
      const sent = { method: "POST", headers: { authorization: "Basic YTpi" }, body: "{}" };
      assert.equal((await send(sent)).status, 201);
      assert.deepEqual([web.asked, web.logins], [["POST /there"], ["a:b"]]);
    });

    it("signs in to the proxy with the user in its address", async () => {
      await send({ proxies: { http_proxy: proxy.url("ann:w%2Frd") } });
      assert.deepEqual(proxy.logins, ["ann:w/rd"]);
    });

    it("is not sent through the proxy to this machine", async () => {
      assert.equal((await send({}, "127.0.0.1")).body, "hello");
      assert.deepEqual(proxy.asked, []);
    });

    it("reads the variables of this process by default", async () => {
      const before = process.env["http_proxy"];
      process.env["http_proxy"] = proxy.url();
      try {
        await sendHttpRequest(`${web.url("cloud.example")}/there`);
      } finally {
        if (before === undefined) delete process.env["http_proxy"];
        else process.env["http_proxy"] = before;
      }
      assert.equal(proxy.asked.length, 1);
    });

    it("fails with the proxy's status if the proxy wants another user", async () => {
      proxy.behaviour = 407;
      assert.match((await failing(send())).message, /^the proxy 127\.0\.0\.1:\d+ answered 407$/);
    });

    it("fails if the proxy cannot be reached, and names the proxy", async () => {
      const { message } = await failing(
        send({ proxies: { HTTP_PROXY: "http://ann:secret@127.0.0.1:1" } }),
      );
      assert.equal(message, "the proxy 127.0.0.1:1 cannot be reached: ECONNREFUSED");
    });

    it("fails as without a proxy if no answer comes, or if the connection breaks", async () => {
      proxy.behaviour = "hang";
      assert.equal((await failing(send({ timeout: 300 }))).code, "ETIMEDOUT");
      proxy.behaviour = "close";
      assert.equal((await failing(send())).code, "ECONNRESET");
    });

    it("ends with its signal", async () => {
      proxy.behaviour = "hang";
      const error = await failing(send({ signal: AbortSignal.timeout(50), timeout: 60_000 }));
      assert.equal(error.name, "TimeoutError");
    });

    it("lets the commands sign in to a cloud that only the proxy reaches", async () => {
      const cloud = await startFakeCloud();
      try {
        const env = cloud.environment();
        const { port } = new URL(env["OS_AUTH_URL"] ?? "");
        const far = (env["OS_AUTH_URL"] ?? "").replace("127.0.0.1", "cloud.example");
        const client = await connectCloud({
          env: { ...env, OS_AUTH_URL: far, HTTP_PROXY: proxy.url() },
        });
        assert.equal(client.authUrl, far);
        assert.equal(
          proxy.asked.join(),
          `POST http://cloud.example:${port}/identity/v3/auth/tokens`,
        );
        const wrong = { ...env, OS_AUTH_URL: far, HTTP_PROXY: "socks5://p" };
        await assert.rejects(connectCloud({ env: wrong }), /^Failure: HTTP_PROXY: 'socks5:/);
        const absent = { ...env, OS_AUTH_URL: far, HTTP_PROXY: "http://127.0.0.1:1" };
        const error = await refused(connectCloud({ env: absent }));
        assert.match(error.message, /\(the proxy 127\.0\.0\.1:1 cannot be reached: ECONNREFUSED\)/);
      } finally {
        await cloud.close();
      }
    });
  });

  describe("to a server with TLS", () => {
    let authority: Authority;
    let other: Authority;
    let server: Server;
    let url: string;
    before(async () => {
      [authority, other] = await Promise.all([Authority.found(), Authority.found()]);
      const pair = await authority.sign("server", "DNS:cloud.example");
      await authority.sign("client");
      const ca = authority.read("ca.pem");
      const options = { ...pair, ca, requestCert: true, rejectUnauthorized: false };
      server = createServer(options, ({ socket, method }, response) => {
        const authorized = socket instanceof TLSSocket && socket.authorized;
        response.end(JSON.stringify({ method, authorized }));
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      url = `https://cloud.example:${String((server.address() as AddressInfo).port)}/`;
    });
    after(() => {
      server.closeAllConnections();
      server.close();
      authority.remove();
      other.remove();
    });
    const send = (options: HttpOptions = {}) =>
      sendHttpRequest(url, {
        ca: authority.read("ca.pem"),
        proxies: { HTTPS_PROXY: proxy.url() },
        timeout: 5000,
        ...options,
      });

    it("uses a tunnel, and verifies the certificate of the server", async () => {
      const { body } = await send();
      assert.deepEqual(JSON.parse(body), { method: "GET", authorized: false });
      assert.deepEqual(proxy.asked, [`CONNECT ${new URL(url).host}`]);
    });

    it("sends the client certificate", async () => {
      const [cert, key] = [authority.read("client.pem"), authority.read("client.key")];
      const { body } = await send({ cert, key, method: "DELETE" });
      assert.deepEqual(JSON.parse(body), { method: "DELETE", authorized: true });
    });

    it("fails with an untrusted certificate, unless verification is off", async () => {
      const ca = other.read("ca.pem");
      assert.ok(isUntrustedCertificate(await failing(send({ ca }))));
      assert.equal((await send({ ca, verify: false })).status, 200);
    });

    it("fails with a certificate of another host", async () => {
      const { port } = new URL(url);
      const wrong = sendHttpRequest(`https://other.example:${port}/`, {
        ca: authority.read("ca.pem"),
        proxies: { HTTPS_PROXY: proxy.url() },
        timeout: 5000,
      });
      assert.ok(isUntrustedCertificate(await failing(wrong)));
    });

    it("fails with the proxy's status if the proxy refuses the tunnel", async () => {
      proxy.behaviour = 403;
      assert.match((await failing(send())).message, /^the proxy 127\.0\.0\.1:\d+ answered 403$/);
    });

    it("fails once if the proxy closes the tunnel or does not answer", async () => {
      proxy.behaviour = "close";
      assert.equal((await failing(send())).code, "ECONNRESET");
      assert.equal(proxy.asked.length, 1);
      proxy.behaviour = "hang";
      assert.equal((await failing(send({ timeout: 300 }))).code, "ETIMEDOUT");
    });
  });
});
