#!/usr/bin/env node
// Entry point of `npx stackadm-lab ...`. An installed package has compiled files. A checkout
// compiles its sources first.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const checkout = resolve(root, "..", "tools", "prepare-checkout.mjs");
if (existsSync(checkout) && existsSync(join(root, "tsconfig.build.json")))
  await (await import(checkout)).prepare({ dist: true });
const main = join(root, "dist", "packages", "lab", "cli", "main.js");
if (existsSync(main)) await createRequire(import.meta.url)(main).main(process.argv.slice(2));
else {
  process.stderr.write(`error: ${main} is missing: this package was not built.\n`);
  process.exitCode = 1;
}
