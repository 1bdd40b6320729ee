import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { getPackageRoot } from "../../../../base/paths.js";
import type { Said } from "./command-line.js";

/**
 * Shell of a reader who types the commands of several pages. The commands share the current
 * directory and the exported variables. `stackadm` is on the PATH, as after `npm link`.
 */
export class ShellSession {
  private readonly files = mkdtempSync(join(tmpdir(), "stackadm-shell-"));
  private readonly programs = join(this.files, "bin");

  /**
   * @param directory directory in which the shell starts
   * @param env variables of the shell
   */
  constructor(
    private readonly directory: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {
    mkdirSync(this.programs);
    const entry = join(getPackageRoot(), "automation", "cli", "stackadm.mjs");
    const text = `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`;
    writeFileSync(join(this.programs, "stackadm"), text, { mode: 0o755 });
  }

  /** Puts a program first on the PATH. */
  addProgram(name: string, file: string): void {
    symlinkSync(file, join(this.programs, name));
  }

  /**
   * Runs commands until one fails. Returns their output and the exit code.
   *
   * @param input text on the standard input
   */
  run(commands: string, input = ""): Promise<Said> {
    const variables = join(this.files, "variables");
    const script = [
      "set -euo pipefail",
      // The variable PWD contains the last directory of the commands before.
      ...(existsSync(variables) ? [`. '${variables}'`, 'cd -- "$PWD"'] : []),
      `trap 'export -p >"${variables}"' EXIT`,
      commands,
    ].join("\n");
    const path = [this.programs, this.env["PATH"] ?? ""].join(delimiter);
    return new Promise((resolve, reject) => {
      const child = spawn("bash", ["-c", script], {
        cwd: this.directory,
        env: { ...this.env, PATH: path },
        stdio: ["pipe", "pipe", "pipe"],
      });
      let text = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
      // Commands that read no input close it. The write then fails.
      child.stdin.on("error", () => undefined).end(input);
      child.once("error", reject);
      child.once("close", (code) => {
        resolve({ code, text });
      });
    });
  }

  /** Ends the ssh-agent that the commands started, and deletes the files of the session. */
  async close(): Promise<void> {
    await this.run('[ -z "${SSH_AGENT_PID:-}" ] || kill "$SSH_AGENT_PID"');
    rmSync(this.files, { recursive: true, force: true });
  }
}
