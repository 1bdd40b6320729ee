// Stands for `pulumi`: answers from the files in $FAKE_ENGINE, and sends engine events over the engine's own protocol.
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(import.meta.url);
const directory = process.env.FAKE_ENGINE;
const args = process.argv.slice(2);
const file = (name) => join(directory, name);
const json = (name, otherwise) =>
  existsSync(file(name)) ? JSON.parse(readFileSync(file(name), "utf8")) : otherwise;
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const empty = { version: 3, deployment: {} };

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

async function operate(name) {
  const {
    events = [],
    code = 0,
    stdout = "",
    stderr = "",
    then,
  } = json("runs.json", {})[name] ?? {};
  writeFileSync(file("pid"), String(process.pid));
  let signals = 0;
  const interrupted = new Promise((done) => {
    process.on("SIGINT", () => {
      signals += 1;
      if (signals === (then === "hang" ? 2 : 1)) done();
    });
  });
  await sendEvents(events);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  if (then === "die") process.kill(process.pid, "SIGKILL");
  if (then === "wait" || then === "hang") {
    const busy = setInterval(() => undefined, 1000);
    await interrupted;
    clearInterval(busy);
    process.stderr.write("error: update canceled\n");
    return 255;
  }
  return code;
}

function stack(command) {
  const state = json("state.json");
  switch (command) {
    case "init":
      writeFileSync(file("state.json"), JSON.stringify(empty));
      return 0;
    case "history":
      print([{ kind: "update", startTime: 0, endTime: 0, result: "succeeded", version: 1 }]);
      return 0;
    case "import":
      writeFileSync(file("state.json"), readFileSync(0, "utf8"));
      return 0;
    default:
  }
  if (state === undefined) {
    process.stderr.write("error: no stack named 'dev' found\n");
    return 255;
  }
  if (command === "export") print(state);
  if (command === "rm") rmSync(file("state.json"));
  if (command === "output") {
    const clear = args.includes("--show-secrets");
    const values = Object.entries(json("outputs.json", {}));
    print(
      Object.fromEntries(
        values.map(([name, { value, secret }]) => [name, secret && !clear ? "[secret]" : value]),
      ),
    );
  }
  return 0;
}

appendFileSync(file("calls"), `${args.join(" ")}\n`);
const refusal = json("refusals.json", {})[args.slice(0, 2).join(" ")];
if (refusal !== undefined) {
  process.stderr.write(refusal);
  process.exitCode = 1;
} else if (args[0] === "version") process.stdout.write("v3.250.0\n");
else if (args[0] === "stack") process.exitCode = stack(args[1]);
else if (args[0] !== "cancel") process.exitCode = await operate(args[0]);
