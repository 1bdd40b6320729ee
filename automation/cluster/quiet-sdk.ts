import { createRequire } from "node:module";

/*
 * What the SDK does for whoever debugs it, and nobody sees here: it sends the engine each resource's whole answer as a debug message,
 * one call after another, and keeps a stack trace of every promise.
 */

/** Functions of the SDK that its modules call by the object that holds them. */
interface Log {
  debug: () => Promise<void>;
}
interface Debuggable {
  debuggablePromise: (promise: Promise<unknown>, context?: unknown) => Promise<unknown>;
}

/** Has the SDK do without the first, and without the second unless somebody looks for promises that are never kept. */
export function quieten(env: NodeJS.ProcessEnv = process.env): void {
  const sdk = createRequire(require.resolve("@pulumi/pulumi/package.json"));
  (sdk("./log/index.js") as Log).debug = () => Promise.resolve();
  if (env["PULUMI_DEBUG_PROMISE_LEAKS"] !== undefined) return;
  const promises = sdk("./runtime/debuggable.js") as Debuggable;
  const original = promises.debuggablePromise;
  promises.debuggablePromise = (promise, context) => {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    try {
      return original(promise, context);
    } finally {
      Error.stackTraceLimit = limit;
    }
  };
}
