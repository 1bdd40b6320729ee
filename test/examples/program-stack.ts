import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parseOutputs } from "../../automation/verify/cluster-outputs.js";
import { getPackageRoot } from "../../base/paths.js";
import { run, type RunCommandResult } from "../../base/run-command.js";
import { labCluster, type LabCluster } from "../lab/support/stack/lab-cluster.js";
import { resourcesIn, type OpenedResource } from "../lab/support/stack/secrets.js";
import { Stack, type Changes } from "../lab/support/stack/stack.js";

const versioned = z.object({ version: z.string() });

/**
 * Packs the package and installs it with the dependencies of an example, like a user without the
 * sources.
 */
async function install(example: string, directory: string): Promise<void> {
  const root = getPackageRoot();
  for (const file of ["Pulumi.yaml", "index.ts", "package.json"])
    copyFileSync(join(root, "examples", example, file), join(directory, file));
  await run("npm", ["run", "build"], { cwd: root });
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", directory], { cwd: root });
  const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const tarball = `./stackadm-${versioned.parse(manifest).version}.tgz`;
  const words = ["--no-audit", "--no-fund", "--prefer-offline", tarball];
  await run("npm", ["install", ...words], { cwd: directory });
}

/** Returns the image that an example's program names. */
function imageOf(example: string): string {
  const program = readFileSync(join(getPackageRoot(), "examples", example, "index.ts"), "utf8");
  const image = /image: "([^"]+)"/.exec(program)?.[1];
  if (image === undefined) throw new Error(`examples/${example}/index.ts names no image`);
  return image;
}

/**
 * Stack of an example that is a program with the package as a library; plain `pulumi` creates and
 * destroys it.
 */
export class ProgramStack extends Stack {
  /** All output of `pulumi up` so far. */
  screen = "";
  private directory = "";
  private env: NodeJS.ProcessEnv = {};

  protected override async make(): Promise<LabCluster> {
    const cluster = await labCluster(this.name, undefined, {
      prepare: (directory) => install(this.name, directory),
      config: () => ({}),
      described: { image: imageOf(this.name) },
    });
    const { env } = cluster.environment;
    this.directory = join(cluster.stackFile, "..");
    this.env = env;
    await this.pulumi("stack", "init");
    return cluster;
  }

  private pulumi(...args: string[]): Promise<RunCommandResult> {
    const words = [...args, "--stack", this.name, "--non-interactive"];
    return run("pulumi", words, { cwd: this.directory, env: this.env });
  }

  /**
   * Runs `pulumi up`. `changed` contains values of the stack file; other values have their
   * defaults.
   */
  override async up(changed: Changes = {}): Promise<void> {
    await this.#update(changed);
    this.outputs = parseOutputs(await this.cluster.service.outputs(this.name));
  }

  override async again(changed: Changes = {}): Promise<void> {
    await this.#update(changed, "--expect-no-changes");
  }

  override async opened(): Promise<OpenedResource[]> {
    return resourcesIn((await this.pulumi("stack", "export", "--show-secrets")).stdout);
  }

  async #update(changed: Changes, ...options: string[]): Promise<void> {
    await this.pulumi("config", "rm", "workers");
    for (const [key, value] of Object.entries(changed))
      await this.pulumi("config", "set", key, String(value));
    const { stdout, stderr } = await this.pulumi("up", "--yes", "--skip-preview", ...options);
    this.screen += stdout + stderr;
  }

  protected override async destroy(): Promise<void> {
    await this.pulumi("destroy", "--yes", "--skip-preview");
  }
}
