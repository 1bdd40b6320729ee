import assert from "node:assert/strict";
import { succeeded, type Run } from "../support/project.js";
import { Roll } from "../support/roll.js";

/**
 * Program with etcd machines, a control plane and a worker. The etcd machines have the options of
 * etcd/etcd.ts. The SSH route to the etcd machines leads through the control plane, which is
 * initialized after the etcd machines.
 */
const program = `
const { generation, worker = 0 } = wanted;
const controlPlane = server("c", { replacementTrigger: order.addMachine({ role: "control-plane", name: "c", generation: 0 }) });
const through = (machine: command.local.Command): pulumi.Output<string> =>
  pulumi.all(["127.0.0.1", machine.id, controlPlane.id]).apply(([host]) => host);
const on = (
  name: string, machine: command.local.Command, args: object, options?: pulumi.CustomResourceOptions,
): command.remote.Command =>
  script(name, { connection: { ...connection, host: through(machine) }, ...args }, options);

const names = ["e0", "e1", "e2"];
const servers = names.map((name) => server(name, { replacementTrigger: order.addMachine({ role: "etcd", name, generation }) }));
let last: pulumi.Output<string> = pulumi.output("");
names.forEach((name, position) => {
  const machine = servers[position];
  const survivor = servers[position === 0 ? 1 : 0];
  on(name + "-leave", survivor, { delete: note("leave-" + name), stdin: name }, {
    replaceWith: [machine], deleteBeforeReplace: true, deletedWith: survivor,
  });
  const made = on(name + "-member", machine, {
    ...both(name), stdin: pulumi.all([machine.id, last]).apply(([id]) => id),
  });
  order.setDoneOutput(name, made.id);
  last = made.id;
});
const init = on("c-init", controlPlane, {
  ...both("c"), stdin: pulumi.all([controlPlane.id, last]).apply(([id]) => id),
});
order.setDoneOutput("c", init.id);
const late = server("w", { replacementTrigger: order.addMachine({ role: "worker", name: "w", generation: worker }) });
order.setDoneOutput("w", on("w-join", late, {
  ...both("w"), stdin: pulumi.all([late.id, init.id]).apply(([id]) => id),
}).id);
`;

interface Wanted {
  readonly generation: number;
  /** Generation of the worker. @default 0 */
  readonly worker?: number;
  /** Generation of each server that Nova reports. If absent, no replacement waits. */
  readonly existing?: Readonly<Record<string, string>>;
}

const names = ["e0", "e1", "e2"];
const replaced = (name: string): string[] =>
  ["leave", "gone", "made", "joined"].map((what) => `${what}-${name}`);

describe("the replacement of etcd machines one at a time", function () {
  this.timeout(240_000);
  let roll: Roll<Wanted>;
  const up = (wanted: Wanted, ...more: string[]): Promise<Run> => roll.up(wanted, ...more);
  const happened = (): string[] => roll.happened();

  before(async () => {
    roll = await Roll.create(program);
  });
  after(() => roll.remove());

  const all = (generation: string, worker = "0"): Record<string, string> => ({
    ...Object.fromEntries(names.map((name) => [name, generation])),
    c: "0",
    w: worker,
  });

  it("creates the machines without a leave script run", async () => {
    succeeded(await up({ generation: 0, existing: {} }));
    const events = happened();
    assert.equal(events.length, 10);
    assert.ok(!events.some((event) => event.startsWith("leave")));
  });

  it("replaces each member in order, then the worker, also with --parallel 1", async () => {
    succeeded(await up({ generation: 1, worker: 1, existing: all("0") }));
    const worker = ["gone-w", "made-w", "joined-w"];
    assert.deepEqual(happened(), [...names.flatMap(replaced), ...worker]);
    succeeded(await up({ generation: 2, worker: 1, existing: all("1", "1") }, "--parallel", "1"));
    assert.deepEqual(happened(), names.flatMap(replaced));
  });

  it("keeps the server of a member whose leave script fails", async () => {
    const repair = roll.makeStepFail("leave-e0");
    assert.notEqual((await up({ generation: 3, worker: 1, existing: all("2", "1") })).code, 0);
    assert.deepEqual(happened(), ["leave-e0"]);
    repair();
  });

  it("stops when a member fails to rejoin, and continues there in the next run", async () => {
    const repair = roll.makeStepFail("joined-e0");
    assert.notEqual((await up({ generation: 3, worker: 1, existing: all("2", "1") })).code, 0);
    assert.deepEqual(happened(), replaced("e0"));
    repair();
    const now = { ...all("2", "1"), e0: "3" };
    succeeded(await up({ generation: 3, worker: 1, existing: now }));
    assert.deepEqual(happened(), ["joined-e0", ...["e1", "e2"].flatMap(replaced)]);
  });

  it("runs no leave script at destroy", async () => {
    succeeded(await roll.project.destroy());
    assert.deepEqual(
      happened().filter((event) => event.startsWith("leave")),
      [],
    );
  });
});
