import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { CloudError } from "../../../cloud/cloud-error.js";
import {
  cloudsFileCandidates,
  findCloud,
  settingsFromEnvironment,
  settingsFromFile,
} from "../../../cloud/clouds-file.js";

const password = {
  auth: { auth_url: "http://k:5000", username: "u", password: "p", project_name: "x" },
};

describe("clouds.yaml", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "clouds-"));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });
  const put = (name: string, clouds: unknown): string => {
    const path = join(directory, name);
    writeFileSync(path, stringify({ clouds }));
    return path;
  };

  it("is looked for where openstacksdk looks, the named file first", () => {
    assert.deepEqual(
      cloudsFileCandidates({ OS_CLIENT_CONFIG_FILE: "/x/c.yaml" }, "/here", "/home/me"),
      [
        "/x/c.yaml",
        "/here/clouds.yaml",
        "/home/me/.config/openstack/clouds.yaml",
        "/etc/openstack/clouds.yaml",
      ],
    );
  });

  it("gives a password credential with the default domain and the public interface", () => {
    const settings = settingsFromFile("one", [put("clouds.yaml", { one: password })]);
    assert.deepEqual(settings, {
      name: "one",
      authUrl: "http://k:5000",
      region: undefined,
      interface: "public",
      verify: true,
      ca: undefined,
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

  it("lays secure.yaml over it", () => {
    const open = { auth_url: "http://k:5000", username: "u", project_name: "x" };
    const path = put("clouds.yaml", { one: { auth: open } });
    put("secure.yaml", { one: { auth: { password: "hidden" } } });
    const { credential } = settingsFromFile("one", [path]);
    assert.ok(credential.kind === "password");
    assert.equal(credential.password, "hidden");
  });

  it("takes region, interface, verify and the certificate authority", () => {
    const ca = join(directory, "ca.pem");
    writeFileSync(ca, "PEM");
    const more = { region_name: "r", interface: "internal", verify: false, cacert: ca };
    const settings = settingsFromFile("one", [
      put("clouds.yaml", { one: { ...password, ...more } }),
    ]);
    assert.equal(settings.region, "r");
    assert.equal(settings.interface, "internal");
    assert.equal(settings.verify, false);
    assert.equal(settings.ca, "PEM");
  });

  it("recognizes an application credential and a token", () => {
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
    const application = settingsFromFile("application", [path]).credential;
    assert.ok(application.kind === "application");
    assert.equal(application.id, "id");
    assert.equal(application.secret, "s");
    const token = settingsFromFile("token", [path]).credential;
    assert.ok(token.kind === "token");
    assert.equal(token.scope.projectId, "p");
  });

  it("takes numbers where people forget the quotes", () => {
    const auth = { ...password.auth, project_name: 12, password: 34 };
    const { credential } = settingsFromFile("one", [put("clouds.yaml", { one: { auth } })]);
    assert.ok(credential.kind === "password");
    assert.equal(credential.password, "34");
    assert.equal(credential.scope.projectName, "12");
  });

  const refusal = (work: () => unknown): CloudError => {
    try {
      work();
    } catch (error) {
      assert.ok(error instanceof CloudError, String(error));
      return error;
    }
    return assert.fail("was accepted");
  };

  it("names the clouds that there are when the one asked for is none of them", () => {
    const path = put("clouds.yaml", { one: password, two: password });
    const error = refusal(() => settingsFromFile("three", [path]));
    assert.match(error.message, /no cloud 'three' in .*clouds\.yaml/);
    assert.match(error.hint, /one, two/);
  });

  it("names the folders when there is no file", () => {
    const error = refusal(() =>
      settingsFromFile("one", ["/nowhere/a/clouds.yaml", "/b/clouds.yaml"]),
    );
    assert.match(error.message, /\/nowhere\/a, \/b/);
    assert.match(error.hint, /OS_CLIENT_CONFIG_FILE/);
  });

  it("names the key that is missing", () => {
    const path = put("clouds.yaml", { one: { auth: { username: "u", password: "p" } }, two: {} });
    assert.match(
      refusal(() => settingsFromFile("one", [path])).message,
      /one in .*: auth_url is missing/,
    );
    assert.match(refusal(() => settingsFromFile("two", [path])).message, /auth_url is missing/);
  });

  it("refuses a file that is no clouds.yaml", () => {
    const path = join(directory, "clouds.yaml");
    writeFileSync(path, "clouds: [a, b]\n");
    assert.match(refusal(() => settingsFromFile("a", [path])).message, /is not a clouds\.yaml/);
  });

  it("is replaced by the variables of an openrc file", () => {
    const settings = settingsFromEnvironment({
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

  it("is named by OS_CLOUD, which goes before OS_AUTH_URL", () => {
    const path = put("clouds.yaml", { one: password });
    const env = { OS_CLIENT_CONFIG_FILE: path, OS_CLOUD: "one", OS_AUTH_URL: "http://other" };
    assert.equal(findCloud(undefined, env).authUrl, "http://k:5000");
    assert.equal(findCloud("one", { OS_CLIENT_CONFIG_FILE: path }).name, "one");
  });

  it("is asked for in one sentence when no cloud is configured", () => {
    const error = refusal(() => findCloud(undefined, {}));
    assert.equal(error.kind, "configuration");
    assert.match(error.message, /neither OS_CLOUD nor OS_AUTH_URL/);
    assert.match(error.hint, /lab up/);
  });
});
