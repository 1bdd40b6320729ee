import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { connectCloud, type CloudClient } from "../../../../openstack/client/cloud-client.js";
import {
  startFakeCloud,
  type FakeAnswer,
  type FakeCloud,
  type FakeOptions,
} from "../../../support/cloud/fake-openstack.js";
import { Authority } from "../support/authority.js";
import { refused } from "../support/refused.js";

describe("requests to a failing cloud", () => {
  let cloud: FakeCloud;
  let waits: number[];
  beforeEach(async () => {
    cloud = await startFakeCloud();
    waits = [];
  });
  afterEach(async () => {
    await cloud.close();
  });
  const patience = {
    pause: (milliseconds: number) => Promise.resolve(waits.push(milliseconds)),
    random: () => 1,
  };
  const connect = (): Promise<CloudClient> => connectCloud({ env: cloud.environment(), patience });
  /**
   * Sets the answers of a route, one per request, the last one for all further requests; returns a
   * function that returns the number of requests.
   */
  const inTurn = (route: string, ...answers: readonly FakeAnswer[]): (() => number) => {
    let asked = 0;
    cloud.on(route, () => answers[Math.min((asked += 1), answers.length) - 1] ?? {});
    return () => asked;
  };
  const good = { body: { servers: [] } };

  it("are retried after 429 with the delay that the cloud requests", async () => {
    const busy = { status: 429, headers: { "retry-after": "9" } };
    const asked = inTurn("GET /compute/servers", busy, good);
    const client = await connect();
    assert.deepEqual(await client.request("compute", "GET", "/servers"), good.body);
    assert.deepEqual([asked(), waits], [2, [9000]]);
  });

  it("are retried after 503, creates too, because the cloud has not processed them", async () => {
    const asked = inTurn("POST /network/ports", { status: 503 }, { body: { port: {} } });
    assert.deepEqual(await (await connect()).request("network", "POST", "/ports", {}), {
      port: {},
    });
    assert.equal(asked(), 2);
  });

  it("are retried after a connection reset", async () => {
    const asked = inTurn("GET /compute/servers", { status: "reset" }, good);
    assert.deepEqual(await (await connect()).request("compute", "GET", "/servers"), good.body);
    assert.equal(asked(), 2);
  });

  it("are not retried for a create whose response is lost", async () => {
    for (const status of ["reset", 500, 502, 504] as const) {
      const asked = inTurn("POST /network/ports", { status });
      const error = await refused((await connect()).request("network", "POST", "/ports", {}));
      assert.equal(asked(), 1);
      if (status !== "reset") continue;
      assert.equal(
        error.message,
        "POST network /ports: the connection to cloud 'OS_AUTH_URL' broke before the answer came (ECONNRESET, tried once).",
      );
      assert.match(error.hint, /may have done it already: check before/);
    }
  });

  it("use a new connection for creates, so that no idle connection breaks", async () => {
    cloud.on("POST /network/ports", { body: {} });
    cloud.on("GET /network/ports", { body: {} });
    const client = await connect();
    await client.request("network", "GET", "/ports");
    assert.equal(cloud.seen.at(-1)?.headers.connection, "keep-alive");
    await client.request("network", "POST", "/ports", {});
    assert.equal(cloud.seen.at(-1)?.headers.connection, "close");
  });

  it("fail in one sentence with service, request, last status and number of tries", async () => {
    inTurn("GET /compute/servers", { status: 500 }, { status: 503, body: "no servers" });
    const error = await refused((await connect()).request("compute", "GET", "/servers"));
    assert.equal(
      error.message,
      "GET compute /servers: the cloud answered 503 at the last of 5 tries: no servers",
    );
    assert.equal(error.status, 503);
    inTurn("GET /compute/servers", { status: "reset" });
    assert.match(
      (await refused((await connect()).request("compute", "GET", "/servers"))).message,
      /^GET compute \/servers: the connection to cloud .* \(ECONNRESET, tried 5 times\)\.$/,
    );
  });

  it("succeed if a retried delete gets 404", async () => {
    inTurn("DELETE /compute/servers/1", { status: "reset" }, { status: 404 });
    const client = await connect();
    assert.equal(await client.request("compute", "DELETE", "/servers/1"), undefined);
    inTurn("DELETE /compute/servers/2", { status: 404 });
    const error = await refused(client.request("compute", "DELETE", "/servers/2"));
    assert.equal(error.kind, "not-found");
  });

  it("fail if a proxy answers a retried delete with 404, because the object may exist", async () => {
    inTurn("DELETE /compute/servers/3", { status: "reset" }, { status: 404, body: "404 page" });
    const error = await refused((await connect()).request("compute", "DELETE", "/servers/3"));
    assert.equal(error.kind, "failed");
    assert.match(error.message, /a proxy or ingress answered 404 instead of .*: 404 page$/);
  });

  it("are retried for a sign-in, because an additional token is harmless", async () => {
    inTurn("POST /identity/v3/auth/tokens", { status: 500 });
    assert.equal(
      (await refused(connect())).message,
      "Signing in to the identity service of cloud 'OS_AUTH_URL': the cloud answered 500 at the last of 5 tries",
    );
  });
});

describe("TLS connections to a cloud", () => {
  let own: Authority;
  let other: Authority;
  let server: { key: string; cert: string };
  let cloud: FakeCloud | undefined;
  before(async () => {
    [own, other] = await Promise.all([Authority.found(), Authority.found()]);
    server = await own.sign("server");
    await own.sign("client");
  });
  afterEach(async () => {
    await cloud?.close();
  });
  after(() => {
    own.remove();
    other.remove();
  });
  const connect = async (
    env: Readonly<Record<string, string>>,
    tls: FakeOptions["tls"] = {},
  ): Promise<CloudClient> => {
    cloud = await startFakeCloud({ tls: { ...server, ...tls } });
    return connectCloud({ env: cloud.environment(env) });
  };
  /** TLS 1.2 reports a refusal during the handshake; with 1.3 the connection may break first. */
  const asking = () =>
    ({ requestCert: true, ca: own.read("ca.pem"), maxVersion: "TLSv1.2" }) as const;

  it("trust the cloud's own authority", async () => {
    const client = await connect({ OS_CACERT: own.path("ca.pem") });
    assert.match(client.authUrl, /^https:/);
  });

  it("fail without this authority or with another one, and the hint says what to write", async () => {
    const envs: Record<string, string>[] = [{}, { OS_CACERT: other.path("ca.pem") }];
    for (const env of envs) {
      const error = await refused(connect(env));
      assert.equal(error.kind, "untrusted");
      assert.match(
        error.message,
        /certificate .* at https:\/\/127\.0\.0\.1:\d+ cannot be verified/,
      );
      assert.match(error.hint, /`cacert` in clouds\.yaml \(or OS_CACERT\)/);
      await cloud?.close();
    }
  });

  it("accept any certificate with verify: false", async () => {
    const client = await connect({ OS_INSECURE: "true" });
    assert.equal(client.connection.verify, false);
  });

  it("send the client certificate that the cloud requests", async () => {
    const [OS_CERT, OS_KEY] = [own.path("client.pem"), own.path("client.key")];
    const client = await connect({ OS_CACERT: own.path("ca.pem"), OS_CERT, OS_KEY }, asking());
    const { certified, certificateEnd = "" } = client.connection;
    assert.equal(certified, true);
    assert.equal(
      Date.parse(certificateEnd),
      Date.parse(new X509Certificate(own.read("client.pem")).validTo),
    );
    assert.equal(
      (await connect({ OS_CACERT: own.path("ca.pem") })).connection.certificateEnd,
      undefined,
    );
  });

  it("report that the cloud may require a client certificate", async () => {
    const error = await refused(connect({ OS_CACERT: own.path("ca.pem") }, asking()));
    assert.match(error.message, /rejected the TLS connection at https:/);
    assert.match(error.hint, /`cert` and `key` in clouds\.yaml \(OS_CERT, OS_KEY\)/);
  });
});
