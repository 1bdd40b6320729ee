// Loaded before a program. Prevents an error in the program from using a CPU forever.
//
// Node 20.20 does not return from `util.inspect(error, { colors: true })` if a line of the stack
// ends in `node_modules/@scope/file`, and the Pulumi SDK prints every error of a program this way.
// Such stacks are printed without colours.
"use strict";
const util = require("node:util");

const inspect = util.inspect;
const loops = /[\\/]node_modules[\\/]@[^\\/\s]+[\\/][^\\/\n]*$/m;

const guarded = (value, options, ...rest) =>
  typeof options === "object" && options?.colors && loops.test(String(value?.stack))
    ? inspect(value, { ...options, colors: false })
    : inspect(value, options, ...rest);

util.inspect = Object.assign(guarded, inspect);
