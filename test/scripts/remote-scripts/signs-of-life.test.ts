import { strict as assert } from "node:assert";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../engine/support/until.js";
import { Sandbox, sandboxServer } from "../../support/machine/sandbox.js";

const common = readFileSync(
  join(__dirname, "../../../components/remote-scripts/scripts/common.sh"),
  "utf8",
);
/** Returns common.sh with another interval of signs of life. */
const every = (seconds: string): string => {
  const text = common.replace("read -r -t 5 ", `read -r -t ${seconds} `);
  assert.notEqual(text, common);
  return text;
};
/**
 * Interval that is longer than the test's limit: a loop that waits for the interval, instead of
 * noticing the script's end, fails the test.
 */
const rarely = every("600");
const waits =
  'work() { until [[ -e go ]]; do sleep 0.1; done; echo "{}" >&4; }\nrun_step wait work\n';

/**
 * Output of a running script. The script ends when no process keeps the output open.
 */
class Session {
  stdout = "";
  stderr = "";
  readonly closed: Promise<number | null>;
  #changed = (): void => undefined;

  constructor(readonly child: ChildProcessWithoutNullStreams) {
    child.stdout.on("data", (data: Buffer) => (this.stdout += data.toString()));
    child.stderr.on("data", (data: Buffer) => {
      this.stderr += data.toString();
      this.#changed();
    });
    this.closed = new Promise((resolve) => child.once("close", resolve));
  }

  /** Waits until `count` lines state that the script is alive. */
  async alive(count: number): Promise<readonly string[]> {
    const lines = (): string[] => this.stderr.match(/^alive .*$/gm) ?? [];
    while (lines().length < count)
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    return lines();
  }
}

describe("the alive signal of a step", function () {
  this.timeout(30_000);
  let machine: Sandbox;
  const start = (...scripts: readonly string[]): Session => new Session(machine.start(scripts));
  /** Returns the number of the scripts' processes with this name. */
  const shells = (name: string): number =>
    readdirSync("/proc").filter((pid) => {
      try {
        const ours = readFileSync(`/proc/${pid}/environ`, "utf8").includes(machine.root);
        return ours && readFileSync(`/proc/${pid}/comm`, "utf8").trim() === name;
      } catch {
        return false; // not a process, or already ended
      }
    }).length;
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
    const said = session.stderr.split("\n").filter((line) => !line.startsWith("alive "));
    assert.match(
      said.join("\n"),
      /^jobs: 1\nwaited\nown failed on machine; [^\n]*\n--- [^\n]*\nreason: `false` ended with code 1\nteardown\n$/,
    );
  });

  it("requires the server's ID", () => {
    const { code, stderr } = machine.run([common, "run_step a true"], { SERVER_ID: "" });
    assert.equal(code, 1);
    assert.match(stderr, /the value SERVER_ID is missing/);
  });
});
