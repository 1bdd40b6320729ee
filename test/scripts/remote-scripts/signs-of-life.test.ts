import { strict as assert } from "node:assert";
import { until } from "../../engine/support/until.js";
import { Sandbox, sandboxServer } from "../../support/machine/sandbox.js";
import {
  commonScript,
  commonScriptWithInterval as every,
  countProcesses,
  ScriptSession,
} from "../../support/machine/script-session.js";

/**
 * Interval that is longer than the test's limit: a loop that waits for the interval, instead of
 * noticing the script's end, fails the test.
 */
const rarely = every("600");
const waits =
  'work() { until [[ -e go ]]; do sleep 0.1; done; echo "{}" >&4; }\nrun_step wait work\n';

describe("the alive signal of a step", function () {
  this.timeout(30_000);
  let machine: Sandbox;
  const start = (...scripts: readonly string[]): ScriptSession =>
    new ScriptSession(machine.start(scripts));
  const shells = (name: string): number => countProcesses(machine, name);
  beforeEach(() => {
    machine = new Sandbox({ hostname: "echo machine" });
  });
  afterEach(() => {
    machine.close();
  });

  it("repeats the server's ID, the name of the step and the elapsed time", async () => {
    const session = start(every("0.2"), waits);
    const lines = await session.alive(3);
    machine.put("go");
    assert.equal(await session.closed, 0);
    for (const line of lines)
      assert.match(line, new RegExp(`^alive ${sandboxServer} wait \\d+ s$`));
    assert.equal(session.stdout, "{}\n");
  });

  it("continues while the step waits for another step", async () => {
    const first = start(rarely, waits);
    await first.alive(1);
    const second = start(every("0.2"), waits);
    await second.alive(2);
    machine.put("go");
    assert.deepEqual(await Promise.all([first.closed, second.closed]), [0, 0]);
  });

  it("stops as soon as the step ends, and holds neither output nor lock", async () => {
    const session = start(rarely, "work() { :; }\nrun_step first work\nrun_step second work\n");
    assert.equal(await session.closed, 0);
    assert.equal(await start(rarely, "work() { :; }\nrun_step third work\n").closed, 0);
  });

  it("stops as soon as the step is killed, even if a child process still runs", async () => {
    const child = "sh -c 'until [ -e go ]; do sleep 0.1; done'";
    const session = start(rarely, `work() { ${child}; }\nrun_step kill work\n`);
    await session.alive(1);
    await until("a child of the script runs", () => shells("sh") === 1);
    session.child.kill("SIGKILL");
    await until("no shell of the script is left", () => shells("bash") === 0, 20);
    machine.put("go");
    await session.closed;
  });

  it("stops as soon as the step is killed during a wait for another step", async () => {
    const first = start(rarely, waits);
    await first.alive(1);
    const second = start(rarely, waits);
    await second.alive(1);
    await until("the second waits", () => shells("flock") === 1);
    second.child.kill("SIGKILL");
    await until("only the first is left", () => shells("bash") === 2, 20);
    machine.put("go");
    await Promise.all([first.closed, second.closed]);
  });

  it("does not affect the step's own background jobs, traps and failures", async () => {
    const script = [
      "work() {",
      "  trap 'report_failure; say teardown' EXIT",
      "  sleep 0.1 & say \"jobs: $(jobs -p | sed -n '$=')\"",
      "  wait",
      "  say waited",
      "  false",
      "  say 'never here'",
      "}",
      "run_step own work",
    ].join("\n");
    const session = start(rarely, script);
    assert.equal(await session.closed, 1);
    assert.match(
      session.messages,
      /^jobs: 1\nwaited\nown failed on machine; [^\n]*\n--- [^\n]*\nreason: `false` ended with code 1\nteardown\n$/,
    );
  });

  it("requires the server's ID", () => {
    const { code, stderr } = machine.run([commonScript, "run_step a true"], { SERVER_ID: "" });
    assert.equal(code, 1);
    assert.match(stderr, /the value SERVER_ID is missing/);
  });
});
