import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { run } from "../../../../base/run-command.js";
import { renderKubeconfig } from "../../../../components/identity/kubeconfig.js";
import type { BareOutputs } from "../bare/run-without-engine.js";
import type { TerraformFiles } from "./script-resources.js";
import type { TerraformTools } from "./tools.js";

const result = z.looseObject({ kubeconfig: z.string() });

/** Directory with a Terraform configuration and the state of its cluster. */
export class TerraformDirectory {
  constructor(
    private readonly directory: string,
    private readonly tools: TerraformTools,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  write(files: TerraformFiles): void {
    for (const folder of ["results", "work"])
      mkdirSync(join(this.directory, folder), { recursive: true, mode: 0o700 });
    for (const [file, text] of files) {
      const path = join(this.directory, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text, { mode: 0o600 });
    }
  }

  async init(): Promise<void> {
    await this.terraform("init", "-input=false");
  }

  /** Checks the configuration with `terraform validate`. Throws if there are errors. */
  async validate(): Promise<string> {
    return this.terraform("validate");
  }

  async plan(): Promise<string> {
    return this.terraform("plan", "-input=false");
  }

  /** Applies the configuration and returns Terraform's output. */
  async apply(): Promise<string> {
    return this.terraform("apply", "-auto-approve", "-input=false");
  }

  async destroy(): Promise<string> {
    return this.terraform("destroy", "-auto-approve", "-input=false");
  }

  /** Returns the outputs of the last `apply`. */
  async outputs(): Promise<BareOutputs> {
    const cluster = JSON.parse(await this.terraform("output", "-json", "cluster")) as Omit<
      BareOutputs,
      "kubeconfig"
    >;
    const results = join(this.directory, "results");
    const [file = ""] = readdirSync(results);
    const said = result.parse(JSON.parse(readFileSync(join(results, file), "utf8")));
    const admin = Buffer.from(said.kubeconfig, "base64").toString("utf8");
    const names = {
      cluster: cluster.clusterName,
      endpoint: cluster.apiEndpoint.slice("https://".length),
    };
    return { ...cluster, kubeconfig: renderKubeconfig(admin, names) };
  }

  private async terraform(...args: readonly string[]): Promise<string> {
    const { executable, environment } = this.tools;
    const { code, stdout, stderr } = await run(executable, [...args, "-no-color"], {
      cwd: this.directory,
      env: { ...this.env, ...environment },
      accept: [0, 1],
    });
    if (code === 0) return stdout;
    // Terraform prints the output of the scripts to standard output, and its errors to standard
    // error.
    throw new Error(`terraform ${args[0] ?? ""}:\n${stdout.slice(-3000)}\n${stderr.slice(-3000)}`);
  }
}
