import assert from "node:assert/strict";
import { findCredentialWarnings } from "../../../../automation/health/credential-expiry.js";
import { urnOf } from "../../../support/engine/fake-engine.js";

const now = Date.parse("2027-01-01T00:00:00Z");
const [far, soon, gone] = ["2027-02-01T00:00:00Z", "2027-01-11T00:00:00Z", "2026-12-31T00:00:00Z"];
const type = "openstack:identity/applicationCredential:ApplicationCredential";

describe("findCredentialWarnings", () => {
  const made = (fields: object, kind = `stackadm:identity:ApplicationCredential$${type}`) => ({
    urn: urnOf(kind, "dev-credential-credential"),
    type,
    custom: true,
    id: "c",
    ...fields,
  });
  const asked = (resources: ReturnType<typeof made>[], supplied?: string): string[] =>
    findCredentialWarnings(
      { version: 3, deployment: { resources } },
      { stack: "shop", supplied, now },
    );

  it("returns nothing for a distant end, an unlimited credential or none", () => {
    assert.deepEqual(asked([]), []);
    for (const expiresAt of [far, "", null, undefined])
      assert.deepEqual(asked([made({ outputs: { expiresAt } })]), [], String(expiresAt));
  });

  it("warns before and after the end, and describes how to renew the credential", () => {
    const todo =
      "; write a later `credential.expiresAt`, or raise `credential.generation` if none is written, and run `stackadm up --stack shop`";
    const [text = "", ...more] = asked([made({ outputs: { expiresAt: soon } })]);
    assert.match(text, /^the credential of the cluster's controllers ends at 2027-01-11\S+, in 10/);
    assert.ok(text.endsWith(todo), text);
    assert.deepEqual(more, []);
    const [over = ""] = asked([made({ inputs: { expiresAt: gone }, outputs: {} })]);
    assert.match(
      over,
      / ended at 2026-12-31T00:00:00Z: without it, the cluster can create neither/,
    );
    assert.ok(over.endsWith(todo), over);
  });

  it("checks the credential in the state before the supplied one in the settings", () => {
    assert.deepEqual(asked([made({ outputs: { expiresAt: far } })], soon), []);
    const [text = ""] = asked([], soon);
    assert.match(text, /in 10 days: .*; write a new `credential\.id` and `credential\.secret`, w/);
    assert.deepEqual(asked([], far), []);
  });

  it("ignores the program's own credentials", () => {
    assert.deepEqual(asked([made({ outputs: { expiresAt: gone } }, type)]), []);
  });
});
