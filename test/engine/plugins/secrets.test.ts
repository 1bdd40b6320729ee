import assert from "node:assert/strict";
import { Project, succeeded } from "../support/project.js";
import { SshServer, keyPair } from "../support/ssh-server.js";

const canaries = {
  stdin: "canary-of-standard-input",
  output: "canary-of-output",
  password: "canary-of-password",
  file: "canary-of-file",
} as const;

/**
 * Program with the structure of the project's own remote scripts: secrets on standard input, and
 * only progress in the log.
 */
const program = `
const pulumi = require("@pulumi/pulumi");
const command = require("@pulumi/command");
const { PORT, KEY, HOST_KEY, FAIL } = process.env;
const connection = {
  host: "127.0.0.1", port: Number(PORT), hostKey: HOST_KEY,
  privateKey: KEY, password: "${canaries.password}", dialErrorLimit: 1,
};
const script = new command.remote.Command("script", {
  connection,
  create: "bash -s",
  stdin: pulumi.secret("# ${canaries.stdin}\\necho step >&2\\nprintf canary-; printf of-; echo output\\n" + (FAIL ? "exit 1" : "")),
  logging: "stderr",
  addPreviousOutputInEnv: false,
}, { additionalSecretOutputs: ["stdout", "stderr"] });
new command.remote.CopyToRemote("copy", {
  connection,
  source: new pulumi.asset.StringAsset("x"),
  remotePath: "/x",
});
const seed = new command.local.Command("seed", {
  create: "cat", stdin: pulumi.secret("${canaries.file}"), logging: "none",
}, { additionalSecretOutputs: ["stdout"] });
exports.facts = script.stdout;
exports.seed = seed.stdout;
`;

describe("secrets of commands", function () {
  this.timeout(240_000);
  let project: Project;
  let server: SshServer;
  const key = keyPair();
  /** Lines of the private key. A line in clear text is a leak. */
  const keyLines = key.private
    .split("\n")
    .filter((line) => line.length > 20 && !line.startsWith("-"));

  before(async () => {
    server = await SshServer.start({ authorizedKeys: [key.public] });
    project = await Project.create({
      program,
      environment: { PORT: String(server.port), KEY: key.private, HOST_KEY: server.hostKey },
    });
  });
  after(async () => {
    project.remove();
    await server.stop();
  });

  function leaks(text: string): string[] {
    return [...Object.values(canaries), ...keyLines].filter((secret) => text.includes(secret));
  }

  it("appear in no output, event or state of a preview or an update", async () => {
    const preview = succeeded(await project.preview());
    const up = succeeded(await project.up());
    assert.match(up, /script creating .*step/);
    const state = await project.export();
    for (const text of [preview, up, project.events(), state]) assert.deepEqual(leaks(text), []);
  });

  it("are encrypted in the state", async () => {
    const clear = await project.export("--show-secrets");
    assert.deepEqual(leaks(clear).length, Object.keys(canaries).length + keyLines.length);
  });

  it("appear in no output, event or state when a script fails", async () => {
    succeeded(await project.destroy());
    project.environment["FAIL"] = "yes";
    try {
      // Removes the line that prints a secret. The error of a failed script contains the script's
      // output, so a script that can fail must not print a secret.
      project.write("index.js", program.replace("printf canary-; printf of-; echo output", "true"));
      const failed = await project.up();
      assert.notEqual(failed.code, 0);
      assert.match(failed.output, /Process exited with status 1: running "bash -s"/);
      const state = await project.export();
      for (const text of [failed.output, project.events(), state])
        assert.deepEqual(leaks(text), []);
    } finally {
      delete project.environment["FAIL"];
    }
  });
});
