import assert from "node:assert/strict";
import fc from "fast-check";
import { Failure } from "../../../../base/failures/failure.js";
import { authKeys } from "../../../../openstack/auth/cloud-keys.js";
import {
  readCloudsFileSettings,
  readEnvironmentSettings,
  type CloudSettings,
} from "../../../../openstack/auth/clouds-file.js";
import { CloudsFolder, password, refusal } from "../support/clouds-folder.js";

const projectOf = ({ credential }: CloudSettings): string | undefined =>
  credential.kind === "password" ? credential.scope.projectName : undefined;

const withoutProject = (): object =>
  Object.fromEntries(Object.entries(password.auth).filter(([key]) => key !== "project_name"));

describe("a key of an entry in clouds.yaml", () => {
  let folder: CloudsFolder;
  beforeEach(() => {
    folder = new CloudsFolder();
  });
  afterEach(() => {
    folder.remove();
  });
  const settingsOf = (...args: Parameters<CloudsFolder["settingsOf"]>) =>
    folder.settingsOf(...args);
  const read = (text: string): CloudSettings =>
    readCloudsFileSettings("one", [folder.file("clouds.yaml", text)]);

  it("is taken from an anchor by a merge key", () => {
    const settings = read(`
x-common: &common { region_name: RegionTwo, interface: internal, verify: false }
x-auth: &auth { auth_url: "http://k:5000", username: u, password: p }
clouds: { one: { <<: *common, auth: { <<: *auth, project_name: shop } } }
`);
    assert.equal(settings.region, "RegionTwo");
    assert.equal(settings.interface, "internal");
    assert.equal(settings.verify, false);
    assert.equal(projectOf(settings), "shop");
  });

  it("belongs to auth although it stands next to auth, and the provider gets it in a variable", () => {
    const auth = withoutProject();
    const settings = settingsOf({ auth, "project-name": "shop", user_domain_name: "corp" });
    assert.equal(projectOf(settings), "shop");
    assert.ok(settings.credential.kind === "password");
    assert.deepEqual(settings.credential.userDomain, { name: "corp" });
    assert.deepEqual(settings.unseen, {
      OS_PROJECT_NAME: "shop",
      OS_USER_DOMAIN_NAME: "corp",
    });
  });

  it("keeps all digits next to auth", () => {
    const auth = withoutProject();
    const text = JSON.stringify({ clouds: { one: { auth } } }).replace(
      "}}}",
      "}, project_id: 012}}",
    );
    assert.equal(read(text).unseen["OS_PROJECT_ID"], "012");
  });

  it("is refused if auth has another value", () => {
    assert.match(
      refusal(() => settingsOf({ ...password, project_name: "other" })).message,
      /: project_name has one value in auth and another value next to auth; write it once, in auth\.$/,
    );
    assert.equal(projectOf(settingsOf({ ...password, project_name: "x" })), "x");
  });

  it("may be wrong in the entries of other clouds", () => {
    const others = {
      path: { verify: "/etc/ssl/ca.pem" },
      list: { interface: ["internal", "public"] },
      region: { ...password, region_name: null },
      map: { auth: { password: { a: 1 } } },
    };
    const path = folder.put("clouds.yaml", { ...others, one: password });
    assert.equal(projectOf(readCloudsFileSettings("one", [path])), "x");
    assert.equal(readCloudsFileSettings("region", [path]).region, undefined);
    assert.match(
      refusal(() => readCloudsFileSettings("list", [path])).message,
      /clouds\.list\.interface is a list and must be text\.$/,
    );
  });

  it("is refused if it would select another project than a project of a user", () => {
    for (const key of ["trust_id", "system_scope"]) {
      const auth = { ...password.auth, [key]: "all" };
      assert.match(refusal(() => settingsOf({ auth })).message, new RegExp(`: ${key} is not supp`));
      const variables = { OS_AUTH_URL: "http://k", OS_USERNAME: "u", OS_PASSWORD: "p" };
      const name = `OS_${key.toUpperCase()}`;
      assert.match(
        refusal(() => readEnvironmentSettings({ ...variables, [name]: "all" })).message,
        new RegExp(`environment: ${name} is not supported; `),
      );
    }
  });

  it("is refused with a line break or a blank at an end, without its value", () => {
    const spaced = fc.constantFrom("CANARY\r", "CANARY\n", "\nCANARY");
    fc.assert(
      fc.property(fc.constantFrom(...authKeys), spaced, (key, value) => {
        const error = refusal(() =>
          settingsOf({ auth: { ...password.auth, [key]: value }, auth_type: "password" }),
        );
        assert.match(error.message, /(line break|not supported|auth_url)/);
        assert.doesNotMatch(error.message, key === "auth_url" ? /$^/ : /CANARY/);
      }),
    );
    const { credential } = settingsOf({ auth: { ...password.auth, password: " p " } });
    assert.ok(credential.kind === "password");
    assert.equal(credential.password, " p ");
  });

  it("names no password that YAML does not read as text", () => {
    for (const value of ["*CANARY", ">CANARY", "|CANARY"]) {
      const text = `clouds: { one: { auth: { password: ${value} } } }`;
      const block = `clouds:\n  one:\n    auth:\n      password: ${value}\n`;
      for (const content of [text, block])
        assert.doesNotMatch(refusal(() => read(content)).message, /CANARY/);
    }
  });

  it("may contain a certificate or a private key as PEM text", () => {
    const pem = "-----BEGIN PRIVATE KEY-----\nCANARY\n-----END PRIVATE KEY-----\n";
    const settings = settingsOf({ ...password, cert: pem, key: pem });
    assert.equal(settings.key, pem);
    assert.deepEqual(settings.unseen, {});
  });

  it("names no value of a private key that cannot be read", () => {
    for (const key of ["CANARY", "/CANARY", "MIIE\nCANARY", "x\0CANARY", "CANARY".repeat(2000)]) {
      const cert = folder.file("cert.pem", "-----BEGIN CERTIFICATE-----\n");
      try {
        settingsOf({ ...password, cert, key });
        assert.fail("was accepted");
      } catch (error) {
        assert.ok(error instanceof Failure, String(error));
        assert.match(error.message, /^The file of the client certificate's key \(key\) cannot be/);
        assert.doesNotMatch(`${error.message}${error.hint}`, /CANARY/);
      }
    }
  });
});
