import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { packageRoot } from "../cluster/workspace.js";
import { UserError } from "../user-error.js";

/** Sources that only a checkout has. */
export function requireCheckout(): string {
  const root = packageRoot();
  if (existsSync(join(root, "tsconfig.json"))) return root;
  throw new UserError("This is an installed package: checks and tests live in the repository.");
}

export function registerTest(program: Command): void {
  program
    .command("test")
    .description("run the tests: all tiers, or those named")
    .argument("[tiers...]", "unit, graph, scripts, engine, lab")
    .option("--all", "in the lab tier: every example, not only the default set", false)
    .action(async (tiers: string[], options: { all: boolean }) => {
      const root = requireCheckout();
      const args = ["--import", "tsx", join(root, "test", "run.ts"), ...tiers];
      const child = spawn(process.execPath, [...args, ...(options.all ? ["--all"] : [])], {
        cwd: root,
        stdio: "inherit",
      });
      // A terminal's Ctrl-C reaches the child too; we only wait for it.
      process.on("SIGINT", () => undefined);
      process.exitCode = await new Promise<number>((resolve) => {
        child.once("close", (code) => {
          resolve(code ?? 1);
        });
      });
    });
}
