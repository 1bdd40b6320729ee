import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Project, succeeded } from "../support/project.js";
import { SshServer, keyPair } from "../support/ssh-server.js";
import { until } from "../support/until.js";

/** Script that can run again: it continues after an interruption and takes effect only once. */
const script = `
cd "$1" || exit 1
echo run >> runs
touch started
while [ ! -e go ]; do sleep 0.05; done
[ -e effect ] || echo once > effect
`;

const program = `
const command = require("@pulumi/command");
const fs = require("node:fs");
const { PORT, KEY, HOST_KEY, SHARED } = process.env;
const connection = { host: "127.0.0.1", port: Number(PORT), privateKey: KEY, hostKey: HOST_KEY };
const first = new command.remote.Command("first", { connection, create: "echo first" });
const long = new command.remote.Command("long", {
  connection, create: "bash -s " + SHARED, stdin: fs.readFileSync("script.sh", "utf8"),
}, { dependsOn: [first] });
new command.remote.Command("last", { connection, create: "echo last" }, { dependsOn: [long] });
`;

describe("an engine killed during a remote command", function () {
  this.timeout(240_000);
  let project: Project;
  let server: SshServer;
  let shared: string;
  const key = keyPair();

  before(async () => {
    server = await SshServer.start({ authorizedKeys: [key.public] });
    shared = server.files;
    project = await Project.create({
      program,
      environment: {
        PORT: String(server.port),
        KEY: key.private,
        HOST_KEY: server.hostKey,
        SHARED: shared,
      },
    });
    project.write("script.sh", script);
  });
  after(async () => {
    project.remove();
    await server.stop();
  });

  const file = (name: string): string => join(shared, name);
  it("leaves no plugin process and no open connection", async () => {
    const { child, ended } = project.start(project.upArguments());
    await until("the script runs", () => existsSync(file("started")));
    child.kill("SIGKILL");
    await ended;
    await until("the plugin is gone", () => server.open === 0);
    // The killed engine does not stop the script on the machine: let the script finish.
    writeFileSync(file("go"), "");
    await until("the script has ended", () => existsSync(file("effect")));
  });

  it("leaves a lock that blocks the next up until `pulumi cancel`", async () => {
    const { code, output } = await project.up();
    assert.notEqual(code, 0);
    assert.match(output, /locked by 1 lock/);
    succeeded(await project.run("cancel", "--yes"));
  });

  it("leaves a state from which the next up creates only missing resources", async () => {
    rmSync(file("effect"));
    const output = succeeded(await project.up());
    assert.match(output, /last created/);
    assert.equal(readFileSync(file("runs"), "utf8"), "run\nrun\n");
    assert.equal(readFileSync(file("effect"), "utf8"), "once\n");
    const names = (await project.resources()).map(({ urn }) => urn.split("::").at(-1));
    assert.deepEqual(names.sort(), ["first", "last", "long"]);
    assert.equal(server.commands.filter((command) => command === "echo first").length, 1);
  });

  it("leaves no change for a further up", async () => {
    assert.match(succeeded(await project.up()), /4 unchanged/);
  });
});

describe("an interrupted update", function () {
  this.timeout(240_000);
  it("stops dialing at once and leaves an unlocked state", async () => {
    const project = await Project.create({
      program: `
const command = require("@pulumi/command");
new command.remote.Command("nowhere", {
  connection: { host: "127.0.0.1", port: 1, dialErrorLimit: -1 }, create: "true",
});`,
    });
    try {
      const { child, ended } = project.start(project.upArguments());
      let shown = "";
      child.stdout?.on("data", (data: Buffer) => (shown += data.toString()));
      await until("dialled twice", () => shown.includes("Dial 2/inf failed"));
      child.kill("SIGINT");
      const { code, output } = await ended;
      assert.notEqual(code, 0);
      assert.match(output, /context canceled|cancel/);
      assert.deepEqual(await project.resources(), []);
      succeeded(await project.destroy());
    } finally {
      project.remove();
    }
  });
});
