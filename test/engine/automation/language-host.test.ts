import assert from "node:assert/strict";
import { Project, succeeded } from "../support/project.js";
import { SshServer, keyPair } from "../support/ssh-server.js";

/**
 * Program with two values that are unknown at its start. The first command outputs the address of
 * the machine. The second command outputs the kubeconfig.
 */
const program = `
import * as pulumi from "@pulumi/pulumi";
import * as command from "@pulumi/command";
import * as kubernetes from "@pulumi/kubernetes";
const { PORT, KEY, HOST_KEY } = process.env;
const config = new pulumi.Config();
console.log("the program says " + config.get("word"));
const address = new command.local.Command("address", { create: "printf 127.0.0.1" });
const connection = { host: address.stdout, port: Number(PORT), privateKey: KEY!, hostKey: HOST_KEY! };
const remote = new command.remote.Command("remote", {
  connection,
  create: "bash -s",
  stdin: pulumi.interpolate\`echo "got \${address.stdout}"\`,
  delete: "echo bye",
});
if (config.getBoolean("cluster")) {
  const provider = new kubernetes.Provider("cluster", { kubeconfig: remote.stdout, clusterIdentifier: "it" });
  new kubernetes.core.v1.ConfigMap("map", { metadata: { name: "map" }, data: { a: "b" } }, { provider });
}
export const said = remote.stdout;
`;

describe("Pulumi's command line with the Node language host", function () {
  this.timeout(240_000);
  let project: Project;
  let server: SshServer;

  before(async () => {
    const key = keyPair();
    server = await SshServer.start({ authorizedKeys: [key.public] });
    project = await Project.create({
      file: "index.ts",
      program,
      environment: { PORT: String(server.port), KEY: key.private, HOST_KEY: server.hostKey },
    });
    succeeded(await project.run("config", "set", "word", "ready"));
  });
  after(async () => {
    project.remove();
    await server.stop();
  });

  it("previews unknown connections and kubeconfigs without a connection", async () => {
    succeeded(await project.run("config", "set", "cluster", "true"));
    const output = succeeded(await project.preview());
    for (const row of ["address", "remote", "cluster", "map"])
      assert.match(output, new RegExp(row));
    assert.match(output, /\+ 5 to create/);
    assert.match(output, /the program says ready/);
    assert.deepEqual([server.connections, await project.resources()], [0, []]);
    succeeded(await project.run("config", "rm", "cluster"));
  });

  it("updates the stack and prints the output of running commands", async () => {
    const output = succeeded(await project.up());
    assert.match(output, /remote creating .*got 127\.0\.0\.1/);
    assert.match(output, /said: "got 127\.0\.0\.1"/);
    assert.match(output, /stand-in/);
    assert.deepEqual(server.commands, ["bash -s"]);
  });

  it("changes nothing in a second up and opens no connection", async () => {
    const connections = server.connections;
    const output = succeeded(await project.up());
    assert.match(output, /3 unchanged/);
    assert.equal(server.connections, connections);
  });

  it("refreshes without a connection and without a change", async () => {
    const connections = server.connections;
    const output = succeeded(await project.run("refresh", "--yes", "--skip-preview"));
    assert.match(output, /3 unchanged/);
    assert.equal(server.connections, connections);
  });

  it("runs the delete command at destroy and leaves an empty state", async () => {
    succeeded(await project.destroy());
    assert.equal(server.commands.at(-1), "echo bye");
    assert.deepEqual(await project.resources(), []);
  });
});

describe("the Node language host", function () {
  this.timeout(240_000);
  let project: Project;
  before(async () => {
    project = await Project.create({ program: "" });
  });
  after(() => {
    project.remove();
  });

  it("shows the error of a failing program and returns a non-zero code", async () => {
    project.write("index.js", `throw new Error("the program's own words");`);
    const { code, output } = await project.up();
    assert.notEqual(code, 0);
    assert.match(output, /the program's own words/);
  });

  it("shows the output and the exit code of a program that exits", async () => {
    project.write("index.js", `console.log("out"); console.error("err"); process.exit(3);`);
    const { code, output } = await project.up();
    assert.notEqual(code, 0);
    assert.match(output, /out/);
    assert.match(output, /err/);
    assert.match(output, /Program exited with non-zero exit code: 3/);
  });

  it("passes configuration, secrets, project and stack to the program", async () => {
    project.write(
      "index.js",
      `const pulumi = require("@pulumi/pulumi");
       const config = new pulumi.Config();
       exports.plain = config.require("plain");
       exports.hidden = config.requireSecret("hidden");
       exports.where = [pulumi.getProject(), pulumi.getStack()].join("/");`,
    );
    succeeded(await project.run("config", "set", "plain", "1 = one"));
    succeeded(await project.run("config", "set", "--secret", "hidden", "canary-config"));
    const output = succeeded(await project.up());
    assert.match(output, /plain *: "1 = one"/);
    assert.match(output, /hidden *: \[secret\]/);
    assert.match(output, /where *: "engine\/dev"/);
    assert.ok(!(await project.export()).includes("canary-config"));
  });
});
