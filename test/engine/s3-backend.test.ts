import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  createClusterService,
  type ClusterService,
} from "../../automation/cluster/cluster-service.js";
import { Run } from "../../automation/cluster/run.js";
import { readState } from "../../automation/cluster/state.js";
import { S3Server } from "./support/s3-server.js";
import { ServiceProject } from "./support/service-project.js";
import { until } from "./support/until.js";

const sdk = resolve(__dirname, "..", "..", "node_modules", "@pulumi", "command");
/** One resource takes as long as the file says. */
const program = `
const command = require(${JSON.stringify(sdk)});
const seconds = require("node:fs").readFileSync(__dirname + "/seconds", "utf8");
module.exports = async () => {
  new command.local.Command("slow", { create: "sleep " + seconds });
};
`;

/** Locks in a bucket are the engine's alone: nobody else knows where they are, nor whose. */
describe("a stack whose backend is a bucket", function () {
  this.timeout(300_000);
  let bucket: S3Server;
  let project: ServiceProject;
  let service: ClusterService;
  const bare = { preflight: false, verify: false };
  const take = (seconds: number): void => {
    writeFileSync(join(project.directory, "seconds"), String(seconds));
  };
  const pending = async (): Promise<readonly unknown[]> =>
    (await service.state("dev"))?.deployment.pending_operations ?? [];
  before(async () => {
    bucket = await S3Server.start();
    project = new ServiceProject("bucket", program, bucket.environment);
    service = createClusterService(project.service);
  });
  after(() => {
    project.remove();
    bucket.stop();
  });

  it("is held by a killed engine until its lock is removed, and then repaired by the next up", async () => {
    take(60);
    const killed = assert.rejects(service.up("dev", bare), { code: "ENGINE_KILLED" });
    await until("the engine noted what it makes", async () => (await pending()).length > 0);
    const engines = project.engines();
    for (const pid of engines) process.kill(pid, "SIGKILL");
    await killed;
    take(0);
    const holders = await service.locks("dev");
    assert.match(holders.join("\n"), /^process \d+ of \S+ on \S+, since \S+$/);
    assert.ok(
      engines.some((pid) => holders[0]?.startsWith(`process ${String(pid)} of`)),
      holders[0],
    );
    await assert.rejects(service.up("dev", bare), {
      code: "STACK_LOCKED",
      message: `Another operation holds this stack: ${String(holders[0])}.`,
    });
    assert.equal((await pending()).length, 1, "nothing was repaired under another's lock");
    await assert.rejects(service.unlock("dev"), { code: "STACK_LOCKED" });
    assert.deepEqual(await service.unlock("dev", { holders }), holders);
    assert.deepEqual(await service.locks("dev"), []);
    const notes: string[] = [];
    await service.up("dev", { ...bare, onNote: (text) => notes.push(text) });
    assert.match(notes.join("\n"), /interrupted; it is repaired: Command 'slow'/);
    assert.deepEqual(await pending(), []);
  });

  it("is held while it is repaired: nobody else gets in, who asks hears who holds it", async () => {
    const run = new Run(project.service, "dev");
    const before = await readState(run.access);
    assert.ok(before);
    await run.hold(async () => {
      const [holder = "", ...others] = await service.locks("dev");
      assert.match(holder, /^process \d+ of/);
      assert.deepEqual(others, []);
      await assert.rejects(
        new Run(project.service, "dev").hold(() => assert.fail("two hold the stack")),
        { code: "STACK_LOCKED" },
      );
      await assert.rejects(service.unlock("dev"), { code: "STACK_LOCKED" });
    });
    assert.deepEqual(await service.locks("dev"), []);
    assert.deepEqual(await readState(run.access), before);
  });
});
