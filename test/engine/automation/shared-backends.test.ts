import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  createListeningService,
  type ListeningService,
} from "../../support/engine/listening-service.js";
import { StackOperation } from "../../../automation/engine/operation-context.js";
import { takeOverStack } from "../../../automation/guards/take-over-stack.js";
import { readOwnerRecord } from "../../../automation/pulumi/locks/owner-record.js";
import { readState } from "../../../automation/pulumi/stack-state.js";
import { workersOf } from "../../lab/support/faults/engine.js";
import { PostgresServer } from "../support/postgres-server.js";
import { S3Server } from "../support/s3-server.js";
import { ServiceProject } from "../support/service-project.js";
import { until } from "../support/until.js";

const modules = resolve(__dirname, "..", "..", "..", "node_modules", "@pulumi");
/**
 * Program with a cluster of one resource. A file contains the number of seconds that the creation
 * of this resource takes.
 */
const program = `
const pulumi = require(${JSON.stringify(join(modules, "pulumi"))});
const command = require(${JSON.stringify(join(modules, "command"))});
const seconds = require("node:fs").readFileSync(__dirname + "/seconds", "utf8");
module.exports = async () => {
  const parent = new pulumi.ComponentResource("stackadm:index:Cluster", "dev");
  new command.local.Command("slow", { create: "sleep " + seconds }, { parent });
};
`;

interface Backend {
  /** Environment variables with which an engine stores its stacks in this backend. */
  readonly environment: Record<string, string>;
  stop(): void | Promise<void>;
}

/** Tests the locks and the owners of stacks in one kind of backend. */
function testBackend(name: string, start: () => Promise<Backend>, hasLockFiles = false): void {
  let backend: Backend;
  let project: ServiceProject;
  let service: ListeningService;
  const bare = { preflight: false, verify: false };
  const take = (seconds: number): void => {
    writeFileSync(join(project.directory, "seconds"), String(seconds));
  };
  /** Returns the directory of the service's records of the stack. */
  const directoryOf = (): string =>
    new StackOperation(project.service, "dev").access.workspace.directory;
  /**
   * Returns the types of the pending operations. The first operation is about the default provider.
   */
  const pending = async (): Promise<readonly string[]> =>
    ((await service.state("dev"))?.deployment.pending_operations ?? []).map(
      ({ resource }) => resource.type,
    );
  before(async () => {
    backend = await start();
    project = new ServiceProject(name, program, backend.environment);
    service = createListeningService(project.service);
    // If two engines open a new database at the same time, both create the table, and one engine
    // fails. So the table is created here.
    assert.equal(await service.state("dev"), undefined);
  });
  after(async () => {
    project.remove();
    await backend.stop();
  });

  /** Returns a service whose operations have an owner. */
  const owned = (owner: string): ListeningService =>
    createListeningService({
      ...project.service,
      env: { ...project.service.env, STACKADM_OWNER: owner },
    });
  /**
   * Kills the worker and the engine of a job with this owner during a create, after its first
   * heartbeat. Then deletes the private directory of the stack, like a runner that is deleted.
   */
  const loseJob = async (owner: string): Promise<void> => {
    take(60);
    const { access } = new StackOperation(project.service, "dev");
    const earlier = await readOwnerRecord(access);
    const killed = assert.rejects(owned(owner).up("dev", bare), { code: "ENGINE_KILLED" });
    await Promise.race([
      until("the engine noted what it makes, and a heartbeat is stored", async () => {
        if (!(await pending()).includes("command:local:Command")) return false;
        const record = await readOwnerRecord(access);
        return record?.owner === owner && record.run !== earlier?.run;
      }),
      killed.then(() => assert.fail("the job ended before it was killed")),
    ]);
    for (const pid of [...workersOf(), ...project.engines()])
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // A command of the heartbeat has ended.
      }
    await killed;
    take(0);
    rmSync(directoryOf(), { recursive: true });
  };

  /** Kills the engines of an `up` during a create. Returns the process IDs of the engines. */
  const kill = async (): Promise<number[]> => {
    take(60);
    const killed = assert.rejects(service.up("dev", bare), { code: "ENGINE_KILLED" });
    await Promise.race([
      until("the engine noted what it makes", async () =>
        (await pending()).includes("command:local:Command"),
      ),
      killed.then(() => assert.fail("the engine ended before it was killed")),
    ]);
    const engines = project.engines();
    for (const pid of engines) process.kill(pid, "SIGKILL");
    await killed;
    take(0);
    return engines;
  };

  it("is taken over by the next job of the same owner after a runner was lost, by no other", async () => {
    await loseJob("prod");
    const holders = await service.locks("dev");
    assert.equal(holders.length, 1);
    for (const other of [service, owned("staging")])
      await assert.rejects(other.up("dev", bare), { code: "STACK_LOCKED" });
    assert.ok((await pending()).includes("command:local:Command"), "another owner repaired it");
    const heard: string[] = [];
    const run = new StackOperation(project.service, "dev", {}, (event) => {
      if (event.type === "diagnostic") heard.push(event.text);
    });
    await takeOverStack(run, "prod", { unchanged: 5_000, poll: 500, settle: 1_000 });
    assert.ok(heard.some((text) => text.startsWith(`Took the stack over from ${holders.join()}`)));
    assert.deepEqual(await service.locks("dev"), []);
    const notes: string[] = [];
    await owned("prod").up("dev", { ...bare, onNote: (text) => notes.push(text) });
    assert.match(notes.join("\n"), /interrupted; repaired what it left: Command 'slow'/);
    assert.deepEqual([await pending(), await service.locks("dev")], [[], []]);
  });

  // test/commands/automation/guards/stack-lock.test.ts tests locks that are files.
  if (hasLockFiles) {
    it("contains no record of an owner after the destroy of the stack", async () => {
      const root = fileURLToPath(project.service.backend);
      const tags = (): string[] =>
        readdirSync(root, { encoding: "utf8", recursive: true }).filter((file) =>
          file.endsWith(".pulumi-tags"),
        );
      assert.equal(tags().length, 1);
      const env = { ...project.service.env, STACKADM_OWNER: "prod" };
      await new StackOperation({ ...project.service, env }, "dev").runEngine("destroy");
      assert.equal(await service.state("dev"), undefined);
      assert.deepEqual(tags(), []);
    });
    return;
  }

  it("is unlocked and repaired by the next up after a local engine was killed", async () => {
    const engines = await kill();
    const [holder = "", ...others] = await service.locks("dev");
    assert.deepEqual(others, []);
    assert.ok(
      engines.some((pid) => holder.startsWith(`process ${String(pid)} of`)),
      holder,
    );
    const notes: string[] = [];
    await service.up("dev", { ...bare, onNote: (text) => notes.push(text) });
    assert.ok(notes.includes(`Removed the lock of ${holder}: the process no longer exists.`));
    assert.match(notes.join("\n"), /interrupted; repaired what it left: Command 'slow'/);
    assert.deepEqual([await pending(), await service.locks("dev")], [[], []]);
  });

  it("stays locked by an engine killed elsewhere until the user removes the lock", async () => {
    await kill();
    // Deletes the record of the engine's process.
    rmSync(join(directoryOf(), "engines"), { recursive: true });
    const holders = await service.locks("dev");
    assert.match(holders.join("\n"), /^process \d+ of \S+ on \S+, since \S+$/);
    await assert.rejects(service.up("dev", bare), { code: "STACK_LOCKED" });
    assert.equal((await pending()).length, 1, "nothing was repaired under another's lock");
    await assert.rejects(service.unlock("dev"), { code: "STACK_LOCKED" });
    assert.deepEqual(await service.unlock("dev", { holders }), holders);
    assert.deepEqual(await service.locks("dev"), []);
    await service.up("dev", bare);
    assert.deepEqual(await pending(), []);
  });

  it("stays locked during `hold`, and reports the holder to other operations", async () => {
    const run = new StackOperation(project.service, "dev");
    const before = await readState(run.access);
    assert.ok(before);
    await run.hold(async () => {
      const [holder = "", ...others] = await service.locks("dev");
      assert.match(holder, /^process \d+ of/);
      assert.deepEqual(others, []);
      await assert.rejects(
        new StackOperation(project.service, "dev").hold(() => assert.fail("two hold the stack")),
        { code: "STACK_LOCKED" },
      );
      await assert.rejects(service.unlock("dev"), { code: "STACK_LOCKED" });
    });
    assert.deepEqual(await service.locks("dev"), []);
    assert.deepEqual(await readState(run.access), before);
  });
}

describe("a stack whose backend is a directory", function () {
  this.timeout(300_000);
  const start = (): Promise<Backend> => {
    const directory = mkdtempSync(join(tmpdir(), "stackadm-backend-"));
    return Promise.resolve({
      environment: { PULUMI_BACKEND_URL: pathToFileURL(directory).href },
      stop: () => {
        rmSync(directory, { recursive: true });
      },
    });
  };
  testBackend("directory", start, true);
});

describe("a stack whose backend is a bucket", function () {
  this.timeout(300_000);
  testBackend("bucket", () => S3Server.start());
});

describe("a stack whose backend is a database", function () {
  this.timeout(300_000);
  testBackend("database", () => PostgresServer.start());
});
