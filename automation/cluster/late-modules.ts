import Module, { createRequire } from "node:module";

/*
 * Modules that load on first use, by the package that requires them: most runs never use them.
 * Import this file before any package.
 */
const late = {
  // Serialized functions (`pulumi.runtime.serializeFunction`, dynamic providers): the TypeScript
  // compiler, npm's resolver.
  "@pulumi/pulumi/package.json": ["typescript", "@npmcli/arborist", "normalize-package-data"],
  // Charts, kustomizations and manifest files.
  "@pulumi/kubernetes/package.json": ["./helm", "./kustomize", "./yaml"],
  // Error messages in all languages except English.
  "zod/package.json": ["./v4/locales/index.cjs"],
};

/** Returns a proxy that loads the module on first use. */
function onFirstUse(load: () => object): object {
  let loaded: object | undefined;
  const real = (): object => (loaded ??= load());
  return new Proxy(
    // The module itself may be a function.
    () => undefined,
    {
      apply: (_, self, given: unknown[]) =>
        Reflect.apply(real() as () => unknown, self, given) as unknown,
      // Importers copy every property of a CommonJS module, which would load it: pretend to be an
      // ES module until then.
      get: (_, key) => {
        if (key === "__esModule" && !loaded) return true;
        // The importer takes this for an ES module, so `default` has to exist.
        const module = real();
        return key === "default" && !("default" in module)
          ? module
          : (Reflect.get(module, key) as unknown);
      },
      has: (_, key) => Reflect.has(real(), key),
      ownKeys: () => Reflect.ownKeys(real()),
      getOwnPropertyDescriptor: (_, key) => {
        const found = Reflect.getOwnPropertyDescriptor(real(), key);
        return found && { ...found, configurable: true };
      },
    },
  );
}

/**
 * Makes `require(name)` of the module at `from` return a proxy that loads on first use. Does
 * nothing if the module does not exist.
 */
export function loadLate(name: string, from: string): void {
  const require = createRequire(from);
  let file: string;
  try {
    file = require.resolve(name);
  } catch {
    return; // the package that needs it reports it
  }
  if (file in require.cache) return;
  const stub = new Module(file);
  stub.loaded = true;
  stub.exports = onFirstUse(() => {
    // Later calls of `require` get the module itself.
    if (require.cache[file] === stub) Reflect.deleteProperty(require.cache, file);
    return require(file) as object;
  });
  require.cache[file] = stub;
}

for (const [file, names] of Object.entries(late))
  for (const name of names) loadLate(name, require.resolve(file));
