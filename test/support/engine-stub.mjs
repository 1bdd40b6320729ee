// What the engine does during one operation: sends events over the engine's own protocol, prints, waits, ends. See engine-stub.sh.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

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

async function operate({ events = [], code = 0, stdout = "", stderr = "", then }) {
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

process.exitCode = await operate(JSON.parse(readFileSync(file(`runs/${args[0]}.json`), "utf8")));
