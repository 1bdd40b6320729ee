import { strict as assert } from "node:assert";
import { parseClusterSpec } from "../../../../../components/config/cluster-spec.js";
import { isCredentialSupplied } from "../../../../../components/config/cloud/credential.js";
import { findPlainTextSecrets } from "../../../../../components/config/plain-text-secrets.js";
import { smallest } from "../../../../support/config/spec.js";

const password = { secure: "v1:AAAA" };
const parsed = (credential: object) => parseClusterSpec({ ...smallest, credential });
const problems = (credential: object): string[] => {
  const result = parsed(credential);
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path}: ${message}`)
    : [];
};

describe("credential of a cluster's controllers", () => {
  it("is created by the program, supplied by the user, or a user by name or ID", () => {
    const ways: readonly (readonly [credential: object, supplied: boolean])[] = [
      [{}, false],
      [{ generation: 1, roles: ["member"], accessRules: ["controllers"] }, false],
      [{ expiresAt: "2027-12-31T00:00:00Z" }, false],
      [{ id: "an-id", secret: password, expiresAt: "2027-12-31T00:00:00Z" }, true],
      [{ username: "shop", password }, true],
      [{ username: "shop", userDomainName: "Services", password }, true],
      [{ userId: "5d6a", password }, true],
    ];
    for (const [credential, supplied] of ways) {
      const result = parsed(credential);
      assert.ok("spec" in result, JSON.stringify(result));
      assert.equal(
        isCredentialSupplied(result.spec.credential),
        supplied,
        JSON.stringify(credential),
      );
    }
    assert.equal(isCredentialSupplied(undefined), false);
  });

  it("is exactly one of the three kinds; the error names the settings to remove", () => {
    const user = { username: "shop", password };
    const rows: readonly (readonly [over: object, sentence: string])[] = [
      [
        { id: "an-id", secret: password },
        "id: is for an application credential, and credential.username names a user; leave one of them out",
      ],
      [
        { secret: password },
        "secret: is for an application credential, and credential.username names a user; leave one of them out",
      ],
      [
        { generation: 1 },
        "generation: is for the credential that the program creates, and credential.username names a user instead; leave it out",
      ],
      [
        { expiresAt: "2027-12-31T00:00:00Z" },
        "expiresAt: is for an application credential, and Keystone reports when a password ends; leave it out",
      ],
      [
        { roles: ["member"] },
        "roles: is for the credential that the program creates, and credential.username names a user instead; leave them out",
      ],
      [
        { accessRules: ["controllers"] },
        "accessRules: is for the credential that the program creates, and credential.username names a user instead; leave them out",
      ],
    ];
    for (const [over, sentence] of rows)
      assert.deepEqual(problems({ ...user, ...over }), [`cluster.credential.${sentence}`]);
  });

  it("requires one user with a password", () => {
    const missing = "is missing; write";
    assert.deepEqual(problems({ username: "shop" }), [
      `cluster.credential.password: ${missing} the password of the user, encrypted`,
    ]);
    for (const alone of [{ password }, { userDomainName: "Services", password }])
      assert.deepEqual(problems(alone), [
        `cluster.credential.username: ${missing} the name of the user, or userId`,
      ]);
    const byId = "belongs to the name of a user, and credential.userId is set; leave it out";
    assert.deepEqual(
      problems({ username: "shop", userDomainName: "Services", userId: "5d6a", password }),
      ["username", "userDomainName"].map((key) => `cluster.credential.${key}: ${byId}`),
    );
  });

  it("must not contain a password in plain text", () => {
    const open = (credential: object): string[] => {
      const result = parsed(credential);
      assert.ok("spec" in result);
      return findPlainTextSecrets(result.spec, "stackadm").map(
        ({ path, message }) => `${path}: ${message}`,
      );
    };
    assert.deepEqual(open({ username: "shop", password }), []);
    const [sentence = "", ...more] = open({ username: "shop", password: "CANARY" });
    assert.match(sentence, /^cluster\.credential\.password: is not encrypted; write it with/);
    assert.doesNotMatch(sentence, /CANARY/);
    assert.deepEqual(more, []);
  });
});
