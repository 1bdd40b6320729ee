import assert from "node:assert/strict";
import * as grpc from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb.js";
import {
  RemoteEngineLog,
  unlimitedMessageOptions,
} from "../../../../stand-ins/plugin/engine-log.js";

describe("RemoteEngineLog", () => {
  let server: grpc.Server;
  let address: string;
  let seen: LogRequest.AsObject[];
  /** Receives each message, before the engine confirms it. */
  let receive: (message: LogRequest.AsObject) => Promise<void>;

  beforeEach(async () => {
    seen = [];
    receive = () => Promise.resolve();
    server = new grpc.Server(unlimitedMessageOptions);
    const log: grpc.handleUnaryCall<LogRequest, Empty> = (call, callback) => {
      const message = call.request.toObject();
      receive(message).then(
        () => {
          seen.push(message);
          callback(null, new Empty());
        },
        () => {
          callback({ code: grpc.status.INTERNAL });
        },
      );
    };
    server.addService({ log: EngineService.log }, { log });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) => {
        if (error) reject(error);
        else resolve(bound);
      });
    });
    address = `127.0.0.1:${port}`;
  });
  afterEach(() => {
    server.forceShutdown();
  });

  it("delivers messages in order with any delay of the engine", async () => {
    const log = new RemoteEngineLog(address);
    receive = ({ message }) =>
      new Promise((done) => (message === "0" ? setTimeout(done, 50) : setImmediate(done)));
    for (let i = 0; i < 20; i++) log.send({ severity: "info", text: String(i) });
    await log.flush();
    assert.deepEqual(
      seen.map(({ message }) => message),
      Array.from({ length: 20 }, (_, i) => String(i)),
    );
  });

  it("sends severity, resource and whether the message is ephemeral", async () => {
    const log = new RemoteEngineLog(address);
    log.send({ severity: "warning", text: "w", urn: "urn:x" });
    log.send({ severity: "error", text: "e", ephemeral: true });
    await log.flush();
    assert.deepEqual(
      seen.map(({ severity, urn, ephemeral }) => [severity, urn, ephemeral]),
      [
        [2, "urn:x", false],
        [3, "", true],
      ],
    );
  });

  it("sends messages larger than gRPC's default of 4 MB, such as a command's output", async () => {
    const log = new RemoteEngineLog(address);
    log.send({ severity: "info", text: "x".repeat(5 * 2 ** 20) });
    await log.flush();
    assert.equal(seen[0]?.message.length, 5 * 2 ** 20);
  });

  it("continues with the next message if the engine refuses one", async () => {
    const log = new RemoteEngineLog(address);
    receive = ({ message }) =>
      message === "bad" ? Promise.reject(new Error()) : Promise.resolve();
    for (const text of ["bad", "good"]) log.send({ severity: "info", text });
    await log.flush();
    assert.deepEqual(
      seen.map(({ message }) => message),
      ["good"],
    );
  });

  it("does not wait forever if the engine is gone", async () => {
    const log = new RemoteEngineLog(address);
    server.forceShutdown();
    log.send({ severity: "info", text: "into the void" });
    await log.flush();
  });
});
