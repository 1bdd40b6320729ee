import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { StateExport } from "../../automation/cluster/state.js";
import { withoutLeaves } from "../../automation/cluster/unfinished.js";
import { Project, succeeded, type Run } from "./support/project.js";
import { SshServer, keyPair } from "./support/ssh-server.js";

const turns = resolve(__dirname, "../../components/machine/turns.ts");

/**
 * Control planes with the options that kubeadm/control-plane.ts and kubeadm/node-group.ts give them, a worker that the first
 * lets go, and what hangs on the first: the provider of the cluster's objects, and one of them. A server is a local command
 * that has another ID whenever it is made; everything that happens appends a line to a file.
 */
const program = `
import * as pulumi from "@pulumi/pulumi";
import * as command from "@pulumi/command";
import * as kubernetes from "@pulumi/kubernetes";
import { Turns } from ${JSON.stringify(turns)};

const { PORT, KEY, HOST_KEY, LOG, FAILS } = process.env;
const { generation, count, existing, worker = 0 } = JSON.parse(process.env.WANTED ?? "{}");
const connection = {
  host: "127.0.0.1", port: Number(PORT), privateKey: KEY, hostKey: HOST_KEY, dialErrorLimit: 1,
};
const note = (what: string): string => "echo " + what + " $(cat) >>" + LOG + "; [ ! -e " + FAILS + "-" + what + " ]";
const server = (name: string, options: pulumi.CustomResourceOptions = {}): command.local.Command =>
  new command.local.Command(name + "-server", {
    create: note("made-" + name), delete: note("gone-" + name), addPreviousOutputInEnv: false,
  }, { deleteBeforeReplace: true, ...options });
const script = (
  name: string, args: command.remote.CommandArgs, options?: pulumi.CustomResourceOptions,
): command.remote.Command =>
  new command.remote.Command(name, { connection, addPreviousOutputInEnv: false, ...args }, options);
const both = (name: string): object => ({ create: note("begun-" + name), update: note("joined-" + name) });
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

const order = new Turns(
  existing && !pulumi.runtime.isDryRun() ? Promise.resolve(new Map(Object.entries(existing))) : undefined,
);
const names = Array.from({ length: count }, (_, position) => "c" + position);
const servers = names.map((name) =>
  server(name, { replacementTrigger: order.nextControlPlane(name, generation) }));
const [first, second = first] = servers;
const member = (position: number, before?: command.remote.Command, after?: pulumi.Resource): command.remote.Command => {
  const name = names[position];
  const made = script(name + "-script", {
    ...both(name), stdin: pulumi.all([servers[position].id, before ? before.id : ""]).apply(([id]) => id),
  }, after && { dependsOn: after });
  order.done(name, made.id);
  return made;
};
const init = member(0);
leave("c0", first, second, init);
let last = init;
for (let position = 1; position < count; position++)
  last = member(position, last, leave(names[position], servers[position], first));

const late = server("w", { replacementTrigger: order.next("w", worker) });
const gone = leave("w", late, first);
order.done("w", script("w-script", { ...both("w"), stdin: late.id }, { dependsOn: gone }).id);

const kubeconfig = order.afterControlPlanes(init.stdout.apply(() => "{}"));
const provider = new kubernetes.Provider("provider", { kubeconfig, clusterIdentifier: "dev" });
new command.local.Command("object", {
  create: note("made-object"), delete: note("gone-object"), addPreviousOutputInEnv: false,
  stdin: kubeconfig,
}, { deletedWith: first, dependsOn: provider });
`;

interface Wanted {
  readonly generation: number;
  readonly count: number;
  /** Generation of the worker. Default: 0. */
  readonly worker?: number;
  /** What Nova would say; nothing: nobody waits. */
  readonly existing?: Readonly<Record<string, string>>;
}

interface Preview {
  readonly steps: readonly { readonly op: string; readonly urn: string }[];
}

const names = ["c0", "c1", "c2"];

describe("control planes that are replaced one at a time", function () {
  this.timeout(240_000);
  let project: Project;
  let ssh: SshServer;
  let log = "";
  const key = keyPair();

  before(async () => {
    ssh = await SshServer.start({ authorizedKeys: [key.public] });
    project = await Project.create({
      program,
      file: "index.ts",
      environment: { PORT: String(ssh.port), KEY: key.private, HOST_KEY: ssh.hostKey },
    });
    log = join(project.directory, "log");
    Object.assign(project.environment, { LOG: log, FAILS: join(project.directory, "fails") });
  });
  after(async () => {
    project.remove();
    await ssh.stop();
  });

  const want = (wanted: Wanted): void => {
    project.environment["WANTED"] = JSON.stringify(wanted);
  };
  const up = (wanted: Wanted, ...more: string[]): Promise<Run> => {
    want(wanted);
    return project.up(...more);
  };
  /** What happened since the last look, without the IDs. */
  const happened = (): string[] => {
    const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
    rmSync(log, { force: true });
    return lines.map((line) => line.split(" ")[0] ?? "");
  };
  /** Its script runs as on a machine that lives: it joins the others, also the one that the cluster began on. */
  const replaced = (name: string): string[] =>
    ["leave", "gone", "made", "joined"].map((what) => `${what}-${name}`);
  const failing = (what: string): string => `${String(project.environment["FAILS"])}-${what}`;
  const three = { c0: "0", c1: "0", c2: "0", w: "0" };

  it("are none of it while there is one, which nobody could let go", async () => {
    succeeded(await up({ generation: 0, count: 1 }));
    assert.deepEqual(happened().sort(), [
      "begun-c0",
      "begun-w",
      "made-c0",
      "made-object",
      "made-w",
    ]);
  });

  it("give the first one who lets it go when there are more, in place: nothing runs", async () => {
    succeeded(await up({ generation: 0, count: 3, existing: { c0: "0", w: "0" } }));
    const events = happened();
    assert.deepEqual(
      events.filter((event) => /c0|w|object/.test(event)),
      [],
    );
    assert.equal(events.length, 4);
  });

  it("are let go, replaced and joined in their order, then the workers, and nothing else is touched", async () => {
    want({ generation: 1, count: 3, worker: 1, existing: three });
    const shown = succeeded(await project.run("preview", "--json"));
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

  it("stay when the one before them does not come back, and the next run goes on there, with one step at a time, too", async () => {
    const existing = { c0: "1", c1: "1", c2: "1", w: "1" };
    const fails = failing("joined-c0");
    writeFileSync(fails, "");
    assert.notEqual((await up({ generation: 2, count: 3, worker: 1, existing })).code, 0);
    assert.deepEqual(happened(), replaced("c0"));
    rmSync(fails);
    const now = { ...existing, c0: "2" };
    succeeded(await up({ generation: 2, count: 3, worker: 1, existing: now }, "--parallel", "1"));
    assert.deepEqual(happened(), ["joined-c0", ...["c1", "c2"].flatMap(replaced)]);
  });

  it("stay when they cannot be let go", async () => {
    const existing = { c0: "2", c1: "2", c2: "2", w: "1" };
    const fails = failing("leave-c0");
    writeFileSync(fails, "");
    assert.notEqual((await up({ generation: 3, count: 3, worker: 1, existing })).code, 0);
    assert.deepEqual(happened(), ["leave-c0"]);
    rmSync(fails);
  });

  it("are not let go twice when a server was not made: the way may lead over it", async () => {
    const existing = { c0: "2", c1: "2", c2: "2", w: "1" };
    const fails = failing("made-c0");
    writeFileSync(fails, "");
    assert.notEqual((await up({ generation: 3, count: 3, worker: 1, existing })).code, 0);
    assert.deepEqual(happened(), ["leave-c0", "gone-c0", "made-c0"]);
    rmSync(fails);
    const { state, left } = withoutLeaves(JSON.parse(await project.export()) as StateExport);
    assert.deepEqual(
      left.map((urn) => urn.split("::").at(-1)),
      ["c0-leave"],
    );
    project.write("state.json", JSON.stringify(state));
    succeeded(await project.run("stack", "import", "--file", "state.json"));
    const now = { c1: "2", c2: "2", w: "1" };
    succeeded(await up({ generation: 3, count: 3, worker: 1, existing: now }));
    assert.deepEqual(happened(), ["made-c0", "joined-c0", ...["c1", "c2"].flatMap(replaced)]);
  });

  it("leave without the first when they become one, which is let go by nobody again; nobody is when all go", async () => {
    succeeded(await up({ generation: 3, count: 1, worker: 1 }));
    const events = happened();
    assert.deepEqual([...events].sort(), ["gone-c1", "gone-c2", "leave-c1", "leave-c2"]);
    succeeded(await project.destroy());
    assert.deepEqual(
      happened().filter((event) => event.startsWith("leave")),
      [],
    );
  });
});
