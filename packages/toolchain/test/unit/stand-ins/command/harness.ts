/** Serves the stand-in over real gRPC, with a fake engine that records the messages it receives. */
import * as grpc from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb.js";
import {
  ResourceProviderClient,
  ResourceProviderService,
} from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import { CommandProvider } from "../../../../stand-ins/command/provider.js";
import { RemoteEngineLog } from "../../../../stand-ins/plugin/engine-log.js";
import { signatureKey, signatures, encodeStruct } from "../../../../stand-ins/plugin/values.js";
import type { Json, JsonObject } from "../../../../stand-ins/plugin/values.js";

export interface Told {
  readonly severity: number;
  readonly text: string;
  readonly urn: string;
  readonly ephemeral: boolean;
}

export interface Call {
  readonly type: string;
  readonly name?: string;
  readonly news?: JsonObject;
  readonly olds?: JsonObject;
  readonly oldInputs?: JsonObject;
  readonly preview?: boolean;
  /** Timeout in seconds. */
  readonly timeout?: number;
}

export class Harness {
  readonly told: Told[] = [];
  readonly provider: CommandProvider;
  private constructor(
    readonly client: ResourceProviderClient,
    private readonly servers: grpc.Server[],
    engine: number,
    env: NodeJS.ProcessEnv,
  ) {
    const log = new RemoteEngineLog(`127.0.0.1:${engine}`);
    this.provider = new CommandProvider({ log, env });
  }

  static async start(env: NodeJS.ProcessEnv = { PATH: process.env["PATH"] }): Promise<Harness> {
    const engine = new grpc.Server();
    const server = new grpc.Server({ "grpc.max_receive_message_length": -1 });
    const enginePort = await bound(engine);
    const port = await bound(server);
    const client = new ResourceProviderClient(
      `127.0.0.1:${port}`,
      grpc.credentials.createInsecure(),
      { "grpc.max_receive_message_length": -1 },
    );
    const harness = new Harness(client, [engine, server], enginePort, env);
    engine.addService(EngineService, {
      log: (
        call: grpc.ServerUnaryCall<LogRequest, Empty>,
        callback: grpc.sendUnaryData<Empty>,
      ): void => {
        const { request } = call;
        harness.told.push({
          severity: request.getSeverity(),
          text: request.getMessage(),
          urn: request.getUrn(),
          ephemeral: request.getEphemeral(),
        });
        callback(null, new Empty());
      },
    });
    server.addService(ResourceProviderService, harness.provider.handlers());
    return harness;
  }

  stop(): void {
    this.client.close();
    for (const server of this.servers) server.forceShutdown();
  }

  /** Returns the lines that the engine displayed while it worked on a resource. */
  get lines(): string[] {
    return this.told.filter(({ ephemeral }) => ephemeral).map(({ text }) => text);
  }

  create(call: Call): Promise<messages.CreateResponse> {
    const request = new messages.CreateRequest()
      .setUrn(urn(call))
      .setType(call.type)
      .setName(call.name ?? "it")
      .setPreview(call.preview ?? false)
      .setTimeout(call.timeout ?? 0)
      .setProperties(encodeStruct(call.news ?? {}));
    return new Promise((resolve, reject) => {
      this.client.create(request, settle(resolve, reject));
    });
  }

  update(call: Call): Promise<messages.UpdateResponse> {
    const request = new messages.UpdateRequest()
      .setUrn(urn(call))
      .setType(call.type)
      .setPreview(call.preview ?? false)
      .setOlds(encodeStruct(call.olds ?? {}))
      .setOldInputs(encodeStruct(call.oldInputs ?? {}))
      .setNews(encodeStruct(call.news ?? {}));
    return new Promise((resolve, reject) => {
      this.client.update(request, settle(resolve, reject));
    });
  }

  delete(call: Call): Promise<Empty> {
    const request = new messages.DeleteRequest()
      .setUrn(urn(call))
      .setType(call.type)
      .setProperties(encodeStruct(call.olds ?? {}));
    return new Promise((resolve, reject) => {
      this.client.delete(request, settle(resolve, reject));
    });
  }

  check(call: Call): Promise<messages.CheckResponse> {
    const request = new messages.CheckRequest()
      .setUrn(urn(call))
      .setType(call.type)
      .setNews(encodeStruct(call.news ?? {}));
    return new Promise((resolve, reject) => {
      this.client.check(request, settle(resolve, reject));
    });
  }
}

export function urn({ type, name }: Call): string {
  return `urn:pulumi:dev::test::${type}::${name ?? "it"}`;
}

export function secret(value: Json): JsonObject {
  return { [signatureKey]: signatures.secret, value };
}

/**
 * Returns a callback for a gRPC call. The callback resolves with the value, or rejects with the
 * text of the status as the message.
 */
export function settle<T>(
  resolve: (value: T) => void,
  reject: (error: Error) => void,
): (error: grpc.ServiceError | null, value: T) => void {
  return (error, value) => {
    if (error) reject(Object.assign(new Error(error.details), { code: error.code }));
    else resolve(value);
  };
}

function bound(server: grpc.Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error);
      else resolve(port);
    });
  });
}
