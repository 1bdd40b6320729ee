import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { Embedder, fails, settingsOf } from "../../../support/engine/embedder.js";
import { startFakeCloud, type FakeCloud } from "../../../support/cloud/fake-openstack.js";
import {
  prepareReadyCloud,
  startFakeCluster,
  type FakeCluster,
} from "../../../support/cloud/ready-cluster.js";
import { Operator, lastLine } from "../../../support/commands/test-user.js";

/** Returns an entry of clouds.yaml for a fake cloud. */
const entryOf = (cloud: FakeCloud): object => ({
  auth: {
    auth_url: cloud.environment()["OS_AUTH_URL"],
    username: "demo",
    password: "correct horse",
    project_name: "demo",
  },
  region_name: "one",
});

const logins = ({ seen }: FakeCloud): number =>
  seen.filter(({ path }) => path.includes("tokens")).length;

describe("a command for a stack whose settings name a cloud", function () {
  this.timeout(120_000);
  let [one, two]: FakeCloud[] = [];
  let operator: Operator;
  let cluster: FakeCluster;
  beforeEach(async () => {
    cluster = await startFakeCluster();
    [one, two] = await Promise.all([startFakeCloud(), startFakeCloud()]);
    for (const cloud of [one, two]) prepareReadyCloud(cloud);
    operator = new Operator();
    mkdirSync(join(operator.home, ".config", "openstack"), { recursive: true });
    const clouds = { one: entryOf(one), two: entryOf(two) };
    put(".config/openstack/clouds.yaml", stringify({ clouds }));
    mkdirSync(join(operator.home, "mine"));
    put("mine/Pulumi.yaml", "name: mine\nruntime: nodejs\n");
    for (const [stack, cloud] of [
      ["staging", "one"],
      ["prod", "two"],
    ])
      put(`mine/Pulumi.${stack ?? ""}.yaml`, settings({ "openstack:cloud": cloud }));
    operator.engine.state({});
    operator.engine.outputs(cluster.outputs);
  });
  afterEach(async () => {
    operator.remove();
    await cluster.close();
    await Promise.all([one?.close(), two?.close()]);
  });
  const put = (file: string, text: string): void => {
    writeFileSync(join(operator.home, file), text);
  };
  const settings = (more: object): string =>
    `${readFileSync(join(operator.package, "Pulumi.dev.yaml"), "utf8").replace("stackadm:cluster", "mine:cluster")}${Object.entries(
      more,
    )
      .map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`)
      .join("")}`;
  const run = (stack: string, ...args: string[]) =>
    operator.run("--cwd", "mine", "-s", stack, ...args);

  const commands: readonly (readonly string[])[] = [
    ["doctor"],
    ["preview"],
    ["up"],
    ["refresh"],
    ["status"],
    ["orphans"],
    ["destroy", "--yes"],
  ];
  for (const args of commands)
    it(`works without any variable in two clouds: ${args.join(" ")}`, async () => {
      const { code, err } = await run("staging", ...args);
      assert.ok([0, 5].includes(code), err);
      const [there, other] = [one, two].map((cloud) => logins(cloud as FakeCloud));
      assert.ok((there ?? 0) > 0);
      assert.equal(other, 0);
      await run("prod", ...args);
      assert.equal(logins(one as FakeCloud), there);
      assert.ok(logins(two as FakeCloud) > 0);
    });

  it("uses the cloud of the settings in place of OS_CLOUD and of an openrc file, and says so", async () => {
    const env = { OS_CLOUD: "one", OS_PROJECT_ID: "other", OS_REGION_NAME: "one" };
    const args = ["--cwd", "mine", "-s", "prod", "doctor", "--json"];
    const { out, err, code } = await operator.runWith(env, ...args);
    assert.equal(code, 0, err);
    assert.equal(lastLine(out)["cloud"], "two");
    assert.match(
      out,
      /Not used from your environment: OS_CLOUD\. The settings of the stack win: openstack:cloud in Pulumi\.prod\.yaml\./,
    );
    assert.equal(logins(one as FakeCloud), 0);
    await operator.runWith(env, "--cwd", "mine", "-s", "prod", "up");
    const engine = operator.engine.environmentOf("up");
    assert.equal(engine.get("OS_CLOUD"), "two");
    assert.equal(engine.get("OS_PROJECT_ID"), undefined);
  });

  it("refuses settings that the provider would ignore, before any request", async () => {
    put(
      "mine/Pulumi.prod.yaml",
      settings({ "openstack:cloud": "two", "openstack:tenantName": "x" }),
    );
    const { code, err } = await run("prod", "up");
    assert.equal(code, 2);
    assert.match(err, /Pulumi\.prod\.yaml: openstack:tenantName would be ignored by OpenStack's /);
    assert.deepEqual([logins(one as FakeCloud), logins(two as FakeCloud)], [0, 0]);
  });

  it("names openstack:cloud if neither settings nor variables name a cloud", async () => {
    put("mine/Pulumi.prod.yaml", settings({}));
    const { code, err } = await run("prod", "doctor");
    assert.equal(code, 2);
    assert.match(err, /No cloud is configured.*\n.*`pulumi config set openstack:cloud <name>`/s);
  });

  it("takes the settings of Pulumi.yaml", async () => {
    put(
      "mine/Pulumi.yaml",
      "name: mine\nruntime: nodejs\nconfig: {openstack:cloud: {value: one}}\n",
    );
    put("mine/Pulumi.prod.yaml", settings({}));
    assert.equal((await run("prod", "doctor")).code, 0);
    assert.ok(logins(one as FakeCloud) > 0);
  });
});

describe("a stack with an encrypted setting of OpenStack's provider", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  beforeEach(async () => {
    embedder = await Embedder.start();
    const { OS_AUTH_URL: authUrl = "" } = embedder.cloud.environment();
    const login = [
      `  openstack:authUrl: ${authUrl}`,
      "  openstack:userName: demo",
      "  openstack:tenantName: demo",
      "  openstack:region: one",
      "  openstack:password: { secure: v1:AAAA }",
    ];
    embedder.write(
      "Pulumi.dev.yaml",
      settingsOf({}).replace("config:\n", `config:\n${login.join("\n")}\n`),
    );
    embedder.engine.state({});
    embedder.engine.decrypts({ "openstack:password": "correct horse" });
  });
  afterEach(() => embedder.stop());
  const empty = {
    OS_AUTH_URL: undefined,
    OS_USERNAME: undefined,
    OS_PASSWORD: undefined,
    OS_PROJECT_NAME: undefined,
    OS_REGION_NAME: undefined,
  };
  const bare = { preflight: false, verify: false } as const;

  it("signs in with the value that the engine decrypts, once for each operation", async () => {
    await embedder.service(empty).up("dev", { verify: false });
    const [login] = embedder.cloud.seen;
    assert.match(JSON.stringify(login), /correct horse/);
    assert.deepEqual(
      embedder.engine.calls().filter((call) => call.startsWith("config ")),
      ["config --json --show-secrets --non-interactive --stack dev"],
    );
    assert.equal(embedder.engine.environmentOf("up").get("OS_PASSWORD"), "correct horse");
  });

  it("removes the value from errors and events", async () => {
    embedder.cloud.on("POST /identity/v3/auth/tokens", {
      status: 400,
      body: { error: { message: "no such: correct horse" } },
    });
    const notes: unknown[] = [];
    const onEvent = (event: unknown): void => void notes.push(event);
    const work = embedder.service(empty).up("dev", { verify: false, onEvent });
    const error = await work.then(
      () => assert.fail("ended well"),
      (failed: unknown) => failed,
    );
    assert.match(String(error), /no such: \[secret\]/);
    assert.doesNotMatch(JSON.stringify(notes), /correct horse/);
  });

  it("is refused in one sentence if the stack does not exist or the passphrase is missing", async () => {
    embedder.engine.refuses({
      config:
        "error: getting stack configuration: get stack secrets manager: passphrase must be set with PULUMI_CONFIG_PASSPHRASE",
    });
    const wrong = await fails(embedder.service(empty).up("dev", bare), "WRONG_PASSPHRASE");
    assert.equal(
      wrong.message,
      "Pulumi.dev.yaml: openstack:password cannot be decrypted: the passphrase is wrong, or none is set.",
    );
    embedder.engine.forget();
    const { message, hint } = await fails(
      embedder.service(empty).up("dev", bare),
      "STACK_NOT_FOUND",
    );
    assert.equal(
      message,
      "Pulumi.dev.yaml: openstack:password cannot be decrypted, because the backend has no stack 'dev'.",
    );
    assert.match(hint, /`pulumi stack init dev`/);
  });

  it("is refused in plain text, without the value in the message", async () => {
    const text = embedder.read("Pulumi.dev.yaml").replace("{ secure: v1:AAAA }", "correct horse");
    embedder.write("Pulumi.dev.yaml", text);
    const error = await fails(embedder.service(empty).up("dev", bare), "CLOUD_NOT_CONFIGURED");
    assert.match(error.message, /openstack:password must be encrypted/);
    assert.match(error.hint, /`pulumi config set --secret openstack:password`/);
    assert.doesNotMatch(error.message + error.hint, /horse/);
    assert.deepEqual(embedder.cloud.seen, []);
  });
});
