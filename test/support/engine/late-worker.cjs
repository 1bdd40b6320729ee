// Pulumi's SDK loads a compiler and a package manager for serialized functions, which no program of ours has: most of what a
// process does until its operation begins. Here they are loaded when they are used.
const Module = require("node:module");
const load = Module._load;
/** The modules, and what is imported of them by name. */
const late = { "@npmcli/arborist": ["Arborist"], typescript: [] };

Module._load = function (request, ...rest) {
  if (!Object.hasOwn(late, request)) return load.call(this, request, ...rest);
  return new Proxy(
    {},
    {
      ownKeys: () => late[request],
      get: (_, name) =>
        name === "__esModule" ? undefined : load.call(this, request, ...rest)[name],
    },
  );
};
