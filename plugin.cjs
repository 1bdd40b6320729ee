// Provider that Pulumi runs for programs in other languages: compiled in a package, from its sources
// in a checkout.
"use strict";
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const isCheckout = existsSync(join(__dirname, "index.ts"));
const home = isCheckout ? __dirname : join(__dirname, "dist");
require(join(home, "base", "util-inspect-workaround.cjs"));
if (isCheckout) require("tsx/cjs");
const file = join("components", "provider", `cluster-provider.${isCheckout ? "ts" : "js"}`);
const { version } = require("./package.json");
module.exports = () =>
  require(join(home, file)).serveProvider(version, process.argv.slice(2), process.env);
