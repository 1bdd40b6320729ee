import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startFakeCloud, type FakeCloud } from "../../../support/cloud/fake-openstack.js";
import { jsonLines, lastLine, Operator } from "../../../support/commands/test-user.js";
import type { Ended } from "../../../support/commands/in-process.js";
import { prepareReadyCloud } from "../../../support/cloud/ready-cluster.js";
import { networkType, urnOf } from "../../../support/engine/fake-engine.js";

// The user has a stack in stackadm's directory, and then runs `pulumi login` for another backend.
describe("a stack in another backend than the chosen one", function () {
  this.timeout(120_000);
  let cloud: FakeCloud;
  let operator: Operator;
  const own = (): string => `file://${operator.state("pulumi")}`;
  const loggedIn = (): string => `file://${join(operator.home, "team")}`;
  const words = { PULUMI_CONFIG_PASSPHRASE: "of-the-team" };
  const network = { urn: urnOf(networkType, "net"), type: networkType, custom: true, id: "n" };
  const put = (file: string, text: string): void => {
    const path = join(operator.home, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const logIn = (current: string): void => {
    put("login/credentials.json", JSON.stringify({ current, accessTokens: { [current]: "" } }));
  };
  const store = (...resources: unknown[]): void => {
    const checkpoint = JSON.stringify({ version: 3, checkpoint: { latest: { resources } } });
    put("state/stackadm/pulumi/.pulumi/stacks/stackadm/dev.json", checkpoint);
  };
  const run = (...args: string[]): Promise<Ended> => operator.runWith(words, ...args);
  const sentence = (): string =>
    `The backend ${loggedIn()} has no stack 'dev', but ${own()} has it.`;
  const hint = (): string =>
    `To use that stack, run \`export PULUMI_BACKEND_URL='${own()}'\`. To move it, see docs/team/share-a-stack.md#move-an-existing-stack-to-a-shared-backend. To create another cluster under this name, first run \`pulumi stack init dev\`.`;
  before(async () => {
    cloud = await startFakeCloud();
    prepareReadyCloud(cloud);
  });
  after(() => cloud.close());
  beforeEach(() => {
    operator = new Operator(cloud.environment());
    mkdirSync(join(operator.home, "team"));
    logIn(loggedIn());
    store(network);
  });
  afterEach(() => {
    operator.remove();
  });

  for (const command of [
    ...["up", "up --force", "preview", "refresh", "destroy --yes", "destroy --yes --abandon"],
    ...["status", "outputs", "kubeconfig", "backup", "restore --yes --from ."],
  ])
    it(`is named, with the command that selects it, and nothing is done: ${command}`, async () => {
      const { code, err } = await run(...command.split(" "));
      assert.equal(code, 1);
      assert.equal(err.split("\n")[0], `State: ${loggedIn()} (pulumi login)`);
      assert.ok(err.includes(`error: ${sentence()}\n  ${hint()}\n  STACK_NOT_FOUND: docs/`), err);
      assert.deepEqual(operator.engine.operations(), []);
    });

  it("is named with --json, after the backend and its source", async () => {
    const lines = jsonLines((await run("up", "--json")).out);
    const backend = { type: "backend", stack: "dev", url: loggedIn(), chosenBy: "login" };
    assert.deepEqual(lines[0], backend);
    const { code, message } = lines.at(-1) ?? {};
    assert.deepEqual([code, message], ["STACK_NOT_FOUND", sentence()]);
  });

  it("is a warning of `doctor` and a note of `env`", async () => {
    const doctor = await run("doctor", "--json");
    assert.equal(doctor.code, 0);
    const { findings } = lastLine(doctor.out);
    assert.deepEqual((findings as unknown[])[0], {
      severity: "warning",
      text: `stack: ${sentence()} ${hint()}`,
    });
    const { code, err, out } = await run("env");
    assert.equal(code, 0);
    assert.ok(err.includes(`! ${sentence()} ${hint()}`), err);
    assert.match(out, new RegExp(`^export PULUMI_BACKEND_URL=${loggedIn()}$`, "m"));
    assert.doesNotMatch(out, /PASSPHRASE/);
  });

  it("is used by the command of the hint, with stackadm's own passphrase", async () => {
    operator.engine.state({ resources: [network] });
    const { code, out } = await operator.runWith({ PULUMI_BACKEND_URL: own() }, "env");
    assert.equal(code, 0);
    const lines = out.split("\n");
    assert.ok(lines.includes(`export PULUMI_BACKEND_URL=${own()}`), out);
    const passphrase = operator.state("passphrase");
    assert.ok(lines.includes(`export PULUMI_CONFIG_PASSPHRASE_FILE=${passphrase}`), out);
  });

  it("is also named if the passphrase for the chosen backend is missing", async () => {
    for (const url of [loggedIn(), "s3://team"]) {
      logIn(url);
      const { code, err } = await operator.run("status");
      assert.equal(code, 2);
      assert.match(err, /error: No passphrase is set for the secrets of the stacks at /);
      assert.ok(
        err.includes(
          `A stack with this name is in ${own()}; to use that stack, run \`export PULUMI_BACKEND_URL='${own()}'\`.`,
        ),
        err,
      );
    }
  });

  it("is also named if the chosen backend does not answer", async () => {
    logIn("https://pulumi.example");
    const error = "error: dial tcp: no such host\n";
    operator.engine.refuses({ "stack export": error, "stack ls": error });
    for (const command of ["up", "status", "doctor"]) {
      const { code, err } = await operator.run(command);
      assert.equal(code, 1);
      assert.match(err, /error: .*no such host/);
      const found = `A stack with this name is in ${own()}; to use that stack, run \`export `;
      assert.ok(err.includes(found), `${command}: ${err}`);
    }
    assert.deepEqual(operator.engine.operations(), []);
  });

  it("does not prevent a new cluster after `pulumi stack init` in the chosen backend", async () => {
    operator.engine.state({});
    const { err } = await run("up");
    assert.doesNotMatch(err, /has no stack 'dev'/);
    assert.deepEqual(operator.engine.operations(), ["up"]);
  });

  it("is not named if it has no resources", async () => {
    for (const resources of [[], [{ ...network, id: undefined, type: "pulumi:pulumi:Stack" }]]) {
      store(...resources);
      const { code, err } = await run("status");
      assert.equal(code, 1);
      assert.match(err, /error: The backend has no stack 'dev'\./);
    }
  });

  it("is named if its checkpoint cannot be read", async () => {
    put("state/stackadm/pulumi/.pulumi/stacks/stackadm/dev.json", "{");
    assert.ok((await run("up")).err.includes(`error: ${sentence()}`));
  });
});
