// Simulates the engine during one operation: sends events over the engine's own protocol, prints
// text, waits and exits. engine-stub.sh starts this program.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { hostname } from "node:os";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const directory = process.env.FAKE_ENGINE;
const args = process.argv.slice(2);
const file = (name) => join(directory, name);

async function sendEvents(events) {
  const target = args[args.indexOf("--event-log") + 1].replace("tcp://", "");
  const { EventsClient } = require("@pulumi/pulumi/proto/events_grpc_pb.js");
  const { EventRequest } = require("@pulumi/pulumi/proto/events_pb.js");
  const { credentials } = require("@grpc/grpc-js");
  const client = new EventsClient(target, credentials.createInsecure());
  await new Promise((done, failed) => {
    const stream = client.streamEvents((error) => (error ? failed(error) : done()));
    for (const event of events) {
      const request = new EventRequest();
      request.setEvent(JSON.stringify(event));
      stream.write(request);
    }
    stream.end();
  });
  client.close();
}

/**
 * Runs the Pulumi program in a dry run against a stack without resources. The real engine does the
 * same while it holds the lock of the stack.
 */
async function look() {
  const { LanguageRuntimeClient } = require("@pulumi/pulumi/proto/language_grpc_pb.js");
  const { RunRequest } = require("@pulumi/pulumi/proto/language_pb.js");
  const { ResourceMonitorService } = require("@pulumi/pulumi/proto/resource_grpc_pb.js");
  const { RegisterResourceResponse } = require("@pulumi/pulumi/proto/resource_pb.js");
  const { Empty } = require("google-protobuf/google/protobuf/empty_pb.js");
  const { credentials, Server, ServerCredentials } = require("@grpc/grpc-js");
  const monitor = new Server();
  monitor.addService(ResourceMonitorService, {
    registerResource: (call, answer) => {
      const { request } = call;
      const response = new RegisterResourceResponse();
      response.setUrn(`urn:pulumi:dev::it::${request.getType()}::${request.getName()}`);
      answer(null, response);
    },
    registerResourceOutputs: (call, answer) => answer(null, new Empty()),
  });
  const port = await new Promise((done, failed) => {
    monitor.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
      if (error) failed(error);
      else done(bound);
    });
  });
  const target = args
    .find((argument) => argument.startsWith("--client="))
    .slice("--client=".length);
  const client = new LanguageRuntimeClient(target, credentials.createInsecure());
  const request = new RunRequest();
  request.setProject("it");
  request.setStack("dev");
  request.setDryrun(true);
  request.setMonitorAddress(`127.0.0.1:${port}`);
  const failed = await new Promise((done) => {
    client.run(request, (error, response) => done(error?.message ?? response.getError()));
  });
  client.close();
  monitor.forceShutdown();
  if (failed === "") throw new Error("A program that only holds the lock does not end well.");
}

/**
 * Holds the lock of the stack. With `then: "wait"`, waits for the lock until SIGINT. Writes the PID
 * of this process to the file `held`, so that tests can kill the process.
 */
async function hold({ code = 0, stderr = "", state, then }) {
  process.stderr.write(stderr);
  if (code !== 0) return code;
  if (then === "wait") {
    await interruption(1);
    return 255;
  }
  if (state) writeFileSync(file("state.json"), JSON.stringify({ version: 3, deployment: state }));
  writeFileSync(file("held"), String(process.pid));
  await look();
  rmSync(file("held"));
  return 255;
}

/** Waits for SIGINT signals. */
async function interruption(count) {
  const busy = setInterval(() => undefined, 1000);
  let signals = 0;
  await new Promise((done) => {
    process.on("SIGINT", () => {
      signals += 1;
      if (signals === count) done();
    });
  });
  clearInterval(busy);
}

/** Writes the lock file. Returns a function that deletes the lock file. */
function takeLock(lock) {
  if (lock === undefined) return () => undefined;
  mkdirSync(dirname(lock), { recursive: true });
  const timestamp = new Date().toISOString();
  const content = { pid: process.pid, username: "ann", hostname: hostname(), timestamp };
  writeFileSync(lock, JSON.stringify(content));
  return () => rmSync(lock, { force: true });
}

async function operate({ events = [], code = 0, stdout = "", stderr = "", then, lock }) {
  writeFileSync(file("pid"), String(process.pid));
  const unlock = takeLock(lock);
  const waits = then === "wait" || then === "hang";
  // Listens before the first event, because a test may send a signal after the event.
  const interrupted = waits ? interruption(then === "hang" ? 2 : 1) : undefined;
  await sendEvents(events);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  if (then === "die") process.kill(process.pid, "SIGKILL");
  if (waits) {
    await interrupted;
    unlock();
    process.stderr.write("error: update canceled\n");
    return 255;
  }
  unlock();
  if (args[0] === "destroy" && code === 0) removeDestroyed();
  return code;
}

/**
 * Removes the destroyed resources from the state. Keeps excluded resources, and the resources of
 * the engine. Does nothing in a destroy without excluded resources, after which the stack is
 * removed or only some resources are destroyed.
 */
function removeDestroyed() {
  const excluded = new Set(args.filter((_, index) => args[index - 1] === "--exclude"));
  if (excluded.size === 0 || !existsSync(file("state.json"))) return;
  const state = JSON.parse(readFileSync(file("state.json"), "utf8"));
  const isKept = ({ urn, type }) => excluded.has(urn) || type.startsWith("pulumi:");
  state.deployment.resources = state.deployment.resources.filter(isKept);
  writeFileSync(file("state.json"), JSON.stringify(state));
}

const told = file(`runs/${args[0]}.json`);
const run = existsSync(told) ? JSON.parse(readFileSync(told, "utf8")) : {};
process.exitCode = await (args[0] === "hold" ? hold(run) : operate(run));
