import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { StackOperation } from "../../../automation/engine/operation-context.js";
import {
  deleteEmptyAttributes,
  deleteLockFile,
  readCheckpoint,
  readLockFiles,
  readLogin,
} from "../../../automation/pulumi/pulumi-internals.js";
import { runPulumi, readOutputs, readState } from "../../../automation/pulumi/stack-state.js";
import { run as runCommand } from "../../../base/run-command.js";
import { ServiceProject } from "../support/service-project.js";

const root = resolve(__dirname, "..", "..", "..");
const sdk = join(root, "node_modules", "@pulumi", "command");
const internals = join(root, "components", "pulumi", "pulumi-internals.ts");
const program = `
const command = require(${JSON.stringify(sdk)});
const { readOwnResources } = require(${JSON.stringify(internals)});
module.exports = async () => {
  const { outputs } = await readOwnResources();
  new command.local.Command("step", { create: "echo made" });
  return { before: Object.values(outputs).map(({ type, outputs }) => [type, outputs.stdout ?? ""]) };
};
`;

/**
 * Tests the parts of Pulumi's engine on which pulumi-internals.ts depends. with-stack-lock.test.ts
 * tests `enablePreviewBeforeUpdate`. plugin-conversion.test.ts tests `rawStateDeltaKey` and
 * `parseDefaultProviderVersion`.
 */
describe("pulumi-internals, with Pulumi's engine", function () {
  this.timeout(240_000);
  let project: ServiceProject;
  let run: StackOperation;
  const place = () => {
    const { backend } = project.service;
    return { backend, project: "internals", stack: "dev" };
  };
  before(async () => {
    project = new ServiceProject("internals", program);
    run = new StackOperation(project.service, "dev");
    await run.runEngine("up");
  });
  after(() => {
    run.close();
    project.remove();
  });

  it("readOwnResources returns the resources in the state before the run", async () => {
    const step = async (): Promise<unknown> => {
      const { before } = await readOutputs(run.access);
      return (before as string[][]).find(([type]) => type === "command:local:Command");
    };
    assert.equal(await step(), undefined);
    await run.runEngine("up");
    assert.deepEqual(await step(), ["command:local:Command", "made"]);
  });

  it("readLockFiles returns the lock of a running engine, and deleteLockFile unlocks the stack", async () => {
    assert.deepEqual(readLockFiles(place()), []);
    const lock = await run.hold(() => {
      const [found, ...others] = readLockFiles(place());
      assert.ok(found && others.length === 0);
      const { pid, hostname: host } = found.content as Readonly<Record<string, unknown>>;
      assert.deepEqual([[pid], host], [project.engines(), hostname()]);
      return Promise.resolve(found);
    });
    // Restores the lock, as a killed engine would leave it.
    mkdirSync(dirname(lock.file), { recursive: true });
    writeFileSync(lock.file, JSON.stringify(lock.content));
    const rename = () => runPulumi(run.access, ["stack", "rename", "dev"], { accept: [1, 255] });
    assert.match((await rename()).stderr, /currently locked/);
    deleteLockFile(lock.file);
    assert.doesNotMatch((await rename()).stderr, /currently locked/);
  });

  it("readCheckpoint returns the resources of a stack, also from a compressed checkpoint", async () => {
    const types = (): string[] => {
      const { resources = [] } = readCheckpoint(place()) as { resources?: { type: string }[] };
      return resources.map(({ type }) => type);
    };
    const state = await readState(run.access);
    const expected = (state?.deployment.resources ?? []).map(({ type }) => type);
    assert.ok(expected.includes("command:local:Command"));
    assert.deepEqual(types(), expected);
    const { directory: cwd } = run.access.workspace;
    const write = (env: NodeJS.ProcessEnv): Promise<unknown> =>
      runCommand("pulumi", ["stack", "import", "--stack", "dev"], {
        cwd,
        env: { ...project.service.env, ...env },
        input: JSON.stringify(state),
      });
    await write({ PULUMI_DIY_BACKEND_GZIP: "true" });
    assert.ok(existsSync(`${project.checkpoint}.gz`) && !existsSync(project.checkpoint));
    assert.deepEqual(types(), expected);
    await write({});
    assert.ok(!existsSync(`${project.checkpoint}.gz`) && existsSync(project.checkpoint));
    assert.equal(readCheckpoint({ ...place(), stack: "other" }), undefined);
    assert.equal(readCheckpoint({ ...place(), backend: "s3://stacks" }), undefined);
  });

  it("readLogin returns the backend that `pulumi login` selected, until `pulumi logout`", async () => {
    const env: NodeJS.ProcessEnv = {
      ...project.service.env,
      PULUMI_CREDENTIALS_PATH: join(project.directory, "login"),
      PULUMI_BACKEND_URL: undefined,
    };
    const pulumi = (...args: string[]): Promise<unknown> =>
      runCommand("pulumi", [...args, "--non-interactive"], { cwd: project.directory, env });
    assert.equal(readLogin(env), undefined);
    for (const url of [
      project.service.backend,
      "file://~",
      `file://${project.directory}?metadata=skip`,
    ]) {
      await pulumi("login", url);
      assert.deepEqual(readLogin(env), { url, by: "pulumi login" });
    }
    await pulumi("logout");
    assert.equal(readLogin(env), undefined);
  });

  it("deleteEmptyAttributes makes a checkpoint readable that the engine refuses to read", async () => {
    const attributes = `${project.checkpoint}.attrs`;
    writeFileSync(attributes, "");
    await assert.rejects(runPulumi(run.access, ["stack", "export"]), /EOF/);
    assert.equal(deleteEmptyAttributes(place()), 1);
    assert.ok(!existsSync(attributes));
    await runPulumi(run.access, ["stack", "export"]);
  });
});
