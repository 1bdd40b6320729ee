import { strict as assert } from "node:assert";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const root = join(__dirname, "..", "..");

/**
 * Returns a function that compares a text with a file of `directory`. `npm run test:golden` writes
 * the text to the file, so that the change can be reviewed.
 */
export const goldenIn = (directory: string) =>
  function golden(name: string, actual: string): void {
    const file = join(directory, name);
    const shown = relative(root, file);
    if (process.env["STACKADM_UPDATE_GOLDEN"] === "1") {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, actual);
    }
    assert.ok(existsSync(file), `${shown} is missing: npm run test:golden writes it`);
    assert.equal(actual, readFileSync(file, "utf8"), `${shown} differs`);
  };

/** Compares a text with test/golden/<name>. */
export const golden = goldenIn(join(root, "test", "golden"));
