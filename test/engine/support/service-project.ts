import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ClusterServiceOptions } from "../../../automation/cluster/options.js";
import { toolDirectory } from "./tools.js";

/** A program with a stack `dev`, a backend of its own and a real engine, for a cluster service. */
export class ServiceProject {
  readonly directory: string;
  /** What the service is made of. Its backend is a directory, where the environment names no other. */
  readonly service: ClusterServiceOptions & { readonly projectDirectory: string };
  /** The engine's record of the stack, in a directory. */
  readonly checkpoint: string;
  private readonly stateHome = process.env["XDG_STATE_HOME"];

  /** @param name the project's; @param program text of its module; @param environment what it has besides */
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

  /** Process ids of the engines that work on its backend. */
  engines(): number[] {
    const ours = (pid: string): boolean => {
      try {
        return (
          readFileSync(`/proc/${pid}/environ`, "utf8").includes(this.service.backend) &&
          readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "pulumi"
        );
      } catch {
        return false; // it ended while we looked
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
