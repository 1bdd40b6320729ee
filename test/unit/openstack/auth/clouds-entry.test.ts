import assert from "node:assert/strict";
import { readCloudsFileSettings } from "../../../../openstack/auth/clouds-file.js";
import { CloudsFolder, password, refusal } from "../support/clouds-folder.js";

describe("clouds.yaml entry", () => {
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

  it("reports the existing clouds if the requested one is missing", () => {
    const path = put("clouds.yaml", { one: password, two: password });
    const error = refusal(() => readCloudsFileSettings("three", [path]));
    assert.match(error.message, /no cloud 'three' in .*clouds\.yaml/);
    assert.match(error.hint, /one, two/);
  });

  it("reports the searched directories if no file exists", () => {
    const error = refusal(() =>
      readCloudsFileSettings("one", ["/nowhere/a/clouds.yaml", "/b/clouds.yaml"]),
    );
    assert.match(error.message, /\/nowhere\/a, \/b/);
    assert.match(error.hint, /OS_CLIENT_CONFIG_FILE/);
  });

  it("refuses a file with another format", () => {
    const path = folder.file("clouds.yaml", "clouds: [a, b]\n");
    assert.match(
      refusal(() => readCloudsFileSettings("a", [path])).message,
      /is not a clouds\.yaml/,
    );
  });

  it("keeps the content of an invalid YAML file out of the error", () => {
    const path = folder.file("clouds.yaml", "clouds:\n  one: {password: hunter2\n");
    const { message } = refusal(() => readCloudsFileSettings("one", [path]));
    assert.match(message, /clouds\.yaml cannot be read: .*line 3.*\.$/);
    assert.doesNotMatch(message, /hunter2/);
  });

  describe("with a profile", () => {
    const { auth_url, ...own } = password.auth;

    it("takes missing values from clouds-public.yaml", () => {
      const vendor = { auth: { auth_url, username: "theirs" }, region_name: "r", verify: false };
      put("clouds-public.yaml", { vendor }, "public-clouds");
      for (const key of ["profile", "cloud"]) {
        const settings = settingsOf({ [key]: "vendor", auth: own, region_name: "mine" });
        assert.equal(settings.authUrl, auth_url);
        assert.equal(settings.region, "mine");
        assert.equal(settings.verify, false);
        assert.ok(settings.credential.kind === "password");
        assert.equal(settings.credential.username, "u");
      }
    });

    it("is overridden by secure.yaml", () => {
      put(
        "clouds-public.yaml",
        { vendor: { auth: { auth_url, password: "open" } } },
        "public-clouds",
      );
      put("secure.yaml", { one: { auth: { password: "hidden" } } });
      const { credential } = settingsOf({ profile: "vendor", auth: { username: "u" } });
      assert.ok(credential.kind === "password");
      assert.equal(credential.password, "hidden");
    });

    it("reports the existing profiles if its own is missing", () => {
      const entry = { ...password, profile: "vexxhost" };
      assert.match(
        refusal(() => settingsOf(entry)).message,
        /there is no profile 'vexxhost': there is no clouds-public\.yaml in \//,
      );
      put("clouds-public.yaml", { vendor: {} }, "public-clouds");
      assert.match(refusal(() => settingsOf(entry)).message, /clouds-public\.yaml holds vendor\.$/);
    });
  });

  describe("with regions", () => {
    const values = { auth: { project_name: "of b" }, interface: "internal" };
    const regions = ["a", { name: "b", values }];

    it("uses the named region with its values, and the first by default", () => {
      assert.equal(settingsOf({ ...password, regions }).region, "a");
      for (const [entry, env] of [
        [{ region_name: "b" }, {}],
        [{ region_name: "a" }, { OS_REGION_NAME: "b" }],
      ] as const) {
        const settings = settingsOf({ ...password, regions, ...entry }, env);
        assert.equal(settings.region, "b");
        assert.equal(settings.interface, "internal");
        assert.ok(settings.credential.kind === "password");
        assert.equal(settings.credential.scope.projectName, "of b");
      }
    });

    it("refuses a region that is not listed", () => {
      const entry = { ...password, regions, region_name: "c" };
      assert.match(
        refusal(() => settingsOf(entry)).message,
        /'c' is not one of its regions; write one of a, b\.$/,
      );
      assert.match(
        refusal(() => settingsOf(entry, { OS_REGION_NAME: "d" })).hint,
        /OS_REGION_NAME/,
      );
    });
  });
});
