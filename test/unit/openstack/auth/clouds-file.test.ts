import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Failure } from "../../../../base/failures/failure.js";
import {
  listCloudsFileCandidates,
  findCloud,
  readEnvironmentSettings,
  readCloudsFileSettings,
} from "../../../../openstack/auth/clouds-file.js";
import { CloudsFolder, password, refusal } from "../support/clouds-folder.js";

describe("clouds.yaml", () => {
  let folder: CloudsFolder;
  beforeEach(() => {
    folder = new CloudsFolder();
  });
  afterEach(() => {
    folder.remove();
  });
  const put = (...args: Parameters<CloudsFolder["put"]>): string => folder.put(...args);
  const settingsOf = (...args: Parameters<CloudsFolder["settingsOf"]>) =>
    folder.settingsOf(...args);

  it("is searched in openstacksdk's places, starting with OS_CLIENT_CONFIG_FILE", () => {
    assert.deepEqual(
      listCloudsFileCandidates({ OS_CLIENT_CONFIG_FILE: "/x/c.yaml" }, "/here", "/home/me"),
      [
        "/x/c.yaml",
        "/here/clouds.yaml",
        "/home/me/.config/openstack/clouds.yaml",
        "/etc/openstack/clouds.yaml",
      ],
    );
  });

  it("yields a password credential with the default domain and the public interface", () => {
    const settings = readCloudsFileSettings("one", [put("clouds.yaml", { one: password })]);
    assert.deepEqual(settings, {
      name: "one",
      authUrl: "http://k:5000",
      region: undefined,
      interface: "public",
      verify: true,
      ca: undefined,
      cert: undefined,
      key: undefined,
      file: join(folder.path, "clouds.yaml"),
      unseen: {},
      fileAuth: ["auth_url", "username", "password", "project_name"],
      credential: {
        kind: "password",
        username: "u",
        userId: undefined,
        userDomain: { id: "default" },
        password: "p",
        scope: {
          projectId: undefined,
          projectName: "x",
          projectDomain: { id: "default" },
        },
      },
    });
  });

  it("is overridden by secure.yaml", () => {
    const open = { auth_url: "http://k:5000", username: "u", project_name: "x" };
    const path = put("clouds.yaml", { one: { auth: open } });
    put("secure.yaml", { one: { auth: { password: "hidden" } } });
    const { credential } = readCloudsFileSettings("one", [path]);
    assert.ok(credential.kind === "password");
    assert.equal(credential.password, "hidden");
  });

  it("yields unquoted scalars as text", () => {
    const path = join(folder.path, "clouds.yaml");
    const auth =
      "{auth_url: http://k, username: 0123, password: 1e5, project_id: 00000000000000000000000000000012}";
    writeFileSync(path, `clouds: {one: {auth: ${auth}, region_name: 010, verify: false}}\n`);
    const { credential, region, verify } = readCloudsFileSettings("one", [path]);
    assert.ok(credential.kind === "password");
    const { username, password: written, scope } = credential;
    assert.deepEqual([username, written, region, verify], ["0123", "1e5", "010", false]);
    assert.equal(scope.projectId, "00000000000000000000000000000012");
  });

  it("yields region, interface, verify and the certificate authority", () => {
    const ca = join(folder.path, "ca.pem");
    writeFileSync(ca, "PEM");
    const more = { region_name: "r", interface: "internal", verify: false, cacert: ca };
    const settings = readCloudsFileSettings("one", [
      put("clouds.yaml", { one: { ...password, ...more } }),
    ]);
    assert.equal(settings.region, "r");
    assert.equal(settings.interface, "internal");
    assert.equal(settings.verify, false);
    assert.equal(settings.ca, "PEM");
  });

  it("yields an application credential and a token", () => {
    const path = put("clouds.yaml", {
      application: {
        auth_type: "v3applicationcredential",
        auth: {
          auth_url: "http://k",
          application_credential_id: "id",
          application_credential_secret: "s",
        },
      },
      token: { auth_type: "v3token", auth: { auth_url: "http://k", token: "t", project_id: "p" } },
    });
    const application = readCloudsFileSettings("application", [path]).credential;
    assert.ok(application.kind === "application");
    assert.equal(application.id, "id");
    assert.equal(application.secret, "s");
    const token = readCloudsFileSettings("token", [path]).credential;
    assert.ok(token.kind === "token");
    assert.equal(token.scope.projectId, "p");
  });

  it("accepts numbers without quotes", () => {
    const auth = { ...password.auth, project_name: 12, password: 34 };
    const { credential } = readCloudsFileSettings("one", [put("clouds.yaml", { one: { auth } })]);
    assert.ok(credential.kind === "password");
    assert.equal(credential.password, "34");
    assert.equal(credential.scope.projectName, "12");
  });

  it("reports missing keys", () => {
    const path = put("clouds.yaml", { one: { auth: { username: "u", password: "p" } }, two: {} });
    assert.match(
      refusal(() => readCloudsFileSettings("one", [path])).message,
      /one in .*: auth_url is missing/,
    );
    assert.match(
      refusal(() => readCloudsFileSettings("two", [path])).message,
      /auth_url, username or user_id, password are missing/,
    );
  });

  it("refuses an unsupported auth_type and lists the supported ones", () => {
    assert.match(
      refusal(() => settingsOf({ ...password, auth_type: "v3oidcpassword" })).message,
      /one in .*: auth_type 'v3oidcpassword' is not supported; write one of password, v3password, token, v3token, v3applicationcredential\.$/,
    );
    for (const auth_type of ["password", "v3password"])
      assert.equal(settingsOf({ ...password, auth_type }).credential.kind, "password");
  });

  it("refuses the keys of two logins, of which the provider would use the other one", () => {
    const application = { application_credential_id: "id", application_credential_secret: "s" };
    const both = { ...password.auth, ...application };
    for (const [entry, keys] of [
      [{ auth: both }, "password"],
      [{ auth: both, auth_type: "v3applicationcredential" }, "password"],
      [{ auth: both, auth_type: "password" }, Object.keys(application).join(", ")],
      [{ auth: { ...password.auth, token: "t" } }, "token"],
      [{ auth: { ...application, auth_url: "http://k", token: "t" } }, "token"],
    ] as const) {
      const { message } = refusal(() => settingsOf(entry));
      assert.match(message, new RegExp(`but OpenStack's provider with ${keys}, perhaps`), keys);
    }
    // The provider does not see a key next to `auth`, and a token hides the password from it.
    settingsOf({ password: "p", auth: { auth_url: "http://k", ...application } });
    settingsOf({ auth: { ...password.auth, token: "t" }, auth_type: "token" });
    settingsOf({ auth: { ...password.auth, token: null } });
  });

  it("refuses an unknown interface", () => {
    const { message } = refusal(() => settingsOf({ ...password, interface: "intern" }));
    assert.match(message, /'intern' is not an interface; write one of public, internal, admin/);
    assert.equal(settingsOf({ ...password, endpoint_type: "adminURL" }).interface, "admin");
  });

  describe("with certificate files", () => {
    beforeEach(() => {
      for (const name of ["ca", "cert", "key"])
        writeFileSync(join(folder.path, name), `PEM ${name}`);
    });

    it("yields client certificate and key, and expands ~ and variables in paths", () => {
      const entry = { ...password, cacert: "~/ca", cert: "$PLACE/cert", key: "${PLACE}/key" };
      const settings = settingsOf(entry, { HOME: folder.path, PLACE: folder.path });
      assert.deepEqual(
        [settings.ca, settings.cert, settings.key],
        ["PEM ca", "PEM cert", "PEM key"],
      );
    });

    it("requires both certificate and key", () => {
      for (const half of [{ cert: join(folder.path, "cert") }, { key: join(folder.path, "key") }])
        assert.match(
          refusal(() => settingsOf({ ...password, ...half })).message,
          /cert or key is missing/,
        );
    });

    it("reports an unset variable and an unreadable file", () => {
      const invalid = (entry: object): string => {
        try {
          settingsOf({ ...password, ...entry });
        } catch (error) {
          assert.ok(error instanceof Failure && error.code === "INVALID_CONFIG");
          return error.message;
        }
        return assert.fail("was accepted");
      };
      assert.match(
        invalid({ cacert: "$NOWHERE/ca" }),
        /cloud's certificate \(cacert\) needs the variable \$NOWHERE, which is not set/,
      );
      assert.match(
        invalid({ cert: "/not/there", key: join(folder.path, "key") }),
        /^The file '\/not\/there' of the client certificate \(cert\) cannot be read: it does not exist\.$/,
      );
    });
  });

  it("is overridden by variables that are not for sign-in, as with the command `openstack`", () => {
    const entry = { ...password, interface: "internal", region_name: "a", verify: false };
    const env = { OS_INTERFACE: "admin", OS_REGION_NAME: "b", OS_INSECURE: "false" };
    const settings = settingsOf(entry, { ...env, OS_USERNAME: "other", OS_CACERT: "" });
    assert.deepEqual(
      [settings.interface, settings.region, settings.verify, settings.ca],
      ["admin", "b", true, undefined],
    );
    assert.ok(settings.credential.kind === "password");
    assert.equal(settings.credential.username, "u");
  });

  it("yields variables for the settings that OpenStack's provider does not read", () => {
    writeFileSync(join(folder.path, "ca"), "PEM");
    const env = { PLACE: folder.path };
    const unseen = (entry: object, more: NodeJS.ProcessEnv = {}) =>
      settingsOf({ ...password, ...entry }, { ...env, ...more }).unseen;
    assert.deepEqual(unseen({ region_name: "a", cacert: join(folder.path, "ca") }), {});
    assert.deepEqual(unseen({ verify: false, interface: "publicURL" }), {});
    assert.deepEqual(unseen({ interface: "internal" }), { OS_ENDPOINT_TYPE: "internal" });
    assert.deepEqual(unseen({ interface: "admin" }, { OS_ENDPOINT_TYPE: "internalURL" }), {});
    assert.deepEqual(unseen({}, { OS_INTERFACE: "admin" }), { OS_ENDPOINT_TYPE: "admin" });
    assert.deepEqual(unseen({ regions: ["a"] }), { OS_REGION_NAME: "a" });
    assert.deepEqual(unseen({ regions: ["a"] }, { OS_REGION_NAME: "a" }), {});
    assert.deepEqual(unseen({ insecure: true }), { OS_INSECURE: "true" });
    assert.deepEqual(unseen({ cacert: "$PLACE/ca" }), { OS_CACERT: join(folder.path, "ca") });
    const near = relative(process.cwd(), join(folder.path, "ca"));
    assert.deepEqual(unseen({ cacert: near }), { OS_CACERT: join(folder.path, "ca") });
  });

  it("yields the values of a secure.yaml that the provider does not read, and refuses conflicting ones", () => {
    put("secure.yaml", { one: { auth: { password: "hidden", user_domain_name: "people" } } });
    const unseen = (auth: object) =>
      readCloudsFileSettings("one", [put("clouds.yaml", { one: { auth } })]).unseen;
    const { auth_url, username, project_name } = password.auth;
    const open = { auth_url, username, project_name };
    assert.deepEqual(unseen(open), {
      OS_PASSWORD: "hidden",
      OS_USER_DOMAIN_NAME: "people",
    });
    // Values that both files contain take precedence over environment variables.
    assert.throws(
      () => unseen({ ...open, password: "open" }),
      /OpenStack's provider would use another password: it reads secure\.yaml in .* only/,
    );
  });

  it("is replaced by the variables of an openrc file", () => {
    const settings = readEnvironmentSettings({
      OS_AUTH_URL: "http://k",
      OS_USERNAME: "u",
      OS_PASSWORD: "p",
      OS_PROJECT_NAME: "x",
      OS_USER_DOMAIN_NAME: "people",
      OS_PROJECT_DOMAIN_ID: "d",
      OS_REGION_NAME: "r",
      OS_INTERFACE: "internalURL",
    });
    assert.equal(settings.region, "r");
    assert.equal(settings.interface, "internal");
    assert.ok(settings.credential.kind === "password");
    assert.deepEqual(settings.credential.userDomain, { name: "people" });
    assert.deepEqual(settings.credential.scope.projectDomain, { id: "d" });
  });

  it("is replaced by a token in OS_AUTH_TOKEN and a domain in OS_DEFAULT_DOMAIN, as in the provider", () => {
    const { credential } = readEnvironmentSettings({
      OS_AUTH_URL: "http://k",
      OS_AUTH_TOKEN: "t",
      OS_PROJECT_NAME: "x",
      OS_DEFAULT_DOMAIN: "corp",
    });
    assert.deepEqual(credential, {
      kind: "token",
      token: "t",
      scope: { projectId: undefined, projectName: "x", projectDomain: { id: "corp" } },
    });
  });

  it("is selected by OS_CLOUD, which takes precedence over OS_AUTH_URL", () => {
    const path = put("clouds.yaml", { one: password });
    const env = { OS_CLIENT_CONFIG_FILE: path, OS_CLOUD: "one", OS_AUTH_URL: "http://other" };
    assert.equal(findCloud(undefined, env).authUrl, "http://k:5000");
    assert.equal(findCloud("one", { OS_CLIENT_CONFIG_FILE: path }).name, "one");
  });

  it("is required in one sentence if no cloud is configured", () => {
    const error = refusal(() => findCloud(undefined, {}));
    assert.equal(error.kind, "configuration");
    assert.match(error.message, /neither OS_CLOUD nor OS_AUTH_URL/);
    assert.match(error.hint, /lab up/);
  });
});
