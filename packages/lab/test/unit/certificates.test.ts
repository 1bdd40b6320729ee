import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { sendHttpRequest } from "../../../../openstack/http/http-exchange.js";
import { createServerTls, type ServerTls } from "../../certificates.js";

describe("createServerTls", () => {
  let made: ServerTls;
  before(async () => {
    made = await createServerTls("127.0.0.1");
  });

  /**
   * Starts a TLS server with this certificate. Returns its answer to a client that trusts only
   * `ca`.
   */
  async function asked(server: ServerTls, ca: string): Promise<string> {
    const { privateKey: key, certificate: cert } = server;
    const listening = createServer({ key, cert }, (_request, response) => response.end("here"));
    await new Promise<void>((done) => listening.listen(0, "127.0.0.1", done));
    const { port } = listening.address() as AddressInfo;
    try {
      const { body } = await sendHttpRequest(`https://127.0.0.1:${port}/`, { ca });
      return body;
    } catch (error) {
      return String(error);
    } finally {
      listening.closeAllConnections();
      listening.close();
    }
  }

  it("creates a certificate that only clients with the authority accept", async () => {
    const others = await createServerTls("127.0.0.1");
    assert.equal(await asked(made, made.authority), "here");
    assert.match(await asked(made, others.authority), /unable to verify|signature failure/);
  });

  it("creates a certificate for one address only", async () => {
    const elsewhere = await createServerTls("172.29.0.2");
    assert.match(await asked(elsewhere, elsewhere.authority), /IP: 127\.0\.0\.1 is not in/);
    assert.equal(new X509Certificate(elsewhere.certificate).checkIP("172.29.0.2"), "172.29.0.2");
  });

  it("creates an authority and a server certificate with exactly their usages", () => {
    const [authority, server] = [made.authority, made.certificate].map(
      (text) => new X509Certificate(text),
    );
    assert.ok(authority && server);
    assert.deepEqual([authority.ca, server.ca], [true, false]);
    assert.ok(server.checkIssued(authority));
    assert.deepEqual(server.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
    assert.ok(server.checkPrivateKey(createPrivateKey(made.privateKey)));
    assert.ok(!authority.checkPrivateKey(createPrivateKey(made.privateKey)));
  });
});
