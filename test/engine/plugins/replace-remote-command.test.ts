import assert from "node:assert/strict";
import { Project, succeeded } from "../support/project.js";
import { SshServer, keyPair } from "../support/ssh-server.js";

interface Arguments {
  readonly create?: string;
  readonly update?: string;
  readonly delete?: string;
  readonly stdin?: string;
  readonly triggers?: readonly unknown[];
  readonly hostKey?: string;
}

function program(args: Arguments, options = "{}"): string {
  const { hostKey, ...rest } = args;
  return `
const command = require("@pulumi/command");
const { PORT, KEY, HOST_KEY } = process.env;
const connection = {
  host: "127.0.0.1", port: Number(PORT), privateKey: KEY, dialErrorLimit: 1,
  hostKey: ${hostKey === undefined ? "HOST_KEY" : JSON.stringify(hostKey)},
};
new command.remote.Command("step", { connection, ...${JSON.stringify(rest)} }, ${options});
`;
}

describe("a change of a remote command", function () {
  this.timeout(240_000);
  let project: Project;
  let server: SshServer;
  const key = keyPair();
  const base = { create: "echo create", update: "echo update", delete: "echo delete" };

  before(async () => {
    server = await SshServer.start({ authorizedKeys: [key.public] });
    project = await Project.create({
      program: program({ ...base, triggers: ["a"] }),
      environment: { PORT: String(server.port), KEY: key.private, HOST_KEY: server.hostKey },
    });
    succeeded(await project.up());
  });
  after(async () => {
    project.remove();
    await server.stop();
  });

  async function change(args: Arguments, options?: string): Promise<string[]> {
    const before = server.commands.length;
    project.write("index.js", program(args, options));
    succeeded(await project.up());
    return server.commands.slice(before);
  }

  it("runs update when standard input changes", async () => {
    assert.deepEqual(await change({ ...base, triggers: ["a"], stdin: "x" }), ["echo update"]);
  });

  it("runs create and then delete when a trigger changes, despite an update command", async () => {
    const ran = await change({ ...base, triggers: ["b"], stdin: "x" });
    assert.deepEqual(ran, ["echo create", "echo delete"]);
  });

  it("runs delete before create with deleteBeforeReplace", async () => {
    const ran = await change({ ...base, triggers: ["c"] }, "{ deleteBeforeReplace: true }");
    assert.deepEqual(ran, ["echo delete", "echo create"]);
  });

  it("runs create without an update command, and nothing if only delete remains", async () => {
    const { create, delete: bye } = base;
    assert.deepEqual(await change({ create, delete: bye, triggers: ["c"] }), ["echo create"]);
    assert.deepEqual(await change({ delete: "echo delete", triggers: ["c"] }), []);
  });
});

describe("a failed remote command", function () {
  this.timeout(240_000);
  let project: Project;
  let server: SshServer;
  const key = keyPair();

  before(async () => {
    server = await SshServer.start({ authorizedKeys: [key.public] });
    project = await Project.create({
      program: "",
      environment: { PORT: String(server.port), KEY: key.private, HOST_KEY: server.hostKey },
    });
  });
  after(async () => {
    project.remove();
    await server.stop();
  });

  it("is not in the state after a failed create, and is created by the next update", async () => {
    project.write("index.js", program({ create: "echo why; exit 9" }));
    const failed = await project.up();
    assert.notEqual(failed.code, 0);
    assert.match(
      failed.output,
      /Process exited with status 9: running "echo why; exit 9":\n\s*why/,
    );
    assert.deepEqual(await project.resources(), []);
    project.write("index.js", program({ create: "echo well" }));
    succeeded(await project.up());
    assert.deepEqual(server.commands, ["echo why; exit 9", "echo well"]);
  });

  it("keeps its old inputs after a failed update, and is updated by the next one", async () => {
    project.write("index.js", program({ create: "exit 1" }));
    assert.notEqual((await project.up()).code, 0);
    assert.equal((await project.resources())[0]?.inputs?.["create"], "echo well");
    project.write("index.js", program({ create: "echo again" }));
    succeeded(await project.up());
    assert.equal(server.commands.at(-1), "echo again");
  });

  it("reports another host key and runs nothing on the machine", async () => {
    const commands = server.commands.length;
    project.write("index.js", program({ create: "echo stranger", hostKey: keyPair().public }));
    const refused = await project.up();
    assert.notEqual(refused.code, 0);
    assert.match(refused.output, /ssh: handshake failed: ssh: host key mismatch/);
    assert.equal(server.commands.length, commands);
    assert.equal((await project.resources())[0]?.inputs?.["create"], "echo again");
  });

  it("does not stop commands that run at the same time", async () => {
    project.write(
      "index.js",
      program({ create: "echo again" }) +
        `for (const [name, create] of [
           ["bad", "for i in $(seq 1000); do [ -e started ] && exit 1; sleep 0.05; done"],
           ["good", "touch started; sleep 1"],
         ])
           new command.local.Command(name, { create });`,
    );
    assert.notEqual((await project.up()).code, 0);
    const names = (await project.resources()).map(({ urn }) => urn.split("::").at(-1));
    assert.deepEqual(names.sort(), ["good", "step"]);
  });
});
