import assert from "node:assert/strict";
import fc from "fast-check";
import { CloudError } from "../../../../openstack/http/cloud-error.js";
import { findCloud, type CloudSettings } from "../../../../openstack/auth/clouds-file.js";
import type { KeystoneDomain } from "../../../../openstack/auth/credential.js";
import { getProviderEnvironment } from "../../../../openstack/auth/provider-environment.js";
import type { ProviderValues } from "../../../../openstack/auth/provider-settings.js";
import {
  requireSameConnection,
  resolveConnection,
} from "../../../../openstack/auth/resolve-connection.js";
import { modelProviderLogin, type ProviderLogin } from "../../../support/cloud/provider-login.js";
import { CloudsFolder, refusal } from "../support/clouds-folder.js";

const prod = {
  auth_url: "http://prod:5000",
  username: "u",
  password: "p-prod",
  project_name: "shop",
  user_domain_name: "corp",
  project_domain_name: "corp",
};
const robot = {
  auth_url: "http://robot:5000",
  application_credential_id: "robot-id",
  application_credential_secret: "robot-secret",
};
const clouds = { prod, robot };

/** Variables of an openrc file of the cloud `dev`. */
const openrc = {
  OS_AUTH_URL: "http://dev:5000/v3",
  OS_USERNAME: "dev-user",
  OS_PASSWORD: "p-dev",
  OS_PROJECT_ID: "dev-project",
  OS_PROJECT_NAME: "dev",
  OS_USER_DOMAIN_NAME: "Default",
  OS_REGION_NAME: "dev-region",
  OS_INTERFACE: "public",
  OS_IDENTITY_API_VERSION: "3",
};

const domainText = (domain: KeystoneDomain): string =>
  "id" in domain ? `id ${domain.id}` : `name ${domain.name}`;

/** Returns the program's login in the form of the model of the provider. */
function loginOf({ authUrl, credential }: CloudSettings): ProviderLogin {
  if (credential.kind === "application") {
    const { id, name = "", username = "", secret } = credential;
    if (id !== undefined) return { authUrl, method: "application", credential: id, secret };
    const user = `${username} of ${domainText(credential.userDomain)}`;
    return { authUrl, method: "application", credential: name, user, secret };
  }
  const { projectId, projectName, projectDomain } = credential.scope;
  const named =
    projectName === undefined ? "" : `project ${projectName} of ${domainText(projectDomain)}`;
  const scope = projectId === undefined ? named : `project ${projectId}`;
  if (credential.kind === "token")
    return { authUrl, method: "token", secret: credential.token, scope };
  const { userId, username = "", userDomain, password: secret } = credential;
  const user = userId === undefined ? `${username} of ${domainText(userDomain)}` : `id ${userId}`;
  return { authUrl, method: "password", user, secret, scope };
}

describe("resolveConnection", () => {
  let folder: CloudsFolder;
  let file: string;
  before(() => {
    folder = new CloudsFolder();
    const entries = Object.entries(clouds).map(([name, auth]) => [name, { auth }]);
    file = folder.put("clouds.yaml", Object.fromEntries(entries));
  });
  after(() => {
    folder.remove();
  });
  const envOf = (provider: ProviderValues, env: NodeJS.ProcessEnv) =>
    resolveConnection(provider, { OS_CLIENT_CONFIG_FILE: file, ...env }).env;
  const cloudOf = (provider: ProviderValues, env: NodeJS.ProcessEnv) =>
    findCloud(undefined, envOf(provider, env));

  it("returns the environment itself without settings of a connection", () => {
    const env = { ...openrc };
    assert.deepEqual(resolveConnection({ maxRetries: 3 }, env), { env, replaced: [] });
  });

  it("uses the cloud of the settings without any variable, and in place of OS_CLOUD and of an openrc file", () => {
    for (const env of [{}, { OS_CLOUD: "robot" }, openrc, { ...openrc, OS_CLOUD: "robot" }]) {
      const { authUrl, credential } = cloudOf({ cloud: "prod" }, env);
      assert.equal(authUrl, "http://prod:5000");
      assert.ok(credential.kind === "password" && credential.password === "p-prod");
    }
  });

  it("names the variables that the settings replace, without values", () => {
    const settings = { cloud: "prod", region: "one", insecure: true };
    const env = {
      OS_CLOUD: "robot",
      OS_REGION_NAME: "two",
      OS_INSECURE: "true",
      OS_INTERFACE: "admin",
    };
    assert.deepEqual(resolveConnection(settings, env).replaced, ["OS_CLOUD", "OS_REGION_NAME"]);
  });

  const transports: readonly (readonly [ProviderValues, keyof CloudSettings, unknown])[] = [
    [{ region: "one" }, "region", "one"],
    [{ insecure: "true" }, "verify", false],
    [{ insecure: false }, "verify", true],
    [{ endpointType: "internalURL" }, "interface", "internal"],
  ];
  for (const [settings, field, value] of transports)
    it(`takes ${Object.keys(settings).join()} from the settings before the environment and clouds.yaml`, () => {
      const other = {
        OS_REGION_NAME: "x",
        OS_INSECURE: value === true ? "1" : "0",
        OS_INTERFACE: "admin",
      };
      for (const env of [{ OS_CLOUD: "prod" }, { OS_CLOUD: "prod", ...other }])
        assert.equal(cloudOf(settings, env)[field], value);
    });

  it("combines settings with variables that complete the same login", () => {
    const settings = {
      authUrl: "http://own:5000",
      userName: "me",
      tenantName: "shop",
      region: "r",
    };
    const { credential, region } = cloudOf(settings, { OS_PASSWORD: "p-own" });
    assert.equal(region, "r");
    assert.ok(credential.kind === "password");
    assert.deepEqual(
      [credential.username, credential.password, credential.scope.projectName],
      ["me", "p-own", "shop"],
    );
  });

  it("omits variables that the provider would prefer to a setting or send next to it", () => {
    const login = {
      authUrl: "http://dev:5000",
      applicationCredentialId: "i",
      applicationCredentialSecret: "s",
    };
    assert.deepEqual(
      loginOf(cloudOf(login, { ...openrc, OS_AUTH_TYPE: "password", OS_TOKEN: "t" })),
      {
        authUrl: "http://dev:5000",
        method: "application",
        credential: "i",
        secret: "s",
      },
    );
    const { credential } = cloudOf({ tenantName: "shop", defaultDomain: "corp" }, openrc);
    assert.ok(credential.kind === "password");
    assert.deepEqual(credential.scope, {
      projectId: undefined,
      projectName: "shop",
      projectDomain: { id: "corp" },
    });
  });

  it("refuses a login of the environment for the cloud of the settings, and names both", () => {
    const { message, hint } = refusal(() =>
      envOf({ authUrl: "http://prod:5000", userName: "u" }, openrc),
    );
    assert.match(message, /openstack:authUrl is http:\/\/prod:5000, but OS_PASSWORD, /);
    assert.match(message, /belong to OS_AUTH_URL=http:\/\/dev:5000\/v3\.$/);
    assert.match(hint, /^Unset the variables of this other cloud \(`unset OS_AUTH_URL OS_/);
    assert.doesNotMatch(message + hint, /p-dev/);
  });

  it("accepts a whole login next to an openrc file of another cloud, and uses nothing of that file", () => {
    const login = {
      authUrl: "http://own:5000",
      applicationCredentialId: "i",
      applicationCredentialSecret: "s",
    };
    assert.equal(cloudOf(login, { ...openrc, OS_CLOUD: "prod" }).authUrl, "http://own:5000");
  });

  it("refuses settings of a login that OS_CLOUD makes useless", () => {
    const { message } = refusal(() => envOf({ tenantName: "shop" }, { OS_CLOUD: "prod" }));
    assert.match(message, /openstack:tenantName would be ignored .* OS_CLOUD=prod/);
  });

  it("omits the variables of encrypted settings and what these settings displace", () => {
    const settings = { authUrl: "http://own:5000", userName: "me", tenantId: "t" };
    const env = { OS_PASSWORD: "old", OS_TOKEN: "old", OS_USER_DOMAIN_ID: "default" };
    const resolved = resolveConnection(settings, env, { encrypted: ["password"] });
    assert.deepEqual(resolved.env, {
      OS_AUTH_URL: "http://own:5000",
      OS_USERNAME: "me",
      OS_PROJECT_ID: "t",
      OS_USER_DOMAIN_ID: "default",
    });
    assert.deepEqual(resolved.replaced, ["OS_PASSWORD", "OS_TOKEN"]);
  });

  describe("compared with the model of the provider", () => {
    type Texts = Readonly<Record<string, string>>;
    const settings: Texts = {
      cloud: "prod",
      authUrl: "http://dev:5000",
      userName: "su",
      userId: "sid",
      password: "s-password",
      token: "s-token",
      tenantId: "s-tenant",
      tenantName: "s-project",
      userDomainName: "s-domain",
      domainId: "s-domain-id",
      defaultDomain: "s-default",
      applicationCredentialId: "s-app",
      applicationCredentialSecret: "s-secret",
    };
    const variables: Texts = {
      OS_CLOUD: "robot",
      OS_AUTH_URL: "http://dev:5000/",
      OS_USERNAME: "eu",
      OS_USER_ID: "eid",
      OS_PASSWORD: "e-password",
      OS_TOKEN: "e-token",
      OS_TENANT_ID: "e-tenant",
      OS_PROJECT_ID: "e-project-id",
      OS_PROJECT_NAME: "e-project",
      OS_USER_DOMAIN_NAME: "e-domain",
      OS_USER_DOMAIN_ID: "e-domain-id",
      OS_PROJECT_DOMAIN_NAME: "e-project-domain",
      OS_DOMAIN_NAME: "e-both-domains",
      OS_DEFAULT_DOMAIN: "e-default",
      OS_APPLICATION_CREDENTIAL_ID: "e-app",
      OS_APPLICATION_CREDENTIAL_SECRET: "e-secret",
    };
    const only = (from: Texts, ...keys: readonly string[]): Texts =>
      Object.fromEntries(keys.map((key) => [key, from[key] ?? ""]));
    const project = ["authUrl", "userName", "tenantName"];
    const user = ["OS_AUTH_URL", "OS_USERNAME", "OS_PASSWORD", "OS_PROJECT_NAME"];
    /** Settings and variables that are a login together. */
    const logins: readonly (readonly [Texts, Texts])[] = [
      [only(settings, "cloud"), {}],
      [{}, only(variables, "OS_CLOUD")],
      [only(settings, ...project, "password"), {}],
      [only(settings, "authUrl", "applicationCredentialId", "applicationCredentialSecret"), {}],
      [only(settings, ...project), only(variables, "OS_PASSWORD")],
      [only(settings, "tenantName"), only(variables, ...user)],
      [only(settings, "authUrl", "tenantId"), only(variables, "OS_TOKEN")],
      [{}, only(variables, ...user)],
    ];
    const more = (from: Texts, maxLength: number) =>
      fc
        .subarray(Object.entries(from), { maxLength })
        .map((entries) => Object.fromEntries(entries));
    const cases = fc
      .tuple(fc.constantFrom(...logins), more(settings, 2), more(variables, 3))
      .map(([[provider, env], furtherSettings, furtherVariables]) => ({
        provider: { ...furtherSettings, ...provider },
        env: { ...furtherVariables, ...env, OS_CLIENT_CONFIG_FILE: file },
      }));
    /** Returns the result, or undefined if the settings are refused. */
    const unlessRefused = <T>(work: () => T): T | undefined => {
      try {
        return work();
      } catch (error) {
        if (error instanceof CloudError) return undefined;
        throw error;
      }
    };
    const runs = { numRuns: 500 };

    it("has the provider's login in the environment that the commands give to the provider", () => {
      let compared = 0;
      fc.assert(
        fc.property(cases, ({ provider, env }) => {
          const resolved = unlessRefused(() => resolveConnection(provider, env));
          const ours = resolved && unlessRefused(() => findCloud(undefined, resolved.env));
          if (!resolved || !ours) return;
          const theirs = modelProviderLogin(provider, getProviderEnvironment(resolved.env), clouds);
          if (theirs === "refused") return;
          compared += 1;
          assert.deepEqual(theirs, loginOf(ours));
        }),
        runs,
      );
      assert.ok(compared > 50, String(compared));
    });

    it("has the provider's login in the user's environment, unless requireSameConnection refuses", () => {
      let compared = 0;
      fc.assert(
        fc.property(cases, ({ provider, env }) => {
          const ours = unlessRefused(() => {
            requireSameConnection(provider, env);
            return findCloud(undefined, resolveConnection(provider, env).env);
          });
          const theirs = ours && modelProviderLogin(provider, env, clouds);
          if (!theirs || theirs === "refused") return;
          compared += 1;
          assert.deepEqual(theirs, loginOf(ours));
        }),
        runs,
      );
      assert.ok(compared > 50, String(compared));
    });

    it("is resolved twice with the same result", () => {
      fc.assert(
        fc.property(cases, ({ provider, env }) => {
          const once = unlessRefused(() => resolveConnection(provider, env));
          if (!once) return;
          const clean = getProviderEnvironment(once.env);
          assert.deepEqual(resolveConnection(provider, once.env), { env: once.env, replaced: [] });
          requireSameConnection(provider, clean);
        }),
        runs,
      );
    });
  });
});

describe("requireSameConnection", () => {
  let folder: CloudsFolder;
  let env: NodeJS.ProcessEnv;
  before(() => {
    folder = new CloudsFolder();
    env = { OS_CLIENT_CONFIG_FILE: folder.put("clouds.yaml", { prod: { auth: prod } }) };
  });
  after(() => {
    folder.remove();
  });

  it("refuses variables that complete the entry of the settings' cloud, and names both", () => {
    const { message, hint } = refusal(() => {
      requireSameConnection({ cloud: "prod" }, { ...env, ...openrc }, "Pulumi.prod.yaml");
    });
    assert.equal(
      message,
      "OpenStack's provider would combine OS_PROJECT_ID of the environment with the login of cloud 'prod' (openstack:cloud in Pulumi.prod.yaml), and might use another project or user.",
    );
    assert.equal(hint, "Run `unset OS_PROJECT_ID` and the same command again.");
  });

  it("accepts variables that change nothing, and another cloud in OS_CLOUD", () => {
    const others = { ...openrc, OS_PROJECT_ID: undefined, OS_CLOUD: "dev" };
    requireSameConnection({ cloud: "prod" }, { ...env, ...others });
    requireSameConnection({}, { ...openrc });
    requireSameConnection({}, {});
  });

  it("refuses OS_CLOUD next to a login in the settings, which the provider would ignore", () => {
    const login = {
      authUrl: "http://own:5000",
      applicationCredentialId: "i",
      applicationCredentialSecret: "s",
    };
    const { message } = refusal(() => {
      requireSameConnection(login, { ...env, OS_CLOUD: "prod" });
    });
    assert.match(message, /openstack:authUrl would be ignored .* OS_CLOUD=prod/);
  });
});
