import { strict as assert } from "node:assert";
import { setTimeout } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import { Rollout } from "../../../../components/lifecycle/rollout.js";
import { awaitOutput } from "../../../../components/pulumi/await-output.js";

const worker = (name: string, generation: number) =>
  ({ role: "worker", name, generation }) as const;

describe("Rollout.addMachine", () => {
  const existing = Promise.resolve(new Map([0, 1, 2].map((n) => [`m${String(n)}`, "0"])));
  const turns = (...joined: readonly pulumi.Output<string>[]): pulumi.Output<number>[] => {
    const order = new Rollout(existing);
    const all = ["m0", "m1", "m2"].map((machine) =>
      pulumi.output(order.addMachine(worker(machine, 1))),
    );
    joined.forEach((output, position) => {
      order.setDoneOutput(`m${String(position)}`, output);
    });
    return all;
  };
  const failing = (): pulumi.Output<string> =>
    pulumi.output(existing.then(() => Promise.reject<string>(new Error("m0 failed"))));

  it("rejects later machines if an earlier machine failed, instead of waiting forever", async () => {
    const [first, second, third] = turns(failing(), pulumi.output("id")).map(awaitOutput);
    assert.equal(await first, 1);
    await assert.rejects(second ?? existing, /m0 failed/);
    await assert.rejects(third ?? existing, /m0 failed/);
  });

  it("rejects later machines if the engine continues after a failure and the value stays unknown", async () => {
    const unknown = pulumi.output(
      pulumi.runtime.deserializeProperty(pulumi.runtime.unknownValue, true) as string,
    );
    const [, second] = turns(unknown).map(awaitOutput);
    await assert.rejects(second ?? existing, /that others wait for failed/);
  });
});

describe("Rollout.delayUntilTurn", () => {
  const made = (...machines: readonly string[]) =>
    new Rollout(Promise.resolve(new Map(machines.map((name) => [name, "0"]))));
  /** Returns the order in which the machines got their turn. */
  const given = async (
    order: Rollout,
    machines: readonly (readonly [string, number])[],
    first = pulumi.output("id"),
  ): Promise<readonly string[]> => {
    const got: string[] = [];
    const note = (machine: string): string => {
      got.push(machine);
      return machine;
    };
    const joins = machines.map(([machine, wanted]) => {
      const generation = pulumi.output(order.addMachine(worker(machine, wanted)));
      const text = pulumi.output(order.delayUntilTurn(machine, pulumi.output("text"), first));
      const joined = pulumi.output(
        Promise.all([awaitOutput(generation), awaitOutput(text)]).then(() => note(machine)),
      );
      order.setDoneOutput(machine, joined);
      return joined;
    });
    await Promise.all(joins.map(awaitOutput));
    return got;
  };

  it("hands the text to replaced machines last, as in their turns, so that no two machines wait for each other", async () => {
    const all = ["m0", "m1", "m2", "m3"];
    const wanted = all.map((name, position) => [name, position % 2 === 0 ? 1 : 0] as const);
    assert.deepEqual(await given(made(...all), wanted), ["m1", "m3", "m0", "m2"]);
  });

  it("hands the text at once to machines that do not exist yet", async () => {
    const never = pulumi.output(new Promise<string>(() => undefined));
    assert.deepEqual(await given(made(), [["m0", 0]], never), ["m0"]);
  });

  it("waits for the prerequisite and fails with it", async () => {
    const failing = pulumi.output(
      Promise.resolve().then(() => Promise.reject<string>(new Error("first failed"))),
    );
    await assert.rejects(given(made("m0"), [["m0", 0]], failing), /first failed/);
  });

  it("waits for no machine of a pool if the text is for a machine outside the pool", async () => {
    const order = made("control-plane-1", "m0");
    void order.addMachine(worker("m0", 0));
    order.setDoneOutput("m0", pulumi.output(new Promise<string>(() => undefined)));
    const text = order.delayUntilTurn("control-plane-1", "text", pulumi.output("id"));
    assert.equal(await awaitOutput(pulumi.output(text)), "text");
  });

  it("returns an empty text at once", () => {
    assert.equal(made("m0").delayUntilTurn("m0", "", pulumi.output("id")), "");
  });
});

describe("Rollout.delayUntilTurn", () => {
  it("delays a value until the previous machine is done", async () => {
    const machines = ["m0", "m1", "m2"];
    const turns = new Rollout(Promise.resolve(new Map(machines.map((name) => [name, "0"]))));
    for (const name of machines) void turns.addMachine(worker(name, 0));
    let finish: (id: string) => void = () => undefined;
    const joined = new Promise<string>((resolve) => {
      finish = resolve;
    });
    turns.setDoneOutput("m0", pulumi.output(joined));
    const text = (name: string): Promise<string> =>
      awaitOutput(pulumi.output(turns.delayUntilTurn(name, "text", pulumi.output(""))));
    assert.equal(await text("m0"), "text");
    const next = text("m1");
    assert.equal(await Promise.race([next, setTimeout(50, "waits")]), "waits");
    finish("id");
    assert.equal(await next, "text");
  });
});
