import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ClusterServiceOptions } from "../../../automation/cluster/options.js";
import { toolDirectory } from "./tools.js";

/** A program with a stack `dev`, a backend of its own and a real engine, for a cluster service. */
export class ServiceProject {
  readonly directory: string;
  /** What the service is made of. */
  readonly service: ClusterServiceOptions & { readonly projectDirectory: string };
  /** The engine's record of the stack. */
  readonly checkpoint: string;
  private readonly stateHome = process.env["XDG_STATE_HOME"];

  /** @param name the project's; @param program text of its module; @param environment what it has besides */
  constructor(name: string, program: string, environment: NodeJS.ProcessEnv = {}) {
    const directory = mkdtempSync(join(tmpdir(), `stackadm-${name}-`));
    mkdirSync(join(directory, "backend"));
    const backend = pathToFileURL(join(directory, "backend")).href;
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

  remove(): void {
    if (this.stateHome === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = this.stateHome;
    rmSync(this.directory, { recursive: true, force: true });
  }
}
