import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Creates a directory for PATH that contains exactly the given scripts: for built executables and
 * for stand-ins. Its name is a digest of its content, so two checkouts or two versions never share
 * one.
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
