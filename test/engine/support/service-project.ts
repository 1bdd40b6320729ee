import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ServiceOptions } from "../../../automation/engine/operation-options.js";
import { toolDirectory } from "./tools.js";

/** Project with a stack `dev`, a separate backend and a real engine, for a cluster service. */
export class ServiceProject {
  readonly directory: string;
  /**
   * Options of the service. The backend is a directory, unless the environment names another one.
   */
  readonly service: ServiceOptions & { readonly projectDirectory: string };
  /** Path of the stack's checkpoint, if the backend is a directory. */
  readonly checkpoint: string;
  private readonly stateHome = process.env["XDG_STATE_HOME"];

  /**
   * @param name name of the project
   * @param program source text of its module
   * @param environment further environment variables
   */
  constructor(name: string, program: string, environment: NodeJS.ProcessEnv = {}) {
    const directory = mkdtempSync(join(tmpdir(), `stackadm-${name}-`));
    mkdirSync(join(directory, "backend"));
    const backend =
      environment["PULUMI_BACKEND_URL"] ?? pathToFileURL(join(directory, "backend")).href;
    process.env["XDG_STATE_HOME"] = join(directory, "state");
    writeFileSync(join(directory, "Pulumi.yaml"), `name: ${name}\nruntime: nodejs\n`);
    writeFileSync(join(directory, "Pulumi.dev.yaml"), "config: {}\n");
    writeFileSync(join(directory, "index.js"), program);
    const env = {
      ...process.env,
      ...environment,
      PATH: `${toolDirectory()}${delimiter}${process.env["PATH"] ?? ""}`,
      PULUMI_HOME: process.env["STACKADM_PULUMI_HOME"] ?? join(directory, "home"),
      PULUMI_BACKEND_URL: backend,
      PULUMI_CONFIG_PASSPHRASE: "engine-tests",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    };
    this.directory = directory;
    this.checkpoint = join(directory, "backend", ".pulumi", "stacks", name, "dev.json");
    const file = join(directory, "index.js");
    this.service = { env, backend, projectDirectory: directory, program: file };
  }

  /** Returns the process IDs of the engines that work on this backend. */
  engines(): number[] {
    const ours = (pid: string): boolean => {
      try {
        return (
          readFileSync(`/proc/${pid}/environ`, "utf8").includes(this.service.backend) &&
          readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "pulumi"
        );
      } catch {
        return false; // the process has ended
      }
    };
    return readdirSync("/proc")
      .filter((entry) => /^\d+$/.test(entry) && ours(entry))
      .map(Number);
  }

  remove(): void {
    if (this.stateHome === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = this.stateHome;
    rmSync(this.directory, { recursive: true, force: true });
  }
}
