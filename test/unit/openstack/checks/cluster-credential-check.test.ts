import assert from "node:assert/strict";
import { CloudError, createStatusError } from "../../../../openstack/http/cloud-error.js";
import type { CloudClient } from "../../../../openstack/client/cloud-client.js";
import {
  checkClusterCredential,
  getExpiryWarning,
  isOwnedByAnotherUser,
  selectCredentialRoles,
} from "../../../../openstack/checks/cluster-credential-check.js";

const now = Date.parse("2027-01-01T00:00:00Z");

describe("credential of a cluster's controllers", () => {
  it("has the roles that suffice, or the named ones, never all of the user's", () => {
    assert.deepEqual(selectCredentialRoles(["admin", "Member", "reader"]), ["Member"]);
    assert.deepEqual(selectCredentialRoles(["admin", "tenant"]), []);
    assert.deepEqual(selectCredentialRoles(["admin", "tenant"], { credentialRoles: ["tenant"] }), [
      "tenant",
    ]);
  });

  it("causes a warning if expired or valid for less than 30 days", () => {
    assert.equal(getExpiryWarning("2027-02-01T00:00:00Z", now), undefined);
    assert.match(
      getExpiryWarning("2027-01-11T00:00:00Z", now) ?? "",
      /in 10 days: without it, the cluster can/,
    );
    assert.match(getExpiryWarning("2026-12-31T00:00:00Z", now) ?? "", / ended at 2026-12-31/);
  });

  it("is refused for a new cluster if roles or rights are missing or its end has passed", () => {
    const free = { restricted: false, roles: ["member"] };
    const asked = (facts: object, needs: object, exists = false): string[] =>
      checkClusterCredential(
        { ...free, ...facts },
        { makesCredential: true, ...needs },
        { exists, now },
      ).map(({ severity, text }) => `${severity} ${text}`);
    assert.deepEqual(asked({}, {}), []);
    assert.match(asked({ roles: ["tenant"] }, {}).join(), /^problem credential\.roles: none of/);
    assert.match(asked({}, { credentialRoles: ["x"] }).join(), /you do not have x in the project/);
    assert.match(
      asked({ restricted: true }, {}).join(),
      /^problem credential: your application credential is/,
    );
    assert.deepEqual(asked({ restricted: true, roles: [] }, { credentialRoles: ["x"] }, true), []);
    const [soon, gone] = ["2027-01-11T00:00:00Z", "2026-12-31T00:00:00Z"];
    for (const exists of [false, true]) {
      assert.match(asked({}, { credentialEnd: soon }, exists).join(), /^warning credential\.exp/);
      assert.match(asked({}, { credentialEnd: gone }, exists).join(), /^problem credential\.exp/);
    }
    const supplied = { makesCredential: false, credentialEnd: gone };
    assert.match(asked({}, supplied).join(), /; write a new credential\.id and credential\.secret/);
  });

  it("is considered another user's only if Keystone answers 403", async () => {
    const answering = (status: number): CloudClient => {
      const body = JSON.stringify({ error: { code: status, message: "no" } });
      const request = (_service: string, _method: string, path: string): Promise<unknown> => {
        assert.equal(path, "/users/me/application_credentials/one");
        return status === 200
          ? Promise.resolve({})
          : Promise.reject(createStatusError("GET", status, body));
      };
      return { userId: "me", request } as unknown as CloudClient;
    };
    for (const [status, anothers] of [
      [200, false],
      [403, true],
      [404, false],
    ] as const)
      assert.equal(await isOwnedByAnotherUser(answering(status), "one"), anothers, String(status));
    await assert.rejects(isOwnedByAnotherUser(answering(503), "one"), CloudError);
  });
});
