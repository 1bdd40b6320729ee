import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Creates a directory for PATH that contains exactly the given scripts. The scripts start built
 * executables or stand-ins. The name of the directory is a digest of the scripts, so checkouts with
 * different scripts have different directories.
 */
export function createBinDirectory(cache: string, scripts: ReadonlyMap<string, string>): string {
  const content = JSON.stringify([...scripts].sort());
  const directory = join(
    cache,
    `bin-${createHash("sha256").update(content).digest("hex").slice(0, 12)}`,
  );
  if (existsSync(directory)) return directory;
  const part = `${directory}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  for (const [name, script] of scripts) writeFileSync(join(part, name), script, { mode: 0o755 });
  renameSync(part, directory);
  return directory;
}
