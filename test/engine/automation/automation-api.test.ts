import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import type { EngineEvent, Stack } from "@pulumi/pulumi/automation/index.js";
import { SshServer, keyPair } from "../support/ssh-server.js";
import { toolDirectory } from "../support/tools.js";

describe("the Automation API with an inline program", function () {
  this.timeout(240_000);
  const key = keyPair();
  const path = process.env["PATH"];
  let directory: string;
  let server: SshServer;
  let stack: Stack;
  let word = "one";

  before(async () => {
    process.env["PATH"] = `${toolDirectory()}${delimiter}${path ?? ""}`;
    directory = mkdtempSync(join(tmpdir(), "stackadm-automation-"));
    server = await SshServer.start({ authorizedKeys: [key.public] });
    const program = (): Promise<Record<string, unknown>> => {
      const remote = new command.remote.Command(
        "remote",
        {
          connection: {
            host: "127.0.0.1",
            port: server.port,
            privateKey: key.private,
            hostKey: server.hostKey,
          },
          create: "bash -s",
          stdin: pulumi.secret(`echo ${word}`),
        },
        { additionalSecretOutputs: ["stdout"] },
      );
      return Promise.resolve({ said: remote.stdout });
    };
    stack = await LocalWorkspace.createOrSelectStack(
      { stackName: "dev", projectName: "inline", program },
      {
        workDir: directory,
        envVars: {
          PULUMI_HOME: process.env["STACKADM_PULUMI_HOME"] ?? join(directory, "home"),
          PULUMI_BACKEND_URL: `file://${directory}`,
          PULUMI_CONFIG_PASSPHRASE: "engine-tests",
          PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
          PULUMI_SKIP_UPDATE_CHECK: "true",
        },
      },
    );
  });
  after(async () => {
    process.env["PATH"] = path;
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it("creates as many resources as its preview planned", async () => {
    const { changeSummary } = await stack.preview();
    assert.equal(changeSummary.create, 2);
    assert.equal(server.connections, 0);
    const { summary, outputs } = await stack.up();
    assert.equal(summary.resourceChanges?.create, 2);
    assert.deepEqual(outputs["said"], { value: "one", secret: true });
  });

  it("reports each step as an event without secret values", async () => {
    word = "canary-of-automation";
    const events: EngineEvent[] = [];
    const { outputs } = await stack.up({ onEvent: (event) => events.push(event) });
    assert.equal(outputs["said"]?.value, word);
    const steps = events.flatMap(({ resourcePreEvent: step }) => (step ? [step.metadata] : []));
    const step = steps.find(({ type }) => type === "command:remote:Command");
    assert.deepEqual([step?.op, step?.diffs], ["update", ["stdin"]]);
    const told = events.flatMap(({ diagnosticEvent: told }) => (told ? [told] : []));
    // Debug diagnostics of the SDK and output of commands may contain the value in clear text.
    const quiet = events.filter(
      ({ diagnosticEvent: said }) => said?.prefix !== "debug: " && said?.ephemeral !== true,
    );
    assert.ok(!JSON.stringify(quiet).includes(word));
    assert.ok(told.some(({ message }) => message.includes("stand-in")));
  });

  it("destroys the stack", async () => {
    const { summary } = await stack.destroy();
    assert.equal(summary.resourceChanges?.delete, 2);
  });
});
