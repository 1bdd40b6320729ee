// Program that `pulumi` runs: compiled in a package, from its sources in a checkout.
"use strict";
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const isCheckout = existsSync(join(__dirname, "index.ts"));
const home = isCheckout ? __dirname : join(__dirname, "dist");
require(join(home, "base", "util-inspect-workaround.cjs"));
if (isCheckout) require("tsx/cjs");
module.exports = require(join(home, isCheckout ? "index.ts" : "index.js"));
