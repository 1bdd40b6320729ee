import { spawn, type ChildProcess } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { delimiter, dirname, join } from "node:path";
import type { CommandSession } from "../../../../../base/terminal/session.js";
import { createRedactor } from "../../../../../base/terminal/redact-secrets.js";
import { getPackageRoot } from "../../../../../base/paths.js";

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Waits for a process to end and returns its output. */
export async function ended(child: ChildProcess): Promise<Ended> {
  const text = { out: "", err: "" };
  child.stdout?.setEncoding("utf8").on("data", (part: string) => (text.out += part));
  child.stderr?.setEncoding("utf8").on("data", (part: string) => (text.err += part));
  const code = await new Promise<number | null>((done, failed) => {
    child.once("error", failed);
    child.once("close", done);
  });
  return { code, ...text };
}

/**
 * Directory that tests use as a repository. Programs that run in it find commands in its `bin/`
 * first.
 */
export class Repository {
  readonly root = mkdtempSync(join(tmpdir(), "stackadm-repository-"));
  readonly path = `${join(this.root, "bin")}${delimiter}${process.env["PATH"] ?? ""}`;

  put(path: string, text = ""): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Writes an executable file. */
  program(path: string, text: string): void {
    this.put(path, text);
    chmodSync(join(this.root, path), 0o755);
  }

  /** Copies a file of this project into the repository. */
  take(path: string): void {
    this.put(path, readFileSync(join(getPackageRoot(), path), "utf8"));
  }

  /** Links an npm package of this project into the repository. */
  link(name: string): void {
    mkdirSync(join(this.root, "node_modules"), { recursive: true });
    symlinkSync(
      join(getPackageRoot(), "node_modules", name),
      join(this.root, "node_modules", name),
    );
  }

  /** Returns a file's text, or "" if the file does not exist. */
  text(path: string): string {
    const file = join(this.root, path);
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  /** Waits until a file contains a complete line, and returns its text. */
  async appears(path: string): Promise<string> {
    for (;;) {
      const text = this.text(path);
      if (text.endsWith("\n")) return text.trim();
      await pause(20);
    }
  }

  /**
   * Starts this project's tools on the repository, as a separate process in the directory of this
   * project.
   */
  chores(...args: readonly string[]): ChildProcess {
    const script = `require(process.argv[1]).main(process.argv.slice(3), process.argv[2])`;
    const main = join(getPackageRoot(), "packages/tools/main.ts");
    const node = ["--import", "tsx", "--eval", script, "--", main, this.root, ...args];
    return spawn(process.execPath, node, {
      cwd: getPackageRoot(),
      env: { ...process.env, PATH: this.path },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export interface RecordedSession extends CommandSession {
  readonly printed: string[];
  readonly notes: string[];
  readonly steps: string[];
}

/** Returns a session that records its messages. */
export function recordedSession(): RecordedSession {
  const printed: string[] = [];
  const notes: string[] = [];
  const steps: string[] = [];
  const nothing = (): void => undefined;
  return {
    printed,
    notes,
    steps,
    startedAt: 0,
    json: false,
    redactor: createRedactor({}),
    signal: new AbortController().signal,
    killSignal: new AbortController().signal,
    progress: {
      note: (text) => void notes.push(text),
      step: (title) => {
        steps.push(title);
        return { update: nothing, done: nothing, failed: nothing };
      },
    },
    print: (text) => void printed.push(text),
    printData: (text) => void printed.push(text),
    emit: nothing,
  };
}
