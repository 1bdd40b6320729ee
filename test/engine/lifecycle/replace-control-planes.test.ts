import assert from "node:assert/strict";
import type { StateExport } from "../../../automation/pulumi/stack-state.js";
import { skipFinishedLeaveScripts } from "../../../automation/engine/interrupted-scripts.js";
import { succeeded, type Run } from "../support/project.js";
import { Roll } from "../support/roll.js";

/**
 * Program with control planes, a worker and dependents. The control planes have the options of
 * kubeadm/control-planes.ts and kubeadm/abstract-node-group.ts. The first control plane drains and
 * removes the worker. The Kubernetes provider and an object depend on the first control plane.
 */
const program = `
import * as kubernetes from "@pulumi/kubernetes";

const { generation, count, worker = 0 } = wanted;
const leave = (
  name: string, machine: command.local.Command, survivor: command.local.Command, after?: pulumi.Resource,
): command.remote.Command =>
  script(name + "-leave", {
    delete: note("leave-" + name),
    stdin: pulumi.all([machine.id, survivor.id]).apply((ids) => ids.join(" ")),
  }, {
    ...(after && { dependsOn: after }),
    replaceWith: machine === survivor ? [] : [machine],
    deleteBeforeReplace: true,
    deletedWith: survivor,
  });
const names = Array.from({ length: count }, (_, position) => "c" + position);
const servers = names.map((name) =>
  server(name, { replacementTrigger: order.addMachine({ role: "control-plane", name, generation }) }));
const [first, second = first] = servers;
const member = (position: number, before?: command.remote.Command, after?: pulumi.Resource): command.remote.Command => {
  const name = names[position];
  const made = script(name + "-script", {
    ...both(name), stdin: pulumi.all([servers[position].id, before ? before.id : ""]).apply(([id]) => id),
  }, after && { dependsOn: after });
  order.setDoneOutput(name, made.id);
  return made;
};
const init = member(0);
leave("c0", first, second, init);
let last = init;
for (let position = 1; position < count; position++)
  last = member(position, last, leave(names[position], servers[position], first));

const late = server("w", { replacementTrigger: order.addMachine({ role: "worker", name: "w", generation: worker }) });
const gone = leave("w", late, first);
order.setDoneOutput("w", script("w-script", { ...both("w"), stdin: late.id }, { dependsOn: gone }).id);

const kubeconfig = order.delayUntilAllDone("control-plane", init.stdout.apply(() => "{}"));
const provider = new kubernetes.Provider("provider", { kubeconfig, clusterIdentifier: "dev" });
new command.local.Command("object", {
  create: note("made-object"), delete: note("gone-object"), addPreviousOutputInEnv: false,
  stdin: kubeconfig,
}, { deletedWith: first, dependsOn: provider });
`;

interface Wanted {
  readonly generation: number;
  readonly count: number;
  /** Generation of the worker. @default 0 */
  readonly worker?: number;
  /** Generation of each server that Nova reports. If absent, no replacement waits. */
  readonly existing?: Readonly<Record<string, string>>;
}

interface Preview {
  readonly steps: readonly { readonly op: string; readonly urn: string }[];
}

const names = ["c0", "c1", "c2"];

describe("the replacement of control planes one at a time", function () {
  this.timeout(240_000);
  let roll: Roll<Wanted>;
  const up = (wanted: Wanted, ...more: string[]): Promise<Run> => roll.up(wanted, ...more);
  const happened = (): string[] => roll.happened();

  before(async () => {
    roll = await Roll.create(program);
  });
  after(() => roll.remove());

  /**
   * Returns the steps of a replacement. The script runs as an update (`joined`), because the new
   * machine joins the existing control planes. This applies also to the first control plane.
   */
  const replaced = (name: string): string[] =>
    ["leave", "gone", "made", "joined"].map((what) => `${what}-${name}`);
  const three = { c0: "0", c1: "0", c2: "0", w: "0" };

  it("creates a single control plane without a leave script run", async () => {
    succeeded(await up({ generation: 0, count: 1 }));
    assert.deepEqual(happened().sort(), [
      "begun-c0",
      "begun-w",
      "made-c0",
      "made-object",
      "made-w",
    ]);
  });

  it("adds control planes without running scripts on existing machines", async () => {
    succeeded(await up({ generation: 0, count: 3, existing: { c0: "0", w: "0" } }));
    const events = happened();
    assert.deepEqual(
      events.filter((event) => /c0|w|object/.test(event)),
      [],
    );
    assert.equal(events.length, 4);
  });

  it("removes, replaces and joins each control plane in order, then the worker", async () => {
    roll.want({ generation: 1, count: 3, worker: 1, existing: three });
    const shown = succeeded(await roll.project.run("preview", "--json"));
    const { steps } = JSON.parse(shown.slice(shown.indexOf("{"))) as Preview;
    const lost = steps.filter(({ op }) => !["same", "update"].includes(op));
    assert.deepEqual(
      [...new Set(lost.map(({ urn }) => urn.split("::").at(-1)))].sort(),
      [...names, "w"].flatMap((name) => [`${name}-leave`, `${name}-server`]),
    );
    assert.deepEqual(happened(), []);
    succeeded(await up({ generation: 1, count: 3, worker: 1, existing: three }));
    assert.deepEqual(happened(), [...names, "w"].flatMap(replaced));
  });

  it("stops when a control plane fails to join; the next run continues there", async () => {
    const existing = { c0: "1", c1: "1", c2: "1", w: "1" };
    const repair = roll.makeStepFail("joined-c0");
    assert.notEqual((await up({ generation: 2, count: 3, worker: 1, existing })).code, 0);
    assert.deepEqual(happened(), replaced("c0"));
    repair();
    const now = { ...existing, c0: "2" };
    succeeded(await up({ generation: 2, count: 3, worker: 1, existing: now }, "--parallel", "1"));
    assert.deepEqual(happened(), ["joined-c0", ...["c1", "c2"].flatMap(replaced)]);
  });

  it("keeps the server of a control plane whose leave script fails", async () => {
    const existing = { c0: "2", c1: "2", c2: "2", w: "1" };
    const repair = roll.makeStepFail("leave-c0");
    assert.notEqual((await up({ generation: 3, count: 3, worker: 1, existing })).code, 0);
    assert.deepEqual(happened(), ["leave-c0"]);
    repair();
  });

  it("skips a finished leave script after the server's create failed", async () => {
    const existing = { c0: "2", c1: "2", c2: "2", w: "1" };
    const repair = roll.makeStepFail("made-c0");
    assert.notEqual((await up({ generation: 3, count: 3, worker: 1, existing })).code, 0);
    assert.deepEqual(happened(), ["leave-c0", "gone-c0", "made-c0"]);
    repair();
    const { state, left } = skipFinishedLeaveScripts(
      JSON.parse(await roll.project.export()) as StateExport,
    );
    assert.deepEqual(
      left.map((urn) => urn.split("::").at(-1)),
      ["c0-leave"],
    );
    roll.project.write("state.json", JSON.stringify(state));
    succeeded(await roll.project.run("stack", "import", "--file", "state.json"));
    const now = { c1: "2", c2: "2", w: "1" };
    succeeded(await up({ generation: 3, count: 3, worker: 1, existing: now }));
    assert.deepEqual(happened(), ["made-c0", "joined-c0", ...["c1", "c2"].flatMap(replaced)]);
  });

  it("runs leave scripts only for removed control planes, and none at destroy", async () => {
    succeeded(await up({ generation: 3, count: 1, worker: 1 }));
    const events = happened();
    assert.deepEqual([...events].sort(), ["gone-c1", "gone-c2", "leave-c1", "leave-c2"]);
    succeeded(await roll.project.destroy());
    assert.deepEqual(
      happened().filter((event) => event.startsWith("leave")),
      [],
    );
  });
});
