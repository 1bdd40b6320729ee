import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { StateExport } from "../../../automation/pulumi/stack-state.js";
import {
  getScriptCopyUrn,
  markScriptsForRerun,
} from "../../../automation/engine/interrupted-scripts.js";
import { importOf } from "../support/machine-program.js";
import { Project, succeeded } from "../support/project.js";
import { SshServer, keyPair } from "../support/ssh-server.js";

/** Program with two steps on one machine. The SSH server of the test has another port and key. */
const program = `
import * as pulumi from "@pulumi/pulumi";
${importOf("CopiedScripts, RemoteScript", "remote-scripts/remote-script.ts")}
${importOf("createScriptStep", "remote-scripts/script-steps.ts")}

const { PORT, KEY, HOST_KEY = "", SERVER = "", VALUE = "", JOIN = "", LEAVE = "" } = process.env;
const ofTest = { port: Number(PORT), privateKey: KEY, dialErrorLimit: 1 };
pulumi.runtime.registerStackTransformation(({ type, props, opts }) => {
  if (!type.startsWith("command:remote:")) return undefined;
  const connection = pulumi.output(props.connection).apply((found) => ({ ...found, ...ofTest }));
  return { props: { ...props, connection }, opts };
});
const connection = {
  ...{ host: "127.0.0.1", user: "debian", hostKey: HOST_KEY, machine: "m", server: SERVER },
};
const prepare = createScriptStep("prepare", { scripts: ["echo prepare $1 $VALUE $WORD >>log; echo {}"] });
const join = createScriptStep("join", { scripts: [JOIN], tellsCreate: true });
const copied = new CopiedScripts("m-scripts", { connection, steps: [prepare, join] });
const common = { connection, copied, when: "up" } as const;
const values = { VALUE, WORD: pulumi.secret("canary") };
new RemoteScript("m-prepare", { ...common, step: prepare, values });
new RemoteScript("m-join", { ...common, step: join, values: {} });
const leave = createScriptStep("leave", { scripts: [LEAVE] });
new RemoteScript(
  "m-leave",
  { connection, step: leave, when: "delete", values: { NODE: "n" } },
  { replaceOnChanges: ["delete"], deleteBeforeReplace: true },
);
`;

describe("a remote script", function () {
  this.timeout(240_000);
  const key = keyPair();
  const bin = mkdtempSync(join(tmpdir(), "stackadm-sudo-"));
  let server: SshServer;
  let project: Project;

  before(async () => {
    writeFileSync(join(bin, "sudo"), '#!/bin/sh\nshift\nexec "$@"\n', { mode: 0o755 });
    const path = `${bin}${delimiter}${process.env["PATH"] ?? ""}`;
    const environment = { ...process.env, PATH: path };
    server = await SshServer.start({ authorizedKeys: [key.public], environment });
    project = await Project.create({ program, file: "index.ts" });
    Object.assign(project.environment, {
      PORT: String(server.port),
      KEY: key.private,
      HOST_KEY: server.hostKey,
      SERVER: "server-1",
      VALUE: "one",
      JOIN: "echo join $1 >>log; echo {}",
      LEAVE: "echo leave $1 $NODE >>log",
    });
  });
  after(async () => {
    project.remove();
    await server.stop();
    rmSync(bin, { recursive: true });
  });
  beforeEach(() => {
    writeFileSync(join(server.files, "log"), "");
    server.commands.length = 0;
  });

  const log = (): string[] =>
    readFileSync(join(server.files, "log"), "utf8").split("\n").filter(Boolean).sort();
  const files = (of: string): string[] => readdirSync(join(server.files, ".stackadm", of));

  it("runs from the copied file with its values", async () => {
    succeeded(await project.up());
    assert.deepEqual(log(), ["join create", "prepare up one canary"]);
    assert.equal(files("server-1").length, 1);
    const state = await project.export();
    assert.ok(!state.includes("echo prepare") && !state.includes("canary"));
  });

  it("shows a changed value by name and runs again", async () => {
    project.environment["VALUE"] = "two";
    const { output } = await project.preview();
    assert.match(output, /- +VALUE=one\n +\+ +VALUE=two\n/);
    assert.match(output, /~ 1 to update\n/);
    succeeded(await project.up());
    assert.deepEqual(log(), ["prepare up two canary"]);
  });

  it("runs again after a change of its text, unlike other scripts", async () => {
    project.environment["JOIN"] = "echo join again $1 >>log; echo {}";
    const { output } = await project.preview();
    assert.match(output, /- +join@[0-9a-f]{16} update \\\n +\+ +join@[0-9a-f]{16} update \\/);
    succeeded(await project.up());
    assert.deepEqual(log(), ["join again update"]);
    assert.equal(files("server-1").length, 2);
  });

  it("is copied to a new server, on which the former leave script still runs", async () => {
    rmSync(join(server.files, ".stackadm"), { recursive: true });
    Object.assign(project.environment, { SERVER: "server-2", LEAVE: "echo leaves again >>log" });
    succeeded(await project.up());
    assert.deepEqual(log(), ["join again update", "leave delete n", "prepare up two canary"]);
    assert.equal(files("server-2").length, 1);
  });

  /** Deletes the scripts, lets a step fail, and returns the URN of the copy. */
  const withoutFile = async (value: string): Promise<string> => {
    rmSync(join(server.files, ".stackadm"), { recursive: true });
    project.environment["VALUE"] = value;
    const { code, output } = await project.up();
    assert.notEqual(code, 0);
    assert.match(output, /reason: \[SCRIPT_MISSING\] prepare@[0-9a-f]{16} is not on /);
    assert.deepEqual(log(), []);
    const resources = await project.resources();
    return getScriptCopyUrn(resources.find(({ urn }) => urn.endsWith("-prepare"))?.urn ?? "");
  };

  it("fails after its file is deleted, until the file is copied again", async () => {
    succeeded(await project.up("--replace", await withoutFile("three")));
    assert.deepEqual(log(), ["prepare up three canary"]);
  });

  it("is copied again if the service has marked the copy in the state", async () => {
    const urns = new Set([await withoutFile("four")]);
    const marked = markScriptsForRerun(JSON.parse(await project.export()) as StateExport, urns);
    project.write("state.json", JSON.stringify(marked));
    succeeded(await project.run("stack", "import", "--file", "state.json"));
    succeeded(await project.up());
    assert.deepEqual(log(), ["prepare up four canary"]);
  });
});
