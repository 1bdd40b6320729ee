#!/usr/bin/env node
// Entry point of `stackadm ...`. An installed package has compiled files. In a checkout, this
// file first installs packages and compiles the sources.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Refusal, start } from "./run-on-supported-node.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
const inCheckout = ["tsconfig.build.json", join("packages", "tools", "prepare-checkout.mjs")].every(
  (path) => existsSync(join(root, path)),
);

await start(async () => {
  if (inCheckout) {
    const { prepare } = await import("../../packages/tools/prepare-checkout.mjs");
    await prepare({ dist: true });
  }
  const main = join(root, "dist", "automation", "cli", "main.js");
  if (!existsSync(main)) throw new Refusal(`${main} is missing: this package was not built.`);
  await createRequire(import.meta.url)(main).main(process.argv.slice(2));
});
