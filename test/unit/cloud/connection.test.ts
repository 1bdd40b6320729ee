import assert from "node:assert/strict";
import type { Connection } from "../../../cloud/client.js";
import { connectionFindings } from "../../../cloud/connection.js";

const plain: Connection = { verify: true, certified: false };
const texts = (
  connection: Partial<Connection>,
  { controllersVerify = true, authUrl = "https://k/v3" } = {},
): string[] =>
  connectionFindings(
    { authUrl, connection: { ...plain, ...connection } },
    { controllersVerify },
  ).map(({ severity, text }) => `${severity}: ${text}`);

describe("the operator's way to the cloud", () => {
  it("is everybody's as a rule", () => {
    assert.deepEqual(texts({}), []);
  });

  it("is refused with a client certificate, which the cluster's controllers cannot have", () => {
    assert.deepEqual(texts({ certified: true }), [
      "problem: cert: you show the cloud a client certificate, which the cluster's controllers cannot have; use endpoints that ask for none, and leave cert and key out",
    ]);
  });

  it("is warned of when the controllers check a certificate that it does not check", () => {
    const [found] = texts({ verify: false });
    assert.match(
      found ?? "",
      /^warning: verify: .*`cacert` in clouds\.yaml, or write .*tlsInsecure/,
    );
    assert.deepEqual(texts({ verify: false }, { controllersVerify: false }), []);
    assert.deepEqual(texts({ verify: false }, { authUrl: "http://k/v3" }), []);
  });
});
