import Module, { createRequire } from "node:module";

/* Loaded before all packages: what they load for a few of their users only, by the file that requires it. Nobody else waits for it. */
const late = {
  // For functions as text (`pulumi.runtime.serializeFunction`, dynamic providers): the TypeScript compiler, npm's resolver of packages.
  "@pulumi/pulumi/package.json": ["typescript", "@npmcli/arborist", "normalize-package-data"],
  // Charts, kustomizations and files of manifests.
  "@pulumi/kubernetes/package.json": ["./helm", "./kustomize", "./yaml"],
  // What is wrong with a value, in every language but English.
  "zod/package.json": ["./v4/locales/index.cjs"],
};

/** An object that is the module from its first use on. */
function onFirstUse(load: () => object): object {
  let loaded: object | undefined;
  const real = (): object => (loaded ??= load());
  return new Proxy(
    // It may be a function.
    () => undefined,
    {
      apply: (_, self, given: unknown[]) =>
        Reflect.apply(real() as () => unknown, self, given) as unknown,
      // The module's importer copies every property of what it takes for no ES module, and so would load it.
      get: (_, key) => {
        if (key === "__esModule" && !loaded) return true;
        // It has just been told that this is an ES module.
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

/** Has `require(name)`, as the module at `from` writes it, load what it names on first use. Nothing where there is none. */
export function loadLate(name: string, from: string): void {
  const require = createRequire(from);
  let file: string;
  try {
    file = require.resolve(name);
  } catch {
    return; // who needs it says so
  }
  if (file in require.cache) return;
  const stub = new Module(file);
  stub.loaded = true;
  stub.exports = onFirstUse(() => {
    // Whoever asks from now on gets the module itself.
    if (require.cache[file] === stub) Reflect.deleteProperty(require.cache, file);
    return require(file) as object;
  });
  require.cache[file] = stub;
}

for (const [file, names] of Object.entries(late))
  for (const name of names) loadLate(name, require.resolve(file));
