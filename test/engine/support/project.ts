/** Runs the real CLI on a Pulumi project in a separate directory, with a separate state. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { toolDirectory } from "./tools.js";

export interface Run {
  readonly code: number;
  /** Standard output and standard error, interleaved. */
  readonly output: string;
}

export interface ProjectOptions {
  /** Source text of the program. */
  readonly program: string;
  /** File name of the program. @default index.js */
  readonly file?: "index.js" | "index.ts";
  readonly environment?: Readonly<Record<string, string>>;
}

export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

const root = resolve(__dirname, "../../..");
const passphrase = "engine-tests";

export class Project {
  readonly directory = mkdtempSync(join(tmpdir(), "stackadm-engine-"));
  readonly environment: NodeJS.ProcessEnv;
  /** Running CLI processes, each with its process group. */
  private readonly running = new Set<ChildProcess>();

  private constructor(options: ProjectOptions) {
    const path = `${toolDirectory()}${delimiter}${process.env["PATH"] ?? ""}`;
    this.environment = {
      ...process.env,
      PATH: path,
      PULUMI_HOME: process.env["STACKADM_PULUMI_HOME"] ?? join(this.directory, "home"),
      PULUMI_BACKEND_URL: `file://${join(this.directory, "state")}`,
      PULUMI_CONFIG_PASSPHRASE: passphrase,
      PULUMI_SKIP_UPDATE_CHECK: "true",
      // Enables the flag --event-log.
      PULUMI_DEBUG_COMMANDS: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      SSH_AUTH_SOCK: "",
      ...options.environment,
    };
  }

  static async create(options: ProjectOptions): Promise<Project> {
    const project = new Project(options);
    mkdirSync(join(project.directory, "state"));
    const typescript = options.file === "index.ts";
    project.write(
      "Pulumi.yaml",
      [
        "name: engine",
        "runtime:",
        "  name: nodejs",
        "  options:",
        "    typescript: false",
        ...(typescript ? ['    nodeargs: "--import tsx"'] : []),
      ].join("\n"),
    );
    const main = options.file ?? "index.js";
    project.write("package.json", JSON.stringify({ name: "engine", main }));
    project.write(main, options.program);
    symlinkSync(join(root, "node_modules"), join(project.directory, "node_modules"));
    const made = await project.run("stack", "init", "dev", "--non-interactive");
    if (made.code !== 0) throw new Error(made.output);
    return project;
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.directory, file), text);
  }

  /** Starts `pulumi` in a separate process group. */
  start(args: readonly string[]): { child: ChildProcess; ended: Promise<Run> } {
    const child = spawn("pulumi", args, {
      cwd: this.directory,
      env: this.environment,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.running.add(child);
    let output = "";
    const collect = (data: Buffer): void => {
      output += data.toString();
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    const ended = new Promise<Run>((done, failed) => {
      child.once("error", failed);
      child.once("close", (code) => {
        this.running.delete(child);
        done({ code: code ?? -1, output });
      });
    });
    return { child, ended };
  }

  run(...args: string[]): Promise<Run> {
    return this.start(args).ended;
  }

  preview(): Promise<Run> {
    return this.run("preview", "--non-interactive", "--diff", "--event-log", this.eventLog);
  }

  up(...more: string[]): Promise<Run> {
    return this.run(...this.upArguments(), ...more);
  }

  upArguments(): string[] {
    return ["up", "--yes", "--skip-preview", "--non-interactive", "--event-log", this.eventLog];
  }

  destroy(): Promise<Run> {
    return this.run("destroy", "--yes", "--skip-preview", "--non-interactive");
  }

  private get eventLog(): string {
    return join(this.directory, "events.json");
  }

  /**
   * Returns the engine's events so far, one per line, without debug diagnostics. Debug diagnostics
   * contain all values of the Node SDK in clear text, including secrets. The CLI shows debug
   * diagnostics only with --debug. Code that stores events must drop them.
   */
  events(): string {
    if (!existsSync(this.eventLog)) return "";
    const lines = readFileSync(this.eventLog, "utf8").split("\n");
    return lines.filter((line) => !line.includes('"severity":"debug"')).join("\n");
  }

  async export(...more: string[]): Promise<string> {
    const { code, output } = await this.run("stack", "export", ...more);
    if (code !== 0) throw new Error(output);
    return output;
  }

  /** Returns the resources of the state, without the stack and the default providers. */
  async resources(): Promise<StateResource[]> {
    const state = JSON.parse(await this.export()) as {
      deployment: { resources?: StateResource[] };
    };
    const hidden = ["pulumi:pulumi:Stack", "pulumi:providers:command"];
    return (state.deployment.resources ?? []).filter(({ type }) => !hidden.includes(type));
  }

  /** Kills running processes and deletes the directory. */
  remove(): void {
    for (const child of this.running) {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Returns the CLI's output. Throws an error with the output if the run failed. */
export function succeeded({ code, output }: Run): string {
  if (code !== 0) throw new Error(`pulumi ended with code ${code}:\n${output}`);
  return output;
}
