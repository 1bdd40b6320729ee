import { strict as assert } from "node:assert";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "./sandbox.js";

export const commonScript = readFileSync(
  join(__dirname, "../../../components/remote-scripts/scripts/common.sh"),
  "utf8",
);

/** Returns common.sh with another interval of signs of life. The interval is in seconds. */
export function commonScriptWithInterval(seconds: string): string {
  const text = commonScript.replace("read -r -t 5 ", `read -r -t ${seconds} `);
  assert.notEqual(text, commonScript);
  return text;
}

/** Running script. The script's session ends when no process keeps its output open. */
export class ScriptSession {
  stdout = "";
  stderr = "";
  readonly closed: Promise<number | null>;
  #changed = (): void => undefined;

  constructor(readonly child: ChildProcessWithoutNullStreams) {
    child.stdout.on("data", (data: Buffer) => (this.stdout += data.toString()));
    child.stderr.on("data", (data: Buffer) => {
      this.stderr += data.toString();
      this.#changed();
    });
    this.closed = new Promise((resolve) => child.once("close", resolve));
  }

  /** Waits until `count` lines state that the script is alive. */
  async alive(count: number): Promise<readonly string[]> {
    const lines = (): string[] => this.stderr.match(/^alive .*$/gm) ?? [];
    while (lines().length < count)
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    return lines();
  }

  /** Returns standard error without the signs of life. */
  get messages(): string {
    const lines = this.stderr.split("\n").filter((line) => !line.startsWith("alive "));
    return lines.join("\n");
  }
}

/** Returns the number of processes with this name that scripts of the sandbox started. */
export const countProcesses = (machine: Sandbox, name: string): number =>
  readdirSync("/proc").filter((pid) => {
    try {
      const ours = readFileSync(`/proc/${pid}/environ`, "utf8").includes(machine.root);
      return ours && readFileSync(`/proc/${pid}/comm`, "utf8").trim() === name;
    } catch {
      return false; // not a process, or already ended
    }
  }).length;
