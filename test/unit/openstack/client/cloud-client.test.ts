import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  buildAuthenticationRequest,
  connectCloud,
} from "../../../../openstack/client/cloud-client.js";
import type { CloudError } from "../../../../openstack/http/cloud-error.js";
import { createServerTls, type ServerTls } from "../../../../packages/lab/certificates.js";
import {
  fakeProject,
  fakeUser,
  startFakeCloud,
  tokenOf,
  type FakeCloud,
} from "../../../support/cloud/fake-openstack.js";
import { refused } from "../support/refused.js";

/**
 * Returns the authentication error of a client that trusts `authority`, at a TLS server that knows
 * no users.
 */
async function signInOverTls(
  { privateKey: key, certificate: cert }: ServerTls,
  authority?: string,
): Promise<{ readonly error: CloudError; readonly origin: string }> {
  const directory = mkdtempSync(join(tmpdir(), "client-tls-"));
  const server = createServer({ key, cert }, (_request, response) => response.end("{}"));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const file = join(directory, "ca.pem");
  if (authority !== undefined) writeFileSync(file, authority);
  const user = { OS_USERNAME: "demo", OS_PASSWORD: "demo", OS_PROJECT_NAME: "demo" };
  const env = { ...user, OS_AUTH_URL: `${origin}/v3`, ...(authority && { OS_CACERT: file }) };
  try {
    return { error: await refused(connectCloud({ env })), origin };
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  }
}

const signIns = (cloud: FakeCloud): number =>
  cloud.seen.filter(({ path }) => path.endsWith("/auth/tokens")).length;

describe("OpenStack client", () => {
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
  });
  afterEach(async () => {
    await cloud.close();
  });
  const connect = (changes: Readonly<Record<string, string>> = {}) =>
    connectCloud({ env: cloud.environment(changes) });

  it("signs in once and uses the token for every request", async () => {
    cloud.on("GET /compute/servers", { body: { servers: [] } });
    const client = await connect();
    assert.deepEqual(await client.request("compute", "GET", "/servers"), { servers: [] });
    await client.request("compute", "GET", "/servers");
    assert.equal(signIns(cloud), 1);
    assert.equal(cloud.seen.at(-1)?.headers["x-auth-token"], tokenOf(fakeUser));
    assert.equal(client.projectId, fakeProject);
    assert.equal(client.userId, fakeUser);
    assert.equal(client.region, "one");
  });

  it("uses the public endpoint of its region", async () => {
    cloud.on("GET /network/networks", { body: { networks: [] } });
    await (await connect()).request("network", "GET", "/networks");
    assert.equal(cloud.seen.at(-1)?.path, "/network/networks");
  });

  it("requests a Nova microversion that includes tags", async () => {
    cloud.on("GET /compute/servers", { body: {} });
    await (await connect()).request("compute", "GET", "/servers");
    assert.equal(cloud.seen.at(-1)?.headers["x-openstack-nova-api-version"], "2.60");
  });

  it("signs in again if the token is about to expire", async () => {
    await cloud.close();
    cloud = await startFakeCloud({ tokenLife: 30_000 });
    cloud.on("GET /compute/servers", { body: {} });
    await (await connect()).request("compute", "GET", "/servers");
    assert.equal(signIns(cloud), 2);
  });

  it("signs in again only once for requests at the same time", async () => {
    await cloud.close();
    cloud = await startFakeCloud({ tokenLife: 30_000 });
    cloud.on("GET /compute/servers", { body: {} });
    const client = await connect();
    const requests = Array.from({ length: 5 }, () => client.request("compute", "GET", "/servers"));
    await Promise.all(requests);
    assert.equal(signIns(cloud), 2);
  });

  it("refuses a cloud with several regions if none is configured", async () => {
    const error = await refused(connect({ OS_REGION_NAME: "" }));
    assert.match(error.message, /^Cloud 'OS_AUTH_URL' has several regions: one, two\.$/);
    assert.match(error.hint, /OS_REGION_NAME/);
  });

  it("finds block storage under each of its names, or under the given name only", async () => {
    await cloud.close();
    cloud = await startFakeCloud({ services: ["block-storage"] });
    const client = await connect();
    assert.equal(client.offers("volumev3"), true);
    assert.equal(client.offers("volumev3", "block-storage"), true);
    assert.equal(client.offers("volumev3", "volumev3"), false);
    assert.equal(client.offers("compute"), false);
  });

  it("signs in again once if the token is refused", async () => {
    let calls = 0;
    cloud.on("GET /compute/servers", () => ({ status: (calls += 1) === 1 ? 401 : 200, body: {} }));
    await (await connect()).request("compute", "GET", "/servers");
    assert.equal(calls, 2);
    assert.equal(signIns(cloud), 2);
  });

  it("sends a body and returns undefined for an empty response", async () => {
    cloud.on("DELETE /compute/servers/1", { status: 204 });
    cloud.on("POST /compute/servers", ({ body }) => ({ status: 202, body: { got: body } }));
    const client = await connect();
    assert.equal(await client.request("compute", "DELETE", "/servers/1"), undefined);
    assert.deepEqual(await client.request("compute", "POST", "/servers", { a: 1 }), {
      got: { a: 1 },
    });
  });

  it("reports a wrong password in one sentence, without the password", async () => {
    cloud.on("POST /identity/v3/auth/tokens", { status: 401, body: { error: { message: "no" } } });
    const error = await refused(connect());
    assert.equal(error.kind, "unauthenticated");
    assert.match(error.message, /refused the user name or password/);
    assert.doesNotMatch(error.message + error.hint, /correct horse/);
  });

  it("reports an unreachable cloud in one sentence, with its address", async () => {
    const error = await refused(connect({ OS_AUTH_URL: "http://127.0.0.1:1/v3" }));
    assert.equal(error.kind, "unreachable");
    assert.match(error.message, /cannot be reached at http:\/\/127\.0\.0\.1:1 \(ECONNREFUSED\)/);
  });

  it("reports an unverifiable certificate and what to write in clouds.yaml", async () => {
    const address = "127.0.0.1";
    const [own, other] = [await createServerTls(address), await createServerTls(address)];
    const elsewhere = await createServerTls("10.0.0.5");
    for (const [server, authority] of [
      [own, undefined],
      [own, other.authority],
      [elsewhere, elsewhere.authority],
    ] as const) {
      const { error, origin } = await signInOverTls(server, authority);
      assert.deepEqual([error.kind, error.code], ["untrusted", "CLOUD_UNTRUSTED"]);
      assert.ok(error.message.includes(origin), error.message);
      assert.match(error.message, /certificate .* cannot be verified \(.+\)\.$/);
      assert.match(error.hint, /`cacert` in clouds\.yaml/);
      assert.doesNotMatch(error.message, /\n/);
    }
    // With the right CA, the client receives the answer and rejects only its content.
    assert.equal((await signInOverTls(own, own.authority)).error.kind, "failed");
  });

  it("requires a project in the credentials", async () => {
    cloud.on("POST /identity/v3/auth/tokens", {
      headers: { "x-subject-token": "t" },
      body: { token: { expires_at: "2100-01-01T00:00:00Z", user: { id: "u" } } },
    });
    assert.match((await refused(connect())).message, /not scoped to a project/);
  });

  it("refuses a server that is not an identity service", async () => {
    cloud.on("POST /identity/v3/auth/tokens", { body: { hello: "world" } });
    assert.match((await refused(connect())).message, /does not answer like an identity service/);
    cloud.on("POST /identity/v3/auth/tokens", { body: "<html>Sign in</html>" });
    assert.match((await refused(connect())).message, /does not answer like an identity service/);
  });

  it("refuses a response in another format", async () => {
    cloud.on("GET /network/ports", { body: "<html>Sign in</html>" });
    const error = await refused((await connect()).request("network", "GET", "/ports"));
    assert.match(error.message, /^GET network \/ports got an answer that is not JSON/);
  });

  it("reports a service that is missing in the catalog, and the region", async () => {
    await cloud.close();
    cloud = await startFakeCloud({ services: ["compute"] });
    const client = await connect();
    assert.equal(client.offers("load-balancer"), false);
    assert.equal(client.offers("compute"), true);
    const error = await refused(client.request("load-balancer", "GET", "/lbaas/loadbalancers"));
    assert.match(error.message, /offers no load-balancer service in region one/);
  });

  it("passes on a service's error message with kind and status", async () => {
    cloud.on("POST /network/ports", {
      status: 409,
      body: {
        NeutronError: {
          type: "OverQuota",
          message: "Quota exceeded for resources: ['port'].",
          detail: "",
        },
      },
    });
    const error = await refused((await connect()).request("network", "POST", "/ports", {}));
    assert.equal(error.kind, "quota");
    assert.equal(error.status, 409);
    assert.match(error.message, /Quota exceeded for resources: \['port'\]/);
  });
});

describe("buildAuthenticationRequest", () => {
  const scope = { projectName: "p", projectDomain: { name: "d" } };

  it("contains user, domain and project of a password credential", () => {
    const request = buildAuthenticationRequest({
      kind: "password",
      username: "u",
      userDomain: { id: "default" },
      password: "x",
      scope,
    });
    assert.deepEqual(request, {
      auth: {
        identity: {
          methods: ["password"],
          password: { user: { name: "u", domain: { id: "default" }, password: "x" } },
        },
        scope: { project: { name: "p", domain: { name: "d" } } },
      },
    });
  });

  it("contains no scope for an application credential, which has its own", () => {
    const request = buildAuthenticationRequest({
      kind: "application",
      id: "i",
      secret: "s",
      userDomain: { id: "default" },
    });
    assert.deepEqual(request, {
      auth: {
        identity: {
          methods: ["application_credential"],
          application_credential: { id: "i", secret: "s" },
        },
      },
    });
  });

  it("names an application credential by name and user without an ID", () => {
    const request = buildAuthenticationRequest({
      kind: "application",
      name: "n",
      username: "u",
      secret: "s",
      userDomain: { name: "d" },
    });
    assert.match(
      JSON.stringify(request),
      /"name":"n","user":\{"name":"u","domain":\{"name":"d"\}\}/,
    );
  });

  it("prefers IDs to names", () => {
    const request = buildAuthenticationRequest({
      kind: "token",
      token: "t",
      scope: { projectId: "1", projectName: "p", projectDomain: { id: "default" } },
    });
    assert.match(JSON.stringify(request), /"scope":\{"project":\{"id":"1"\}\}/);
  });
});
