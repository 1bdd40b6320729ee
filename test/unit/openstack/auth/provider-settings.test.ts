import assert from "node:assert/strict";
import {
  getProviderDecision,
  providerKeys,
  requireEncryptedSecrets,
  requireUsableProvider,
  type ProviderKey,
} from "../../../../openstack/auth/provider-settings.js";
import { schemaOf } from "../../../support/cloud/openstack-schemas.js";
import { refusal } from "../support/clouds-folder.js";

const settingsOf = (version: "3.15.2" | "5.5.1"): string[] =>
  Object.keys((schemaOf(version) as unknown as { readonly provider: object }).provider);

const connected = (key: ProviderKey): boolean => getProviderDecision(key).kind === "connection";

describe("a setting of OpenStack's provider", () => {
  it("has a decision for each key of both plugins, and there is no decision for another key", () => {
    const all = new Set([...settingsOf("3.15.2"), ...settingsOf("5.5.1")]);
    assert.deepEqual([...providerKeys].sort(), [...all].sort());
  });

  it("has a variable if it belongs to the connection, and no two settings share a variable", () => {
    const variables = providerKeys.flatMap((key) => {
      const decision = getProviderDecision(key);
      return decision.kind === "connection" ? decision.variables : [];
    });
    assert.equal(new Set(variables).size, variables.length);
    assert.deepEqual(
      providerKeys.filter((key) => getProviderDecision(key).kind === "passed on"),
      ["disableNoCacheHeader", "enableLogging", "maxRetries"],
    );
  });

  const where = "Pulumi.prod.yaml";
  const plain = (settings: object) => ({ plain: settings, encrypted: [] });

  it("is accepted with the value that the program relies on", () => {
    requireUsableProvider(
      plain({
        allowReauth: true,
        delayedAuth: "true",
        swauth: false,
        useOctavia: true,
        maxRetries: 3,
      }),
      where,
    );
  });

  it("is refused with any other value, with all problems in one error", () => {
    const { message, code } = refusal(() => {
      requireUsableProvider(
        plain({
          allowReauth: false,
          systemScope: true,
          endpointOverrides: { compute: "x" },
          region: "",
        }),
        where,
      );
    });
    assert.equal(code, "CLOUD_NOT_CONFIGURED");
    assert.match(message, /^Pulumi\.prod\.yaml: openstack:allowReauth can only be true, because /);
    assert.match(message, /openstack:endpointOverrides is not supported, because /);
    assert.match(message, /openstack:systemScope can only be false, because a cluster belongs to /);
    assert.match(
      message,
      /openstack:region is empty; delete it: `pulumi config rm openstack:region`/,
    );
  });

  it("of a login is refused next to openstack:cloud, because the provider would ignore it", () => {
    for (const key of providerKeys.filter(connected)) {
      const check = (): void => {
        requireUsableProvider(
          plain({ cloud: "prod", [key]: key === "cloud" ? "prod" : "x" }),
          where,
        );
      };
      const decision = getProviderDecision(key);
      if (decision.kind === "connection" && decision.login)
        assert.match(refusal(check).message, new RegExp(`openstack:${key} would be ignored by `));
      else check();
    }
    const encrypted = { plain: { cloud: "prod" }, encrypted: ["password"] as const };
    assert.match(
      refusal(() => {
        requireUsableProvider(encrypted, where);
      }).message,
      /openstack:password would be ignored/,
    );
  });

  it("of one kind of login is refused next to another kind", () => {
    const { message } = refusal(() => {
      const login = { password: "p", applicationCredentialId: "i" };
      requireUsableProvider({ plain: login, encrypted: ["token"] }, where);
    });
    assert.match(
      message,
      /: openstack:password, openstack:token, openstack:applicationCredentialId belong to different logins; keep one of them\.$/,
    );
  });

  it("is refused if it is encrypted although it is no secret and is needed before the decryption", () => {
    const { message } = refusal(() => {
      requireUsableProvider({ plain: {}, encrypted: ["cloud", "authUrl", "userName"] }, where);
    });
    assert.match(
      message,
      /openstack:cloud is no secret; write it in plain text; openstack:authUrl is/,
    );
    assert.doesNotMatch(message, /userName/);
  });

  it("with a secret must be encrypted", () => {
    const pem = "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----";
    const { message, hint } = refusal(() => {
      requireEncryptedSecrets({ password: "p-word", key: pem, userName: "u" }, where);
    });
    assert.match(message, /openstack:key, openstack:password must be encrypted/);
    assert.match(
      hint,
      /`pulumi config set --secret openstack:key` and `pulumi config set --secret/,
    );
    assert.doesNotMatch(message + hint, /p-word|BEGIN/);
    requireEncryptedSecrets({ userName: "u", key: "/etc/key.pem" }, where);
  });
});
