import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeWhole } from "../../base/files.js";
import type { Bundle } from "./steps.js";

let folder: string | undefined;

/** Creates a folder that only this user reads, for as long as this process runs. */
function createFolder(): string {
  const created = mkdtempSync(join(tmpdir(), "stackadm-scripts-"));
  process.once("exit", () => {
    rmSync(created, { recursive: true, force: true });
  });
  return created;
}

/** Returns the path of a file on this machine with the text; the engine and the plugin read it. */
export function fileOf({ digest, text }: Bundle): string {
  folder ??= createFolder();
  const file = join(folder, `${digest}.sh`);
  // Something may have cleaned up the folder of a service that runs for weeks.
  if (!existsSync(file)) writeWhole(file, text);
  return file;
}
