import assert from "node:assert/strict";
import {
  ClusterMachines,
  backupScript,
  createBackupProgram,
} from "../../../../automation/backup/machine-programs.js";
import { Failure } from "../../../../base/failures/failure.js";
import { outputsOf } from "./support.js";

describe("ClusterMachines.readOutput", () => {
  const [machine] = outputsOf(1).nodes;
  assert.ok(machine);
  const hostKeys = [`${machine.address} ssh-ed25519 AAAA`];
  const commands: string[] = [];
  /** Returns the output of a program with this mark. */
  let greeting: (mark: string) => string;
  beforeEach(() => {
    greeting = (mark) => `${mark}\nSAID`;
  });
  const at = (
    ended: { readonly code: number | undefined; readonly said: string },
    keys = hostKeys,
  ) =>
    new ClusterMachines(
      { ...outputsOf(1), nodes: [{ ...machine, sshHost: machine.address }], hostKeys: keys },
      { user: "debian", agentSocket: "" },
      {
        execute: async (target, command, { output }) => {
          commands.push(`${target.user}@${target.host}: ${command}`);
          const [, mark = ""] = /bash -c 'echo ([0-9a-f]{32})\n/.exec(command) ?? [];
          output.end(greeting(mark));
          return Promise.resolve(ended);
        },
        close: () => undefined,
      },
    );
  const placed = { ...machine, sshHost: machine.address };

  it("runs the script as root, passed as one shell word", async () => {
    const answer = await at({ code: 0, said: "" }).readOutput(
      placed,
      createBackupProgram("snapshot"),
    );
    assert.equal(answer, "SAID");
    const [command = ""] = commands;
    assert.ok(command.startsWith("debian@10.0.0.10: sudo -n bash -c 'echo "));
    assert.ok(command.endsWith("' stackadm 'snapshot'"));
    assert.ok(command.length > backupScript.length);
  });

  it("reports the script's reason, else its last output, and a connection that ended before the script did", async () => {
    const said = (code: number | undefined, text: string): Promise<string> =>
      at({ code, said: text }).readOutput(placed, createBackupProgram("archive"));
    await assert.rejects(
      said(1, "much\nreason: no room\nmore\n"),
      /^Failure: dev-control-plane-0: no room\. The last output before: much$/,
    );
    await assert.rejects(said(1, "reason: no room\n"), /^Failure: dev-control-plane-0: no room\.$/);
    await assert.rejects(said(127, "bash: not found\n"), /dev-control-plane-0: bash: not found\.$/);
    await assert.rejects(said(1, ""), /it printed nothing\.$/);
    await assert.rejects(said(undefined, ""), {
      code: "SSH_UNREACHABLE",
      message: "The connection to dev-control-plane-0 ended before the script ended.",
    });
  });

  it("drops all that the login shell prints before the data", async () => {
    greeting = (mark) => `Welcome to build-07\nno newline ${mark}\nDATA\n${mark}\n`;
    const answer = await at({ code: 0, said: "" }).readOutput(
      placed,
      createBackupProgram("standing"),
    );
    assert.match(answer, /^DATA\n[0-9a-f]{32}\n$/);
  });

  it("fails if a program succeeds without data", async () => {
    greeting = () => "Welcome to build-07\n";
    await assert.rejects(
      at({ code: 0, said: "" }).readOutput(placed, createBackupProgram("standing")),
      /^Failure: dev-control-plane-0: the program printed no data\.$/,
    );
  });

  it("refuses a machine without a known host key and runs nothing on it", async () => {
    commands.length = 0;
    await assert.rejects(
      at({ code: 0, said: "" }, []).readOutput(placed, createBackupProgram("archive")),
      (error) => {
        assert.ok(error instanceof Failure);
        return error.code === "SSH_UNREACHABLE";
      },
    );
    assert.deepEqual(commands, []);
  });
});
