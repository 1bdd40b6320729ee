import { createRequire } from "node:module";

/*
 * Turns off two debugging aids of Pulumi's SDK that this program does not use. The SDK sends each
 * resource's whole answer to the engine as a debug message, one call after another, and records a
 * stack trace for every promise.
 */

/**
 * Module of the SDK. Other modules call this function as a property, so that it can be replaced.
 */
interface Log {
  debug: () => Promise<void>;
}
interface Debuggable {
  debuggablePromise: (promise: Promise<unknown>, context?: unknown) => Promise<unknown>;
}

/** Turns off the debug messages, and the stack traces unless PULUMI_DEBUG_PROMISE_LEAKS is set. */
export function silenceSdk(env: NodeJS.ProcessEnv = process.env): void {
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
