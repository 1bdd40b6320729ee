import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Project, succeeded, type Run } from "./support/project.js";
import { SshServer, keyPair } from "./support/ssh-server.js";

const turns = resolve(__dirname, "../../components/machine/turns.ts");

/**
 * Machines of etcd with the options that etcd/etcd.ts gives them, a control plane that they are reached through and that begins
 * when all of them are members, and a worker. A server is a local command that has another ID whenever it is made; everything
 * that happens appends a line to a file.
 */
const program = `
import * as pulumi from "@pulumi/pulumi";
import * as command from "@pulumi/command";
import { Turns } from ${JSON.stringify(turns)};

const { PORT, KEY, HOST_KEY, LOG, FAILS } = process.env;
const { generation, existing, worker = 0 } = JSON.parse(process.env.WANTED ?? "{}");
const note = (what: string): string => "echo " + what + " $(cat) >>" + LOG + "; [ ! -e " + FAILS + "-" + what + " ]";
const server = (name: string, options: pulumi.CustomResourceOptions = {}): command.local.Command =>
  new command.local.Command(name + "-server", {
    create: note("made-" + name), delete: note("gone-" + name), addPreviousOutputInEnv: false,
  }, { deleteBeforeReplace: true, ...options });

const order = new Turns(
  existing && !pulumi.runtime.isDryRun() ? Promise.resolve(new Map(Object.entries(existing))) : undefined,
);
const controlPlane = server("c", { replacementTrigger: order.nextControlPlane("c", 0) });
const through = (machine: command.local.Command): pulumi.Output<string> =>
  pulumi.all(["127.0.0.1", machine.id, controlPlane.id]).apply(([host]) => host);
const script = (
  name: string, machine: command.local.Command, args: object, options?: pulumi.CustomResourceOptions,
): command.remote.Command =>
  new command.remote.Command(name, {
    connection: {
      host: through(machine), port: Number(PORT), privateKey: KEY, hostKey: HOST_KEY, dialErrorLimit: 1,
    },
    addPreviousOutputInEnv: false, ...args,
  }, options);
const both = (name: string): object => ({ create: note("begun-" + name), update: note("joined-" + name) });

const names = ["e0", "e1", "e2"];
const servers = names.map((name) => server(name, { replacementTrigger: order.nextMember(name, generation) }));
let last: pulumi.Output<string> = pulumi.output("");
names.forEach((name, position) => {
  const machine = servers[position];
  const survivor = servers[position === 0 ? 1 : 0];
  script(name + "-leave", survivor, { delete: note("leave-" + name), stdin: name }, {
    replaceWith: [machine], deleteBeforeReplace: true, deletedWith: survivor,
  });
  const made = script(name + "-member", machine, {
    ...both(name), stdin: pulumi.all([machine.id, last]).apply(([id]) => id),
  });
  order.done(name, made.id);
  last = made.id;
});
const init = script("c-init", controlPlane, {
  ...both("c"), stdin: pulumi.all([controlPlane.id, last]).apply(([id]) => id),
});
order.done("c", init.id);
const late = server("w", { replacementTrigger: order.next("w", worker) });
order.done("w", script("w-join", late, {
  ...both("w"), stdin: pulumi.all([late.id, init.id]).apply(([id]) => id),
}).id);
`;

interface Wanted {
  readonly generation: number;
  /** Generation of the worker. Default: 0. */
  readonly worker?: number;
  /** What Nova would say; nothing: nobody waits. */
  readonly existing?: Readonly<Record<string, string>>;
}

const names = ["e0", "e1", "e2"];
const replaced = (name: string): string[] =>
  ["leave", "gone", "made", "joined"].map((what) => `${what}-${name}`);

describe("machines of etcd that are replaced one at a time", function () {
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

  const up = (wanted: Wanted, ...more: string[]): Promise<Run> => {
    project.environment["WANTED"] = JSON.stringify(wanted);
    return project.up(...more);
  };
  /** What happened since the last look, without the IDs. */
  const happened = (): string[] => {
    const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
    rmSync(log, { force: true });
    return lines.map((line) => line.split(" ")[0] ?? "");
  };
  const all = (generation: string, worker = "0"): Record<string, string> => ({
    ...Object.fromEntries(names.map((name) => [name, generation])),
    ...{ c: "0", w: worker },
  });

  it("are asked about by nobody when they are made", async () => {
    succeeded(await up({ generation: 0, existing: {} }));
    const events = happened();
    assert.equal(events.length, 10);
    assert.ok(!events.some((event) => event.startsWith("leave")));
  });

  it("are let go, replaced and members again in their order, then a worker is; the control plane stays, with one step at a time, too", async () => {
    succeeded(await up({ generation: 1, worker: 1, existing: all("0") }));
    const worker = ["gone-w", "made-w", "joined-w"];
    assert.deepEqual(happened(), [...names.flatMap(replaced), ...worker]);
    succeeded(await up({ generation: 2, worker: 1, existing: all("1", "1") }, "--parallel", "1"));
    assert.deepEqual(happened(), names.flatMap(replaced));
  });

  it("keep their servers where etcd would not go on without them", async () => {
    const fails = `${String(project.environment["FAILS"])}-leave-e0`;
    writeFileSync(fails, "");
    assert.notEqual((await up({ generation: 3, worker: 1, existing: all("2", "1") })).code, 0);
    assert.deepEqual(happened(), ["leave-e0"]);
    rmSync(fails);
  });

  it("stay when the one before them does not become a member, and the next run goes on there", async () => {
    const fails = `${String(project.environment["FAILS"])}-joined-e0`;
    writeFileSync(fails, "");
    assert.notEqual((await up({ generation: 3, worker: 1, existing: all("2", "1") })).code, 0);
    assert.deepEqual(happened(), replaced("e0"));
    rmSync(fails);
    const now = { ...all("2", "1"), e0: "3" };
    succeeded(await up({ generation: 3, worker: 1, existing: now }));
    assert.deepEqual(happened(), ["joined-e0", ...["e1", "e2"].flatMap(replaced)]);
  });

  it("are let go by nobody when all go", async () => {
    succeeded(await project.destroy());
    assert.deepEqual(
      happened().filter((event) => event.startsWith("leave")),
      [],
    );
  });
});
