// Program that `pulumi` runs: compiled in a package, from its sources in a checkout.
"use strict";
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const isCheckout = existsSync(join(__dirname, "index.ts"));
const home = isCheckout ? __dirname : join(__dirname, "dist");
const load = (...path) => require(join(home, ...path) + (isCheckout ? ".ts" : ".js"));
require(join(home, "base", "util-inspect-workaround.cjs"));
if (isCheckout) require("tsx/cjs");

// The state is read while the program loads.
const { refuseUnfinishedCreates } = load("components", "lifecycle", "refuse-unfinished-creates");
const checked = refuseUnfinishedCreates(process.env);
checked.catch(() => undefined);
const program = load("index");
module.exports = async () => {
  await checked;
  return program();
};
