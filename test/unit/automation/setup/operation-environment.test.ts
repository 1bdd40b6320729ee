import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentProgress } from "../../../../base/progress.js";
import { Failure } from "../../../../base/failures/failure.js";
import { ensurePassphraseFile } from "../../../../automation/setup/create-passphrase-file.js";
import {
  getBackendRule,
  selectCloudEnvironment,
  applyProviderSettings,
  namesCloud,
  isLabRunning,
  usesStandInsByDefault,
  usesLab,
  withChosenBackend,
} from "../../../../automation/setup/operation-environment.js";

describe("environment of an operation", () => {
  let state: string;
  const before = process.env["XDG_STATE_HOME"];
  beforeEach(() => {
    state = mkdtempSync(join(tmpdir(), "state-"));
    process.env["XDG_STATE_HOME"] = state;
  });
  afterEach(() => {
    if (before === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = before;
    rmSync(state, { recursive: true });
  });
  const startLab = (folder = "lab"): void => {
    mkdirSync(join(state, "stackadm", folder), { recursive: true });
    writeFileSync(join(state, "stackadm", folder, "clouds.yaml"), "clouds: {}\n");
  };

  it("keeps the user's cloud and adds nothing", () => {
    startLab();
    for (const env of [{ OS_CLOUD: "mine" }, { OS_AUTH_URL: "http://k" }]) {
      assert.equal(namesCloud(env), true);
      assert.equal(usesLab(env), false);
      assert.deepEqual(selectCloudEnvironment(env), {});
    }
  });

  it("does not use the running lab for a stack whose settings name a cloud, and notes replaced variables", () => {
    startLab();
    const notes: string[] = [];
    const progress = { ...silentProgress, note: (text: string) => void notes.push(text) };
    const where = "Pulumi.prod.yaml";
    const named = (plain: object, env: NodeJS.ProcessEnv = {}) =>
      applyProviderSettings(env, { provider: { plain, encrypted: [], where }, progress });
    for (const settings of [{ cloud: "prod" }, { authUrl: "http://k", userName: "u" }]) {
      const env = named(settings);
      assert.deepEqual([usesLab(env), selectCloudEnvironment(env)], [false, {}]);
      assert.equal(usesStandInsByDefault(env), undefined);
    }
    assert.equal(usesLab(named({ region: "one" })), true);
    assert.equal(usesLab(named({ cloud: "stackadm-lab" })), true);
    assert.deepEqual(notes, []);
    named({ cloud: "prod" }, { OS_CLOUD: "stackadm-lab" });
    assert.deepEqual(notes, [
      "Not used from your environment: OS_CLOUD. The settings of the stack win: openstack:cloud in Pulumi.prod.yaml.",
    ]);
  });

  it("uses stand-ins by default on the lab and without a cloud, never on another cloud", () => {
    startLab();
    for (const env of [{}, { OS_CLOUD: "stackadm-lab" }])
      assert.equal(usesStandInsByDefault(env), true);
    for (const env of [{ OS_CLOUD: "mine" }, { OS_AUTH_URL: "http://k" }])
      assert.equal(usesStandInsByDefault(env), undefined);
  });

  it("uses the running lab if the user names no cloud", () => {
    assert.equal(isLabRunning(), false);
    startLab();
    assert.equal(isLabRunning(), true);
    for (const env of [{}, { OS_CLOUD: "" }, { OS_CLOUD: "stackadm-lab" }])
      assert.deepEqual(selectCloudEnvironment(env), {
        OS_CLOUD: "stackadm-lab",
        OS_CLIENT_CONFIG_FILE: join(state, "stackadm", "lab", "clouds.yaml"),
        STACKADM_SITE: join(state, "stackadm", "lab", "site.yaml"),
      });
  });

  it("uses the lab in STACKADM_LAB_NAME under its own name", () => {
    process.env["STACKADM_LAB_NAME"] = "two";
    try {
      startLab();
      assert.equal(isLabRunning(), false);
      startLab("two");
      assert.deepEqual(selectCloudEnvironment({}), {
        OS_CLOUD: "two",
        OS_CLIENT_CONFIG_FILE: join(state, "stackadm", "two", "clouds.yaml"),
        STACKADM_SITE: join(state, "stackadm", "two", "site.yaml"),
      });
      assert.equal(usesLab({ OS_CLOUD: "two-tls" }), true);
    } finally {
      Reflect.deleteProperty(process.env, "STACKADM_LAB_NAME");
    }
  });

  it("uses the lab's files for the lab's TLS cloud too", () => {
    startLab();
    const env = { OS_CLOUD: "stackadm-lab-tls" };
    assert.deepEqual(selectCloudEnvironment(env), { ...selectCloudEnvironment({}), ...env });
    assert.equal(usesStandInsByDefault(env), true);
    assert.equal(getBackendRule(env).onLab, true);
  });

  it("keeps the user's STACKADM_SITE", () => {
    startLab();
    assert.equal(selectCloudEnvironment({ STACKADM_SITE: "/mine" })["STACKADM_SITE"], "/mine");
  });

  it("fails with one sentence if there is no cloud", () => {
    assert.throws(
      () => selectCloudEnvironment({}),
      (error: unknown) =>
        error instanceof Failure && error.code === "CLOUD_NOT_CONFIGURED" && error.exitCode === 2,
    );
  });

  it("reads the backend of a project, and gives a service the backend that the rule chooses", () => {
    const projectDirectory = join(state, "project");
    mkdirSync(projectDirectory);
    const file = join(projectDirectory, "Pulumi.yaml");
    const env = { OS_CLOUD: "mine", PULUMI_CREDENTIALS_PATH: state };
    for (const none of ["backend: {}\n", 'backend: { url: "" }\n', "backend:\n", "backend: s3\n"]) {
      writeFileSync(file, `name: it\n${none}`);
      assert.equal(getBackendRule(env, projectDirectory).project, undefined);
      const { backend } = withChosenBackend({ env, projectDirectory });
      assert.equal(backend, `file://${join(state, "stackadm", "pulumi")}`);
    }
    writeFileSync(file, "name: it\nbackend: { url: s3://stacks }\n");
    assert.equal(withChosenBackend({ env, projectDirectory }).backend, "s3://stacks");
    assert.equal(withChosenBackend({ env, projectDirectory, backend: "gs://a" }).backend, "gs://a");
  });

  it("creates the passphrase once, readable only by its owner", () => {
    const path = ensurePassphraseFile(join(state, "deep", "passphrase"));
    const first = readFileSync(path, "utf8");
    assert.ok(first.trim().length >= 43);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    ensurePassphraseFile(path);
    assert.equal(readFileSync(path, "utf8"), first);
    assert.notEqual(readFileSync(ensurePassphraseFile(join(state, "other")), "utf8"), first);
  });
});
