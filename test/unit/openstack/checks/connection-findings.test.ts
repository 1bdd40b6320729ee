import assert from "node:assert/strict";
import type { ConnectionProperties } from "../../../../openstack/auth/connection.js";
import { checkControllerConnection } from "../../../../openstack/checks/connection-findings.js";

const plain: ConnectionProperties = { verify: true, certified: false, certificateEnd: undefined };
const now = Date.parse("2027-01-01T00:00:00Z");
const texts = (
  connection: Partial<ConnectionProperties>,
  { controllersVerify = true, asksKeystone = false, authUrl = "https://k/v3" } = {},
): string[] =>
  checkControllerConnection(
    { authUrl, connection: { ...plain, ...connection } },
    { controllersVerify, asksKeystone },
    now,
  ).map(({ severity, text }) => `${severity}: ${text}`);

describe("checkControllerConnection", () => {
  it("reports nothing for a plain connection", () => {
    assert.deepEqual(texts({}), []);
  });

  it("warns that the cluster's controllers get the client certificate and its key", () => {
    assert.deepEqual(texts({ certified: true, certificateEnd: "2028-01-01T00:00:00Z" }), [
      "warning: cert: the cluster's controllers use your client certificate, too: it is in the cluster's Secret cloud-config with its key; name as cert and key in clouds.yaml a certificate issued for this cluster, not for a person",
    ]);
  });

  it("warns before the client certificate expires", () => {
    const [, soon] = texts({ certified: true, certificateEnd: "2027-01-11T00:00:00.000Z" });
    assert.equal(
      soon,
      "warning: cert: the client certificate of the cluster's controllers ends at 2027-01-11T00:00:00.000Z, in 10 days: without it, the cluster can create neither load balancers nor volumes; name a new one and run up before it ends",
    );
  });

  it("refuses a client certificate with kubernetes.keystone, which does not support one", () => {
    const [refused, ...others] = texts({ certified: true }, { asksKeystone: true });
    assert.equal(
      refused,
      "problem: kubernetes.keystone: the cloud asks for a client certificate, and k8s-keystone-auth supports none; leave kubernetes.keystone out, or write as its url the address of a Keystone that asks for none",
    );
    assert.equal(others.length, 1);
    assert.deepEqual(texts({}, { asksKeystone: true }), []);
  });

  it("warns if only the controllers verify the cloud's certificate", () => {
    const [found] = texts({ verify: false });
    assert.match(
      found ?? "",
      /^warning: verify: .*`cacert` in clouds\.yaml, or write .*tlsInsecure/,
    );
    assert.deepEqual(texts({ verify: false }, { controllersVerify: false }), []);
    assert.deepEqual(texts({ verify: false }, { authUrl: "http://k/v3" }), []);
  });
});
