// Loaded before a program (`node --import`): keeps an error in it from keeping a processor busy for ever.
//
// Node 20.20 never comes back from `util.inspect(error, { colors: true })` when a line of the stack ends in
// `node_modules/@scope/file`, and the Pulumi SDK prints every error of a program that way. Such stacks are printed
// without colours.
import util from "node:util";

const inspect = util.inspect;
const loops = /[\\/]node_modules[\\/]@[^\\/\s]+[\\/][^\\/\n]*$/m;

const guarded = (value, options, ...rest) =>
  typeof options === "object" && options?.colors && loops.test(String(value?.stack))
    ? inspect(value, { ...options, colors: false })
    : inspect(value, options, ...rest);

util.inspect = Object.assign(guarded, inspect);
