import assert from "node:assert/strict";
import { resolve } from "node:path";
import { run } from "../../../../base/run-command.js";

const root = resolve(__dirname, "..", "..", "..", "..");

/** Returns the output of a process that uses the SDK like the worker. */
async function printed(script: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const silence = `require("./automation/engine/silence-sdk.ts").silenceSdk();`;
  const args = ["--import", "tsx", "--eval", `${silence}\n${script}`];
  const { stdout } = await run(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
  });
  return stdout;
}

const debug = `
  const sent = [];
  const engine = { log: (request, done) => { sent.push(request.getMessage()); done(); } };
  const settings = require("@pulumi/pulumi/runtime/settings.js");
  settings.getEngine = () => engine;
  settings.rpcKeepAlive = () => () => undefined;
  const { log } = require("@pulumi/pulumi");
  void log.debug("for nobody").then(() => log.info("for people")).then(() => console.log(sent.join()));`;

const trace = `
  const { debuggablePromise } = require("@pulumi/pulumi/runtime/debuggable.js");
  const promise = Promise.resolve();
  void debuggablePromise(promise);
  console.log(promise._debugStackTrace.includes("at "), new Error("is whole").stack.includes("at "));`;

describe("the SDK in the process of an operation", function () {
  this.timeout(60_000);

  it("tells the engine what is for people, and not what is for whoever debugs the SDK", async () => {
    assert.equal(await printed(debug), "for people\n");
  });

  it("keeps no stack trace of each promise, unless promises are looked for", async () => {
    assert.equal(await printed(trace), "false true\n");
    assert.equal(await printed(trace, { PULUMI_DEBUG_PROMISE_LEAKS: "1" }), "true true\n");
  });
});
