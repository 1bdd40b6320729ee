import { strict as assert } from "node:assert";
import { createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
import { request, createServer } from "node:https";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { deriveServerCertificate } from "../../../../components/identity/webhook-certificate.js";

const seed = Buffer.alloc(32, 7).toString("base64");
const local = { purpose: "webhook", address: "127.0.0.1" };

/**
 * Returns the answer that a client that only trusts `ca` gets from a server with that certificate,
 * or the TLS error.
 */
async function asked(
  server: ReturnType<typeof deriveServerCertificate>,
  ca: string,
): Promise<string> {
  const listening = createServer(
    { key: server.privateKey, cert: server.certificate },
    (_request, response) => response.end("here"),
  );
  await new Promise<void>((done) => listening.listen(0, "127.0.0.1", done));
  const { port } = listening.address() as AddressInfo;
  try {
    return await new Promise<string>((done) => {
      const sent = request({ host: "127.0.0.1", port, ca, agent: false }, (response) => {
        response.on("data", (data: Buffer) => {
          done(data.toString());
        });
      });
      sent.on("error", ({ message }) => {
        done(message);
      });
      sent.end();
    });
  } finally {
    listening.close();
  }
}

describe("deriveServerCertificate", () => {
  it("is accepted only by a client that trusts exactly this certificate", async () => {
    const own = deriveServerCertificate(seed, local);
    const others = deriveServerCertificate(randomBytes(32).toString("base64"), local);
    assert.equal(await asked(own, own.certificate), "here");
    assert.match(await asked(others, own.certificate), /self.signed|unable to verify/);
  });

  it("is valid for its address only", async () => {
    const elsewhere = deriveServerCertificate(seed, { ...local, address: "10.0.0.5" });
    assert.match(await asked(elsewhere, elsewhere.certificate), /IP: 127\.0\.0\.1 is not in/);
  });

  it("returns the same certificate for the same seed and purpose; it is no authority and does not expire", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 40 }), fc.ipV4(), (bytes, address) => {
        const text = Buffer.from(bytes).toString("base64");
        const made = deriveServerCertificate(text, { ...local, address });
        assert.deepEqual(deriveServerCertificate(text, { ...local, address }), made);
        const other = deriveServerCertificate(text, { purpose: "other", address });
        assert.notEqual(other.privateKey, made.privateKey);
        const read = new X509Certificate(made.certificate);
        assert.equal(read.checkIP(address), address);
        assert.ok(read.verify(read.publicKey));
        assert.ok(read.checkPrivateKey(createPrivateKey(made.privateKey)));
        assert.equal(read.ca, false);
        assert.match(read.validTo, /Dec 31 23:59:59 9999 GMT/);
        assert.match(read.serialNumber, /^01[0-9A-F]{30}$/);
      }),
      { numRuns: 30 },
    );
  });
});
