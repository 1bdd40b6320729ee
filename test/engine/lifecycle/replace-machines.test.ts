import assert from "node:assert/strict";
import { succeeded, type Run } from "../support/project.js";
import { Roll } from "../support/roll.js";

/** Program with machines that have the options and the replacement order of worker pools. */
const program = `
const { generation, count } = wanted;
const controlPlane = server("cp");
for (let position = 0; position < count; position++) {
  const name = "m" + position;
  const machine = server(name, {
    replacementTrigger: order.addMachine({ role: "worker", name, generation }), dependsOn: controlPlane,
  });
  const prepare = script(name + "-prepare", {
    create: note("prepare-" + name), stdin: machine.id,
  });
  const join = script(name + "-join", {
    create: note("join-" + name),
    stdin: pulumi.all([machine.id, prepare.stdout]).apply(([id]) => id),
  });
  order.setDoneOutput(name, join.id);
  const leave = script(name + "-leave", { delete: note("leave-" + name), stdin: machine.id }, {
    dependsOn: join, replaceWith: [machine], deleteBeforeReplace: true, deletedWith: controlPlane,
  });
  if (!wanted.members) continue;
  // Members of the load balancer of an ingress controller, one for each port.
  let last: pulumi.Resource = controlPlane;
  const members = ["http", "https"].map((port) => last = script(name + "-" + port, {
    create: note("added-" + port + "-" + name), delete: note("removed-" + port + "-" + name),
  }, { dependsOn: [last, join, leave], replaceWith: [machine], deleteBeforeReplace: true }));
  order.setDoneOutput(name, pulumi.all([join.id, ...members.map(({ id }) => id)]).apply(([id]) => id));
}
`;

interface Wanted {
  readonly generation: number;
  readonly count: number;
  /** Generation of each server that Nova reports. If absent, no replacement waits. */
  readonly existing?: Readonly<Record<string, string>>;
  /** Whether each machine is a member of the load balancer of an ingress controller. */
  readonly members?: boolean;
}

describe("the replacement of workers one at a time", function () {
  this.timeout(240_000);
  let roll: Roll<Wanted>;
  const up = (wanted: Wanted, ...more: string[]): Promise<Run> => roll.up(wanted, ...more);
  const happened = (): string[] => roll.happened();

  before(async () => {
    roll = await Roll.create(program);
  });
  after(() => roll.remove());

  const replaced = (name: string): string[] =>
    ["leave", "gone", "made", "prepare", "join"].map((what) => `${what}-${name}`);

  it("creates the machines without a leave script run", async () => {
    succeeded(await up({ generation: 0, count: 2 }));
    const events = happened();
    assert.equal(events.length, 7);
    assert.ok(!events.some((event) => event.startsWith("leave")));
  });

  it("shows each replaced server and leave script in the preview and runs nothing", async () => {
    roll.want({ generation: 1, count: 2, existing: { m0: "0", m1: "0" } });
    const shown = succeeded(await roll.project.preview());
    for (const name of ["m0-server", "m1-server", "m0-leave", "m1-leave"])
      assert.match(shown, new RegExp(`replace[^]*${name}`));
    assert.deepEqual(happened(), []);
  });

  it("drains, replaces and joins one machine after the other, also with --parallel 1", async () => {
    succeeded(await up({ generation: 1, count: 2, existing: { m0: "0", m1: "0" } }));
    assert.deepEqual(happened(), [...replaced("m0"), ...replaced("m1")]);
    succeeded(
      await up({ generation: 2, count: 2, existing: { m0: "1", m1: "1" } }, "--parallel", "1"),
    );
    assert.deepEqual(happened(), [...replaced("m0"), ...replaced("m1")]);
  });

  it("changes nothing if the generation is unchanged", async () => {
    succeeded(await up({ generation: 2, count: 2, existing: { m0: "2", m1: "2" } }));
    assert.deepEqual(happened(), []);
  });

  it("stops when a machine fails to join, and continues there in the next run", async () => {
    const repair = roll.makeStepFail("join-m0");
    const existing = { m0: "2", m1: "2" };
    const failed = await up({ generation: 3, count: 2, existing });
    assert.notEqual(failed.code, 0);
    assert.deepEqual(happened(), replaced("m0"));
    repair();
    succeeded(await up({ generation: 3, count: 2, existing: { ...existing, m0: "3" } }));
    assert.deepEqual(happened(), ["join-m0", ...replaced("m1")]);
  });

  it("keeps the server of a machine that cannot be drained", async () => {
    const repair = roll.makeStepFail("leave-m0");
    const existing = { m0: "3", m1: "3" };
    assert.notEqual((await up({ generation: 4, count: 2, existing })).code, 0);
    assert.deepEqual(happened(), ["leave-m0"]);
    repair();
    succeeded(await up({ generation: 4, count: 2, existing }));
    assert.deepEqual(happened(), [...replaced("m0"), ...replaced("m1")]);
  });

  it("drains a machine that is removed from the pool, and none at destroy", async () => {
    succeeded(await up({ generation: 4, count: 1 }));
    assert.deepEqual(happened(), ["leave-m1", "gone-m1"]);
    succeeded(await roll.project.destroy());
    assert.deepEqual(happened(), ["gone-m0", "gone-cp"]);
  });
});

describe("the replacement of workers behind a load balancer of an ingress controller", function () {
  this.timeout(240_000);
  let roll: Roll<Wanted>;

  before(async () => {
    roll = await Roll.create(program);
  });
  after(() => roll.remove());

  const members = (what: string, name: string): string[] =>
    ["http", "https"].map((port) => `${what}-${port}-${name}`);

  it("removes the members before the server, and adds them before the next machine is replaced", async () => {
    const wanted = { count: 2, members: true };
    succeeded(await roll.up({ ...wanted, generation: 0 }));
    roll.happened();
    succeeded(await roll.up({ ...wanted, generation: 1, existing: { m0: "0", m1: "0" } }));
    const happened = roll.happened();
    const each = happened.length / 2;
    for (const [index, name] of ["m0", "m1"].entries()) {
      const own = happened.slice(index * each, (index + 1) * each);
      // The engine deletes resources that are replaced with a server in any order.
      assert.deepEqual(own.slice(0, 3).sort(), [`leave-${name}`, ...members("removed", name)]);
      assert.deepEqual(own.slice(3), [
        ...["gone", "made", "prepare", "join"].map((what) => `${what}-${name}`),
        ...members("added", name),
      ]);
    }
  });
});
