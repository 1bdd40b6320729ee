import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LabCluster } from "./lab-cluster.js";
import { getPackageRoot } from "../../../../base/paths.js";

export interface Said {
  readonly code: number | null;
  readonly text: string;
}

/**
 * Runs the command line on the stack of a lab cluster, as a user does. The stack file exists in the
 * package only while the command runs.
 */
export async function stackadm(
  cluster: LabCluster,
  args: readonly string[],
  options: {
    readonly changes?: Readonly<Record<string, unknown>>;
    readonly env?: NodeJS.ProcessEnv;
    /** Receives each part of the output as soon as it is printed. */
    readonly onText?: (part: string) => void;
  } = {},
): Promise<Said> {
  const stackFile = join(getPackageRoot(), `Pulumi.${cluster.name}.yaml`);
  const program = join(getPackageRoot(), "automation", "cli", "stackadm.mjs");
  writeFileSync(stackFile, cluster.settings(options.changes));
  try {
    const child = spawn(process.execPath, [program, ...args, "--stack", cluster.name], {
      env: { ...cluster.environment.env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        options.onText?.(part);
      });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { code, text };
  } finally {
    rmSync(stackFile, { force: true });
  }
}
