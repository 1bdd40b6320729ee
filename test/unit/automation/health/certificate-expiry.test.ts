import assert from "node:assert/strict";
import { stringify } from "yaml";
import {
  findCertificateWarnings,
  describeFirstExpiringCertificate,
} from "../../../../automation/health/certificate-expiry.js";
import { deriveServerCertificate } from "../../../../components/identity/webhook-certificate.js";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
/** Certificate that is valid from 2020 to the end of 9999. */
const { certificate } = deriveServerCertificate("seed", { purpose: "test", address: "192.0.2.1" });
const kubeconfig = stringify({
  clusters: [{ cluster: { "certificate-authority-data": "Q0E=" } }],
  users: [{ user: { "client-certificate-data": base64(certificate), "client-key-data": "S0VZ" } }],
});
const node = (name: string, file: string, by: string, end: string) => ({
  name,
  certificate: { file, by, end },
});
const leaf = node("dev-1", "pki/apiserver.crt", "2027-09-01T00:00:00Z", "2027-11-01T00:00:00Z");
const authority = node("dev-0", "pki/ca.crt", "2027-10-01T00:00:00Z", "2029-01-01T00:00:00Z");
const nodes = [authority, leaf, { name: "dev-general-0" }];

describe("certificates of a running cluster", () => {
  const warned = (now: string): string[] =>
    findCertificateWarnings({ nodes, kubeconfig }, { stack: "shop", now: Date.parse(now) });

  it("are described by the first one that ends; without certificates the description is undefined", () => {
    assert.equal(
      describeFirstExpiringCertificate(nodes),
      "First certificate to end: pki/apiserver.crt of dev-1, at 2027-11-01T00:00:00Z.",
    );
    assert.equal(describeFirstExpiringCertificate([{ name: "dev-0" }]), undefined);
  });

  it("cause no warning before their renewal is due", () => {
    assert.deepEqual(warned("2027-08-31T00:00:00Z"), []);
  });

  it("cause a warning that explains what to check if the renewal is overdue", () => {
    const why =
      " and was not renewed in time; `journalctl -u stackadm-certificates` on that machine says why";
    assert.deepEqual(warned("2027-09-02T00:00:00Z"), [
      `pki/apiserver.crt of dev-1 ends at 2027-11-01T00:00:00Z${why}`,
    ]);
    const [first = "", second] = warned("2027-12-01T00:00:00Z");
    assert.match(first, /^pki\/ca\.crt of dev-0 ends at .*\. Nothing renews a CA: see /);
    assert.equal(second, `pki/apiserver.crt of dev-1 ended at 2027-11-01T00:00:00Z${why}`);
  });

  it("include the kubeconfig's certificate, which `up` renews", () => {
    const now = Date.parse("8000-01-01T00:00:00Z");
    const [text = "", ...more] = findCertificateWarnings(
      { nodes: [], kubeconfig },
      { stack: "shop", now },
    );
    assert.match(text, /^the certificate of the stack's kubeconfig ends at 9999-12-31T/);
    assert.match(text, /; renew it with `stackadm up --stack shop`$/);
    assert.deepEqual(more, []);
    assert.deepEqual(
      findCertificateWarnings({ nodes: [], kubeconfig: "x" }, { stack: "shop", now }),
      [],
    );
  });
});
