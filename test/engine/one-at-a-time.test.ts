import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Project, succeeded, type Run } from "./support/project.js";
import { SshServer, keyPair } from "./support/ssh-server.js";

const turns = resolve(__dirname, "../../components/machine/turns.ts");

/**
 * Machines with the options that the pools of workers give them, and the pools' own turns. A server is a local command that
 * has another ID whenever it is made; everything that happens appends a line to a file.
 */
const program = `
import * as pulumi from "@pulumi/pulumi";
import * as command from "@pulumi/command";
import { Turns } from ${JSON.stringify(turns)};

const { PORT, KEY, HOST_KEY, LOG, FAILS } = process.env;
const { generation, count, existing } = JSON.parse(process.env.WANTED ?? "{}");
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
  new command.remote.Command(name, { addPreviousOutputInEnv: false, ...args }, options);

const controlPlane = server("cp");
const order = new Turns(
  existing && !pulumi.runtime.isDryRun() ? Promise.resolve(new Map(Object.entries(existing))) : undefined,
);
for (let position = 0; position < count; position++) {
  const name = "m" + position;
  const machine = server(name, {
    replacementTrigger: order.next(name, generation), dependsOn: controlPlane,
  });
  const prepare = script(name + "-prepare", {
    connection, create: note("prepare-" + name), stdin: machine.id,
  });
  const join = script(name + "-join", {
    connection, create: note("join-" + name),
    stdin: pulumi.all([machine.id, prepare.stdout]).apply(([id]) => id),
  });
  order.done(name, join.id);
  script(name + "-leave", { connection, delete: note("leave-" + name), stdin: machine.id }, {
    dependsOn: join, replaceWith: [machine], deleteBeforeReplace: true, deletedWith: controlPlane,
  });
}
`;

interface Wanted {
  readonly generation: number;
  readonly count: number;
  /** What Nova would say; nothing: nobody waits. */
  readonly existing?: Readonly<Record<string, string>>;
}

describe("machines that are replaced one at a time", function () {
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
  const replaced = (name: string): string[] =>
    ["leave", "gone", "made", "prepare", "join"].map((what) => `${what}-${name}`);

  it("are made without waiting for each other", async () => {
    succeeded(await up({ generation: 0, count: 2 }));
    const events = happened();
    assert.equal(events.length, 7);
    assert.ok(!events.some((event) => event.startsWith("leave")));
  });

  it("show every step of the roll in a preview, in which nothing happens", async () => {
    want({ generation: 1, count: 2, existing: { m0: "0", m1: "0" } });
    const shown = succeeded(await project.preview());
    for (const name of ["m0-server", "m1-server", "m0-leave", "m1-leave"])
      assert.match(shown, new RegExp(`replace[^]*${name}`));
    assert.deepEqual(happened(), []);
  });

  it("are drained, replaced, prepared and joined one after the other, with one step at a time, too", async () => {
    succeeded(await up({ generation: 1, count: 2, existing: { m0: "0", m1: "0" } }));
    assert.deepEqual(happened(), [...replaced("m0"), ...replaced("m1")]);
    succeeded(
      await up({ generation: 2, count: 2, existing: { m0: "1", m1: "1" } }, "--parallel", "1"),
    );
    assert.deepEqual(happened(), [...replaced("m0"), ...replaced("m1")]);
  });

  it("are left alone when nothing changes", async () => {
    succeeded(await up({ generation: 2, count: 2, existing: { m0: "2", m1: "2" } }));
    assert.deepEqual(happened(), []);
  });

  it("stay when the one before them fails, and the next run goes on there", async () => {
    const fails = `${String(project.environment["FAILS"])}-join-m0`;
    writeFileSync(fails, "");
    const existing = { m0: "2", m1: "2" };
    const failed = await up({ generation: 3, count: 2, existing });
    assert.notEqual(failed.code, 0);
    assert.deepEqual(happened(), replaced("m0"));
    rmSync(fails);
    succeeded(await up({ generation: 3, count: 2, existing: { ...existing, m0: "3" } }));
    assert.deepEqual(happened(), ["join-m0", ...replaced("m1")]);
  });

  it("stay when they cannot be drained", async () => {
    const fails = `${String(project.environment["FAILS"])}-leave-m0`;
    writeFileSync(fails, "");
    const existing = { m0: "3", m1: "3" };
    assert.notEqual((await up({ generation: 4, count: 2, existing })).code, 0);
    assert.deepEqual(happened(), ["leave-m0"]);
    rmSync(fails);
    succeeded(await up({ generation: 4, count: 2, existing }));
    assert.deepEqual(happened(), [...replaced("m0"), ...replaced("m1")]);
  });

  it("are drained when the pool gets smaller, and not when the whole cluster goes", async () => {
    succeeded(await up({ generation: 4, count: 1 }));
    assert.deepEqual(happened(), ["leave-m1", "gone-m1"]);
    succeeded(await project.destroy());
    assert.deepEqual(happened(), ["gone-m0", "gone-cp"]);
  });
});
