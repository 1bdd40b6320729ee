/** Finds the tools of the engine tests. Throws an error with the name of a missing tool. */
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const names = [
  "pulumi",
  "pulumi-language-nodejs",
  "pulumi-resource-command",
  "pulumi-resource-kubernetes",
] as const;

/**
 * Returns the directory of the tools: `STACKADM_TOOLCHAIN_BIN`, or the directory of `pulumi` on
 * PATH.
 */
export function toolDirectory(): string {
  const path = (process.env["PATH"] ?? "").split(delimiter);
  const directory =
    process.env["STACKADM_TOOLCHAIN_BIN"] ??
    path.find((entry) => entry !== "" && existsSync(join(entry, "pulumi")));
  if (!directory) {
    throw new Error("pulumi is missing: set STACKADM_TOOLCHAIN_BIN or put it on PATH.");
  }
  for (const name of names) {
    if (![directory, ...path].some((entry) => isExecutable(join(entry, name)))) {
      throw new Error(`${name} is missing in ${directory}: run \`stackadm toolchain\`.`);
    }
  }
  return directory;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return existsSync(dirname(path));
  } catch {
    return false;
  }
}
