import { strict as assert } from "node:assert";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const directory = join(__dirname, "..", "golden");

/**
 * Compares `actual` with test/golden/<name>. `npm run test:golden` rewrites the file, for review.
 */
export function golden(name: string, actual: string): void {
  const file = join(directory, name);
  if (process.env["STACKADM_UPDATE_GOLDEN"] === "1") {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, actual);
  }
  assert.ok(existsSync(file), `test/golden/${name} is missing: npm run test:golden writes it`);
  assert.equal(actual, readFileSync(file, "utf8"), `test/golden/${name} differs`);
}
