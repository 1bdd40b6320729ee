import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Waits at most 30 s for a file that another process creates. */
export async function appears(path: string): Promise<void> {
  const end = Date.now() + 30_000;
  while (!existsSync(path)) {
    if (Date.now() > end) throw new Error(`${path} does not appear`);
    await pause(20);
  }
}
