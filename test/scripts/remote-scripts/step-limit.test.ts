import { strict as assert } from "node:assert";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { parseSshFailure } from "../../../components/lifecycle/ssh-failures.js";
import { until } from "../../engine/support/until.js";
import { Sandbox } from "../../support/machine/sandbox.js";
import {
  commonScriptWithInterval,
  countProcesses,
  ScriptSession,
} from "../../support/machine/script-session.js";

/** An interval of 0.2 s counts as 5 s of the time limit. */
const common = commonScriptWithInterval("0.2");
/** Command that never ends. */
const hang = "sleep 600";
const step = (body: string, limit = 5): string =>
  `work() {\n${body}\nsay 'never here'\n}\nrun_step hang work lock ${limit}\n`;
const reason = (programs: string, limit = 5): string =>
  `reason: hang did not end within ${limit} s on machine and was ended while it ran ${programs}; if the machine is only slow, write a larger timeoutFactor`;

describe("a step that reaches its time limit", function () {
  this.timeout(30_000);
  let machine: Sandbox;
  const start = (...scripts: readonly string[]): ScriptSession =>
    new ScriptSession(machine.start([common, ...scripts]));
  const lastLines = ({ messages }: ScriptSession, count = 1): string[] =>
    messages.trimEnd().split("\n").slice(-count);
  /** Runs a step on the same machine and with the same lock as the ended step. */
  const runNext = async (): Promise<void> => {
    const next = start("work() { say next; }\nrun_step next work");
    assert.equal(await next.closed, 0);
    assert.equal(next.messages, "next\n");
  };
  beforeEach(() => {
    machine = new Sandbox({ hostname: "echo machine" });
  });
  afterEach(() => {
    machine.close();
  });

  const bodies: readonly (readonly [title: string, body: string, programs: string])[] = [
    ["a program", hang, "sleep"],
    ["a program whose failure has another reason", `${hang} || die 'no space'`, "sleep"],
    ["a program whose failure is ignored", `${hang} || :`, "sleep"],
    ["a pipeline in a subshell", `local x; x=$(${hang} | cat)`, "sleep, cat"],
    // Between two calls of `sleep`, only the shell runs.
    ["a poll", "poll 100 false", "(?:sleep|bash)"],
    [
      "a program that ignores the end of a shorter time limit",
      `timeout 600 sh -c "trap '' TERM; ${hang}; ${hang}"`,
      "sleep",
    ],
  ];
  for (const [title, body, programs] of bodies)
    it(`ends with one reason and frees the lock during ${title}`, async () => {
      const session = start(step(body));
      assert.equal(await session.closed, 124);
      assert.match(lastLines(session).join(), new RegExp(`^${reason(programs)}$`));
      assert.equal(session.messages.match(/^reason: /gm)?.length, 1);
      assert.doesNotMatch(session.messages, /never here/);
      assert.equal(countProcesses(machine, "sleep"), 0);
      await runNext();
    });

  it("ends processes that keep the session open after their parent has ended", async () => {
    const session = start(step(`(${hang} &)\n${hang}`));
    assert.equal(await session.closed, 124);
    assert.deepEqual(lastLines(session), [reason("sleep, sleep")]);
  });

  it("runs the exit trap of the step", async () => {
    const session = start(step(`trap 'report_failure; hostname >&3' EXIT\n${hang}`));
    assert.equal(await session.closed, 124);
    assert.deepEqual(lastLines(session, 2), [reason("sleep"), "machine"]);
  });

  it("leaves a systemd unit running", async () => {
    // The unit is no child of the script and does not have the script's descriptors.
    const unit = "until [[ -e $root/go ]]; do sleep 0.1; done; touch $root/ended";
    machine.stub("systemd-run", `(exec >/dev/null 2>&1 3>&- 4>&-; ${unit}) &`);
    machine.stub("systemctl", ":");
    const session = start(step(`start_unit x 900 work\n${hang}`));
    assert.equal(await session.closed, 124);
    machine.put("go");
    await until("the unit has ended by itself", () => machine.file("ended") !== undefined, 10);
  });

  it("does not count the wait for another step", async () => {
    const first = start(step("until [[ -e go ]]; do sleep 0.1; done; exit", 6000));
    await first.alive(1);
    const second = start("work() { say second; }\nrun_step second work lock 5");
    await second.alive(4);
    machine.put("go");
    assert.deepEqual(await Promise.all([first.closed, second.closed]), [0, 0]);
    assert.match(second.messages, /second\n$/);
  });

  it("multiplies the limit by the timeout factor of the machine", async () => {
    machine.put("var/lib/stackadm/timeout-factor", "3\n");
    const session = start(step(hang));
    await session.closed;
    assert.deepEqual(lastLines(session), [reason("sleep", 15)]);
  });

  it("multiplies the limit by TIMEOUT_FACTOR if the machine has no factor yet", async () => {
    const session = new ScriptSession(machine.start(["TIMEOUT_FACTOR=2", common, step(hang)]));
    await session.closed;
    assert.deepEqual(lastLines(session), [reason("sleep", 10)]);
  });

  it("ends without its SSH session as well", async () => {
    const session = start(step(hang));
    await until("the program runs", () => countProcesses(machine, "sleep") === 1, 20);
    session.child.stdout.destroy();
    session.child.stderr.destroy();
    await until("no process is left", () => countProcesses(machine, "sleep") === 0, 20);
    await runNext();
  });

  it("ends the session's sshd if the kernel does not end a process", async () => {
    const stuck = join(machine.root, "bin/stuck");
    symlinkSync("/bin/sh", stuck);
    symlinkSync("/bin/bash", join(machine.root, "bin/sshd"));
    // Simulates a process that waits for a device: SIGKILL does not end the program `stuck`.
    const kill = `kill() {
      local one
      [[ $1 == -KILL ]] || { builtin kill "$@"; return; }
      for one in "\${@:2}"; do
        [[ -e /proc/$one/comm && $(</proc/$one/comm) == stuck ]] || builtin kill -KILL "$one"
      done
    }`;
    const impatient = common.replace("{1..60}", "{1..2}").replace("{1..5}", "1");
    assert.notEqual(impatient, common);
    const body = "stuck -c 'until [ -e go ]; do sleep 0.1; done'";
    const sshd = join(machine.root, "bin/sshd");
    const shell = [sshd, "-c", "/bin/bash -s; while :; do sleep 0.1; done"] as const;
    const session = new ScriptSession(machine.start([impatient, kill, step(body)], shell));
    const signal = await new Promise((resolve) => {
      session.child.once("exit", (_, ended) => {
        resolve(ended);
      });
    });
    assert.equal(signal, "SIGTERM");
    machine.put("go");
    await session.closed;
    assert.equal(session.messages.match(/^reason: /gm)?.length, 1);
    // The program does not run the step again.
    const error = "wait: remote command exited without exit status or exit signal";
    assert.equal(parseSshFailure(error), "cut off");
    assert.equal(parseSshFailure(`${error}: running "x":\n${session.stderr}`), "other");
  });
});
