import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { stringify } from "yaml";
import { getProviderEnvironment } from "../../../../openstack/auth/provider-environment.js";

describe("getProviderEnvironment", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "clouds-"));
    const auth = { auth_url: "http://k", username: "u", password: "p", project_name: "x" };
    const entry = { auth, interface: "internal" };
    writeFileSync(join(folder, "clouds.yaml"), stringify({ clouds: { prod: entry } }));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const path = (): string => join(folder, "clouds.yaml");

  it("contains the absolute path of clouds.yaml and the settings that the provider does not read there", () => {
    const near = relative(process.cwd(), path());
    const env = { OS_CLOUD: "prod", OS_CLIENT_CONFIG_FILE: near, HOME: "/root" };
    assert.deepEqual(getProviderEnvironment(env), {
      OS_CLOUD: "prod",
      OS_CLIENT_CONFIG_FILE: path(),
      HOME: "/root",
      OS_ENDPOINT_TYPE: "internal",
    });
  });

  it("omits an openrc file's sign-in variables, which the provider would prefer", () => {
    const env = { OS_CLOUD: "prod", OS_CLIENT_CONFIG_FILE: path() };
    const left = {
      OS_PROJECT_ID: "other",
      OS_TENANT_NAME: "other",
      OS_TOKEN: "t",
      OS_AUTH_URL: "http://o",
      OS_USER_DOMAIN_NAME: "d",
      OS_APPLICATION_CREDENTIAL_SECRET: "s",
      OS_SYSTEM_SCOPE: "all",
    };
    assert.deepEqual(getProviderEnvironment({ ...env, ...left }), getProviderEnvironment(env));
    const kept = { OS_REGION_NAME: "r", OS_DEBUG: "1", OS_PROJECT_IDS: "mine" };
    const unseen = { OS_ENDPOINT_TYPE: "internal" };
    assert.deepEqual(getProviderEnvironment({ ...env, ...kept }), { ...env, ...kept, ...unseen });
  });

  it("omits variables that change how the provider signs in", () => {
    const modes = { OS_SWAUTH: "true", OS_DELAYED_AUTH: "false", OS_ALLOW_REAUTH: "false" };
    const openrc = { OS_AUTH_URL: "http://k", OS_USERNAME: "u", OS_PASSWORD: "p" };
    assert.deepEqual(getProviderEnvironment({ ...openrc, ...modes }), openrc);
    const file = { OS_CLOUD: "prod", OS_CLIENT_CONFIG_FILE: path() };
    assert.deepEqual(getProviderEnvironment({ ...file, ...modes }), getProviderEnvironment(file));
  });

  it("contains no former login next to auth if auth has an application credential", () => {
    const auth = {
      auth_url: "http://k",
      application_credential_id: "i",
      application_credential_secret: "s",
    };
    const former = { username: "u", password: "p", project_name: "x" };
    const entry = { auth, ...former, interface: "internal" };
    writeFileSync(path(), stringify({ clouds: { prod: entry } }));
    const env = { OS_CLOUD: "prod", OS_CLIENT_CONFIG_FILE: path() };
    assert.deepEqual(getProviderEnvironment(env), { ...env, OS_ENDPOINT_TYPE: "internal" });
    const named = {
      ...auth,
      application_credential_id: undefined,
      application_credential_name: "n",
    };
    writeFileSync(path(), stringify({ clouds: { prod: { ...entry, auth: named } } }));
    assert.deepEqual(getProviderEnvironment(env), {
      ...env,
      OS_ENDPOINT_TYPE: "internal",
      OS_USERNAME: "u",
    });
  });

  it("omits the old name of a variable whose new name has a value, because the provider prefers the old name", () => {
    const openrc = { OS_AUTH_URL: "http://k", OS_USERNAME: "u", OS_PASSWORD: "p" };
    const project = { OS_PROJECT_ID: "x", OS_TENANT_NAME: "y" };
    const old = { OS_TENANT_ID: "z" };
    assert.deepEqual(getProviderEnvironment({ ...openrc, ...project, ...old }), {
      ...openrc,
      ...project,
    });
  });

  it("is unchanged with only an openrc file, or without a known cloud", () => {
    const openrc = { OS_AUTH_URL: "http://k", OS_USERNAME: "u", OS_PASSWORD: "p" };
    for (const env of [
      openrc,
      {},
      { OS_CLOUD: "none", OS_CLIENT_CONFIG_FILE: path(), OS_TOKEN: "t" },
    ])
      assert.deepEqual(getProviderEnvironment(env), env);
  });

  it("has only the login variables that the credential of an openrc file needs", () => {
    const application = {
      OS_AUTH_URL: "http://k",
      OS_AUTH_TYPE: "v3applicationcredential",
      OS_APPLICATION_CREDENTIAL_ID: "i",
      OS_APPLICATION_CREDENTIAL_SECRET: "s",
    };
    const user = { OS_AUTH_URL: "http://k", OS_USERNAME: "u", OS_PASSWORD: "p" };
    const project = { OS_PROJECT_ID: "x", OS_USER_DOMAIN_NAME: "d" };
    const former = { ...user, ...project, OS_TOKEN: "t" };
    assert.deepEqual(getProviderEnvironment({ ...former, ...application }), application);
    const all = { ...application, ...former, OS_AUTH_TYPE: "password" };
    const kept = { ...user, ...project, OS_AUTH_TYPE: "password" };
    assert.deepEqual(getProviderEnvironment(all), kept);
    const named = {
      OS_AUTH_URL: "http://k",
      OS_AUTH_TYPE: "v3applicationcredential",
      OS_APPLICATION_CREDENTIAL_NAME: "n",
      OS_APPLICATION_CREDENTIAL_SECRET: "s",
      OS_USERNAME: "u",
    };
    assert.deepEqual(getProviderEnvironment({ ...named, OS_PROJECT_ID: "x" }), named);
  });
});
