import assert from "node:assert/strict";
import fc from "fast-check";
import type { DecodedEngineEvent } from "../../../../automation/pulumi/events.js";
import {
  createScriptTimeoutError,
  ScriptWatch,
  type ScriptTimeout,
  scriptWatchLimits,
} from "../../../../automation/engine/script-watchdog.js";
import type { ServerState } from "../../../../openstack/inventory/server-diagnostics.js";
import { commandType, networkType, urnOf } from "../../../support/engine/fake-engine.js";

const serverId = "0b1c2d3e-0000-4000-8000-000000000001";
const hop = "0b1c2d3e-0000-4000-8000-000000000002";
const init = urnOf(commandType, "dev-control-plane-0-init");
const other = urnOf(networkType, "net");
const stepOf = (urn: string, type: "started" | "finished" | "failed"): DecodedEngineEvent => {
  const change = { urn, name: "n", type: "t", phase: undefined, operation: "create" };
  return type === "finished" ? { type, at: 0, change, id: "" } : { type, at: 0, change };
};
/** Event for the start of a script whose server is known. */
const begun = (urn = init): DecodedEngineEvent => ({
  type: "started",
  at: 0,
  change: { urn, name: "n", type: "t", phase: undefined, operation: "create" },
  serverId,
});
const alive = (urn = init, through: readonly string[] = []): DecodedEngineEvent => ({
  type: "alive",
  at: 0,
  urn,
  serverId,
  through,
  step: "init",
  seconds: 0,
});
const log = (text: string): DecodedEngineEvent => ({ type: "log", at: 0, urn: init, text });

interface Nova {
  /** Server's status at a time; undefined if Nova cannot be reached. */
  readonly status: (now: number) => string | undefined;
  /** Milliseconds until Nova answers. */
  readonly delay?: number;
  /** ID of the server through which scripts reach other machines. */
  readonly hop?: string;
}

/** Script watch with a simulated clock. */
class World {
  now = 0;
  readonly asked: number[] = [];
  cancelledAt = Infinity;
  killedAt = Infinity;
  private readonly due: { readonly at: number; readonly answer: () => void }[] = [];
  readonly watch: ScriptWatch;

  constructor(nova: Nova) {
    this.watch = new ScriptWatch({
      now: () => this.now,
      ask: (id) => {
        if (id === hop) return Promise.resolve({ name: "hop", status: nova.hop ?? "" });
        assert.equal(id, serverId);
        this.asked.push(this.now);
        return new Promise<ServerState>((resolve, reject) => {
          const answer = (): void => {
            const status = nova.status(this.now);
            if (status === undefined) reject(new Error("no answer"));
            else resolve({ name: "dev-control-plane-0", status });
          };
          this.due.push({ at: this.now + (nova.delay ?? 100), answer });
        });
      },
      cancel: () => {
        this.cancelledAt = Math.min(this.cancelledAt, this.now);
      },
      kill: () => {
        this.killedAt = Math.min(this.killedAt, this.now);
      },
    });
    this.watch.checkScripts();
  }

  take(...events: readonly DecodedEngineEvent[]): this {
    for (const event of events) this.watch.processEvent(event);
    return this;
  }

  /** Returns why the watch gave up, and the status in Nova; empty while it has not given up. */
  verdict(): readonly (string | undefined)[] {
    const { scriptTimeout } = this.watch;
    return scriptTimeout ? [scriptTimeout.why, scriptTimeout.state?.status] : [];
  }

  /** Advances the clock; the watch checks once a second. */
  async pass(seconds: number): Promise<this> {
    const end = this.now + seconds * 1000;
    while (this.now < end) {
      this.now = Math.min(end, this.now - (this.now % 100) + 100);
      for (const { at, answer } of this.due) if (at <= this.now && at > this.now - 100) answer();
      for (let turns = 0; turns < 4; turns += 1) await Promise.resolve();
      if (this.now % 1000 === 0) this.watch.checkScripts();
    }
    return this;
  }
}

const says = (status: string | undefined, delay?: number): Nova => ({
  status: () => status,
  ...(delay !== undefined && { delay }),
});
const running = (nova: Nova): World => new World(nova).take(stepOf(init, "started"), alive());

const still = ["SHUTOFF", "ERROR", "DELETED", "PAUSED", "SUSPENDED", "RESCUE"];
const well = ["ACTIVE", "REBOOT", "HARD_REBOOT", "PASSWORD", "VERIFY_RESIZE", undefined];
const anyStatus = fc.constantFrom(...still, ...well);

describe("ScriptWatch", () => {
  it("checks the jump host too, because its stop silences the scripts behind it", async () => {
    const nova = { ...says("ACTIVE"), hop: "SHUTOFF" };
    const world = new World(nova).take(stepOf(init, "started"), alive(init, [hop]));
    await world.pass(20);
    assert.deepEqual(world.verdict(), ["stopped", "SHUTOFF"]);
    assert.ok(world.watch.scriptTimeout);
    assert.match(
      createScriptTimeoutError(world.watch.scriptTimeout).message,
      /The machine hop stopped/,
    );
  });

  it("checks a machine that is redialled after the script's connection ended", async () => {
    for (const what of ["", "proxy ", "from proxy "]) {
      const world = running(says("SHUTOFF"));
      for (let dials = 1; dials < 18; dials += 1)
        (await world.pass(1)).take(log(`Dial ${what}${dials.toString()}/30 failed: retrying`));
      assert.deepEqual(world.verdict(), ["stopped", "SHUTOFF"]);
    }
  });

  for (const [what, status] of [
    ["runs", "ACTIVE"],
    ["Nova cannot report", undefined],
  ] as const)
    it(`gives up a script whose connection hangs on a machine that ${what}`, async () => {
      const world = await new World(says(status)).take(begun()).pass(299);
      assert.deepEqual([world.asked, world.verdict()], [[240_000, 260_000, 280_000], []]);
      await world.pass(20);
      assert.deepEqual(world.verdict(), ["unanswered", status]);
      assert.ok(world.killedAt < Infinity);
    });

  it("gives up a script whose connection hangs on a stopped machine", async () => {
    const world = await new World(says("SHUTOFF")).take(begun()).pass(242);
    assert.deepEqual(world.verdict(), ["stopped", "SHUTOFF"]);
  });

  it("waits while a machine that has never answered is being dialled", async () => {
    const world = new World(says("SHUTOFF")).take(begun());
    for (let minutes = 0; minutes < 20; minutes += 1)
      (await world.pass(60)).take(log("Dial 2/30 failed: retrying"));
    assert.deepEqual([world.asked, world.verdict()], [[], []]);
  });

  it("checks a script 15 s after its first sign of life, although its connection took longer", async () => {
    const world = await new World(says("ACTIVE")).take(begun()).pass(100);
    await world.take(alive()).pass(16);
    assert.deepEqual(world.asked, [115_000]);
  });

  it("waits while a restarting machine is being dialled", async () => {
    const world = running(says("ACTIVE"));
    for (let minutes = 0; minutes < 10; minutes += 1)
      (await world.pass(60)).take(log("Dial 2/30 failed: retrying"));
    assert.deepEqual(world.verdict(), []);
    await world.pass(301);
    assert.deepEqual(world.verdict(), ["silent", "ACTIVE"]);
  });

  it("never ends a script that prints output, with any status in Nova and any duration", async () => {
    const word = fc.record({ after: fc.integer({ min: 1, max: 149 }), prints: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 60 }), anyStatus, async (words, status) => {
        const world = running(says(status));
        for (const { after, prints } of words) {
          await world.pass(after / 10);
          world.take(prints ? log("kubeadm init") : alive());
        }
        await world.pass(14);
        assert.deepEqual([world.verdict(), world.asked], [[], []]);
      }),
      { numRuns: 30 },
    );
  });

  it("never ends a script that pauses its output on a running machine", async () => {
    const silences = fc.array(fc.integer({ min: 1, max: 299 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(silences, fc.constantFrom(...well), async (seconds, status) => {
        const world = running(says(status));
        for (const silence of seconds) {
          await world.pass(silence);
          world.take(alive());
        }
        assert.deepEqual(world.verdict(), []);
        assert.equal(world.cancelledAt, Infinity);
      }),
      { numRuns: 20 },
    );
  });

  it("kills the engine within 50 s of a machine's stop and leaves the engine 10 s to finish", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          before: fc.integer({ min: 0, max: 100 }),
          lastWord: fc.integer({ min: 0, max: 50 }),
          status: fc.constantFrom(...still),
          delay: fc.integer({ min: 1, max: 18_000 }),
          others: fc.boolean(),
        }),
        async ({ before, lastWord, status, delay, others }) => {
          let stop = Infinity;
          const world = running({ status: (now) => (now < stop ? "ACTIVE" : status), delay });
          if (others) world.take(stepOf(other, "started"));
          await world.pass(before / 10);
          world.take(alive());
          await world.pass(lastWord / 10);
          stop = world.now;
          await world.pass(50);
          assert.deepEqual(world.verdict(), ["stopped", status]);
          assert.ok(world.killedAt - world.cancelledAt >= scriptWatchLimits.apart);
          assert.ok(world.killedAt - stop <= 50_000);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("requests the server's status every 20 s while Nova reports ACTIVE", async () => {
    const world = running({ status: (now) => (now < 50_000 ? "ACTIVE" : "SHUTOFF") });
    await world.pass(70);
    assert.deepEqual(world.asked, [15_000, 35_000, 55_000]);
    assert.deepEqual(world.verdict(), ["stopped", "SHUTOFF"]);
  });

  for (const [what, status] of [
    ["runs", "ACTIVE"],
    ["Nova cannot report", undefined],
  ] as const)
    it(`gives up after 5 minutes without output on a machine that ${what}`, async () => {
      const world = await running(says(status)).pass(299);
      assert.deepEqual(world.verdict(), []);
      await world.pass(3);
      assert.deepEqual(world.verdict(), ["silent", status]);
      assert.ok(world.killedAt < Infinity);
    });

  it("lets other operations finish first, within a limit", async () => {
    const short = await running(says("SHUTOFF")).take(stepOf(other, "started")).pass(18);
    assert.ok(short.cancelledAt < Infinity);
    assert.equal(short.killedAt, Infinity);
    await short.take(stepOf(other, "finished")).pass(2);
    assert.ok(short.killedAt < Infinity);
    const long = await running(says("SHUTOFF")).take(stepOf(other, "started")).pass(29);
    assert.equal(long.killedAt, Infinity);
    assert.ok((await long.pass(3)).killedAt < Infinity);
  });

  it("waits for another script that prints output, but not for a silent one", async () => {
    const join = urnOf(commandType, "dev-general-0-join");
    const world = running(says("SHUTOFF")).take(stepOf(join, "started"), alive(join));
    assert.ok((await world.pass(18)).killedAt < Infinity);
    const talking = running(says("SHUTOFF")).take(stepOf(join, "started"), alive(join));
    await talking.pass(10);
    await talking.take(alive(join)).pass(10);
    assert.ok(talking.cancelledAt < Infinity);
    assert.equal(talking.killedAt, Infinity);
  });

  it("drops Nova's answer if the script printed output after the request", async () => {
    const world = await running(says("SHUTOFF", 5_000)).pass(16);
    assert.deepEqual(world.asked, [15_000]);
    await world.take(alive()).pass(14);
    assert.deepEqual(world.verdict(), []);
  });

  it("restarts the timer of a hanging connection after the process was suspended", async () => {
    const world = await new World(says("ACTIVE")).take(begun()).pass(10);
    world.now += 3_600_000;
    await world.pass(230);
    assert.deepEqual([world.asked, world.verdict()], [[], []]);
  });

  it("restarts its timers after the process was suspended", async () => {
    const world = await running(says("SHUTOFF")).pass(10);
    world.now += 3_600_000;
    await world.pass(10);
    assert.deepEqual([world.asked, world.verdict()], [[], []]);
    await world.pass(10);
    assert.deepEqual(world.verdict(), ["stopped", "SHUTOFF"]);
  });

  const unwatched: [string, readonly DecodedEngineEvent[]][] = [
    ["that has printed no alive message", [stepOf(init, "started")]],
    ["that has ended", [stepOf(init, "started"), alive(), stepOf(init, "finished")]],
    ["that has failed", [stepOf(init, "started"), alive(), stepOf(init, "failed")]],
    [
      "that has ended before its last line arrives",
      [stepOf(init, "started"), stepOf(init, "finished"), alive()],
    ],
    ["that is not a remote command", [stepOf(other, "started"), alive(other)]],
  ];
  for (const [what, events] of unwatched)
    it(`ignores a step ${what}`, async () => {
      const world = await new World(says("SHUTOFF")).take(...events).pass(400);
      assert.deepEqual([world.asked, world.verdict()], [[], []]);
    });
});

describe("createScriptTimeoutError", () => {
  const verdict = { urn: init, step: "init", serverId } as const;
  const name = "dev-control-plane-0";
  const explain = (why: ScriptTimeout["why"], state?: ServerState) =>
    createScriptTimeoutError({ ...verdict, why, state });

  it("reports the machine, Nova's status, the console command and the next step", () => {
    const error = explain("stopped", { name, status: "SHUTOFF" });
    assert.equal(error.code, "SERVER_STOPPED");
    assert.equal(
      error.sentence,
      "The machine dev-control-plane-0 stopped while its script 'init' ran: Nova says SHUTOFF.",
    );
    assert.match(error.hint, /console log show dev-control-plane-0/);
    assert.match(error.hint, /`openstack server start dev-control-plane-0`, then run/);
    assert.deepEqual(error.subject, { urn: init, resource: "dev-control-plane-0-init" });
  });

  it("reports the resource's name if Nova no longer has the server", () => {
    const error = explain("stopped", { status: "DELETED" });
    assert.match(
      error.sentence,
      /^The machine dev-control-plane-0 stopped .*: Nova says DELETED\.$/,
    );
    assert.match(error.hint, new RegExp(`server event list ${serverId}.*up --refresh`));
  });

  it("reports the silence and Nova's status", () => {
    const running = explain("silent", { name, status: "ACTIVE" });
    assert.equal(running.code, "SERVER_SILENT");
    assert.equal(
      running.sentence,
      "The machine dev-control-plane-0 was silent for 5 minutes while its script 'init' ran: Nova says ACTIVE.",
    );
    assert.match(explain("silent").sentence, /ran: Nova cannot be asked\.$/);
  });

  it("reports a connection without an answer", () => {
    const { code, sentence } = explain("unanswered", { name, status: "ACTIVE" });
    assert.equal(code, "SERVER_SILENT");
    assert.equal(
      sentence,
      "The machine dev-control-plane-0 accepted a connection for its step 'init', but sent nothing for 5 minutes: Nova says ACTIVE.",
    );
  });
});
