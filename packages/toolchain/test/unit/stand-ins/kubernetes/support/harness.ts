import { credentials, Server, ServerCredentials } from "@grpc/grpc-js";
import type { ServiceError } from "@grpc/grpc-js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import {
  ResourceProviderClient,
  ResourceProviderService,
} from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import * as rpc from "@pulumi/pulumi/proto/provider_pb.js";
import { Status } from "@pulumi/pulumi/proto/status_pb.js";
import type { ResourceMessageLog } from "../../../../../stand-ins/kubernetes/engine-messages.js";
import { KubernetesProvider } from "../../../../../stand-ins/kubernetes/provider.js";
import { decodeStruct, encodeStruct } from "../../../../../stand-ins/plugin/values.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

/** Error that the engine receives if an object was created but is not ready. */
export interface InitFailure {
  readonly id: string;
  readonly properties: JsonObject;
  readonly reasons: readonly string[];
}

type Callback<Response> = (error: ServiceError | null, response: Response) => void;

const answerOf = <Response>(start: (callback: Callback<Response>) => unknown): Promise<Response> =>
  new Promise((resolve, reject) => {
    start((error, response) => {
      if (error) reject(error);
      else resolve(response);
    });
  });

/** Serves the stand-in over real gRPC, and calls the stand-in as the engine does. */
export class Harness {
  private constructor(
    /** All log messages, in the form `severity: message`. */
    readonly messages: readonly string[],
    private readonly server: Server,
    private readonly client: ResourceProviderClient,
  ) {}

  static async start(environment: Record<string, string> = {}): Promise<Harness> {
    const server = new Server();
    const messages: string[] = [];
    const note = (severity: string, _urn: string, message: string) => {
      if (message) messages.push(`${severity}: ${message}`);
    };
    const log: ResourceMessageLog = { log: note, status: note, flush: () => Promise.resolve() };
    const provider = new KubernetesProvider({
      version: "0.0.0-test",
      environment: (name) => environment[name],
      log: () => log,
      timing: { retry: 10, settle: 300 },
    });
    provider.attach("test");
    server.addService(ResourceProviderService, provider.service());
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
        if (error) reject(error);
        else resolve(bound);
      });
    });
    const address = `127.0.0.1:${port}`;
    return new Harness(
      messages,
      server,
      new ResourceProviderClient(address, credentials.createInsecure()),
    );
  }

  async stop(): Promise<void> {
    this.client.close();
    await new Promise<void>((resolve) => {
      this.server.tryShutdown(() => {
        resolve();
      });
    });
  }

  configure(variables: Record<string, string>): Promise<rpc.ConfigureResponse> {
    const request = new rpc.ConfigureRequest();
    for (const [name, value] of Object.entries(variables)) {
      request.getVariablesMap().set(`kubernetes:config:${name}`, value);
    }
    return answerOf<rpc.ConfigureResponse>((callback) => this.client.configure(request, callback));
  }

  async cancel(): Promise<void> {
    await answerOf<Empty>((callback) => this.client.cancel(new Empty(), callback));
  }

  async check(request: JsonObject): Promise<JsonObject> {
    const message = new rpc.CheckRequest();
    message.setUrn(request["urn"] as string);
    message.setOlds(structOf(request["olds"]));
    message.setNews(structOf(request["news"]));
    message.setRandomseed((request["randomSeed"] as string | undefined) ?? "");
    const response = await answerOf<rpc.CheckResponse>((callback) =>
      this.client.check(message, callback),
    );
    return { inputs: decodeStruct(response.getInputs()) };
  }

  private diffRequest(request: JsonObject): rpc.DiffRequest {
    const message = new rpc.DiffRequest();
    message.setId((request["id"] as string | undefined) ?? "");
    message.setUrn(request["urn"] as string);
    message.setOlds(structOf(request["olds"]));
    message.setNews(structOf(request["news"]));
    message.setOldInputs(structOf(request["oldInputs"]));
    message.setIgnorechangesList((request["ignoreChanges"] as string[] | undefined) ?? []);
    return message;
  }

  /** Returns the diff in the form of the transcripts. */
  async diff(request: JsonObject, which: "diff" | "diffConfig" = "diff"): Promise<JsonObject> {
    const message = this.diffRequest(request);
    const response = await answerOf<rpc.DiffResponse>((callback) =>
      this.client[which](message, callback),
    );
    const result: JsonObject = {
      changes: nameOf(rpc.DiffResponse.DiffChanges, response.getChanges()),
    };
    const details: JsonObject = {};
    response.getDetaileddiffMap().forEach((detail, path) => {
      const kind = nameOf(rpc.PropertyDiff.Kind, detail.getKind());
      details[path] = detail.getInputdiff() ? { kind, inputDiff: true } : { kind };
    });
    if (Object.keys(details).length > 0) result["detailedDiff"] = details;
    if (response.getReplacesList().length > 0) result["replaces"] = response.getReplacesList();
    if (response.getDiffsList().length > 0) result["diffs"] = response.getDiffsList();
    if (response.getDeletebeforereplace()) result["deleteBeforeReplace"] = true;
    if (response.getHasdetaileddiff()) result["hasDetailedDiff"] = true;
    return result;
  }

  async create(request: JsonObject): Promise<{ id: string; properties: JsonObject }> {
    const message = new rpc.CreateRequest();
    message.setUrn(request["urn"] as string);
    message.setProperties(structOf(request["properties"]));
    message.setTimeout((request["timeout"] as number | undefined) ?? 0);
    message.setPreview(request["preview"] === true);
    const response = await answerOf<rpc.CreateResponse>((callback) =>
      this.client.create(message, callback),
    );
    return { id: response.getId(), properties: decodeStruct(response.getProperties()) };
  }

  async update(request: JsonObject): Promise<JsonObject> {
    const message = new rpc.UpdateRequest();
    message.setId((request["id"] as string | undefined) ?? "");
    message.setUrn(request["urn"] as string);
    message.setOlds(structOf(request["olds"]));
    message.setNews(structOf(request["news"]));
    message.setTimeout((request["timeout"] as number | undefined) ?? 0);
    message.setPreview(request["preview"] === true);
    message.setIgnorechangesList((request["ignoreChanges"] as string[] | undefined) ?? []);
    const response = await answerOf<rpc.UpdateResponse>((callback) =>
      this.client.update(message, callback),
    );
    return decodeStruct(response.getProperties());
  }

  async read(
    request: JsonObject,
  ): Promise<{ id: string; properties: JsonObject; inputs: JsonObject }> {
    const message = new rpc.ReadRequest();
    message.setId(request["id"] as string);
    message.setUrn(request["urn"] as string);
    message.setProperties(structOf(request["properties"]));
    message.setInputs(structOf(request["inputs"]));
    const response = await answerOf<rpc.ReadResponse>((callback) =>
      this.client.read(message, callback),
    );
    return {
      id: response.getId(),
      properties: decodeStruct(response.getProperties()),
      inputs: decodeStruct(response.getInputs()),
    };
  }

  async delete(request: JsonObject): Promise<void> {
    const message = new rpc.DeleteRequest();
    message.setId(request["id"] as string);
    message.setUrn(request["urn"] as string);
    message.setProperties(structOf(request["properties"]));
    message.setTimeout((request["timeout"] as number | undefined) ?? 0);
    await answerOf<Empty>((callback) => this.client.delete(message, callback));
  }

  async invoke(token: string, args: JsonObject): Promise<JsonObject> {
    const message = new rpc.InvokeRequest();
    message.setTok(token);
    message.setArgs(encodeStruct(args));
    const response = await answerOf<rpc.InvokeResponse>((callback) =>
      this.client.invoke(message, callback),
    );
    return decodeStruct(response.getReturn());
  }
}

const structOf = (value: unknown): Struct | undefined =>
  value === undefined ? undefined : encodeStruct(value as JsonObject);

const nameOf = (names: object, value: number): string =>
  Object.entries(names).find(([, number]) => number === value)?.[0] ?? String(value);

/**
 * Returns the ErrorResourceInitFailed that a gRPC error contains, or undefined if there is none.
 */
export function initFailureOf(error: unknown): InitFailure | undefined {
  const [encoded] = (error as ServiceError).metadata.get("grpc-status-details-bin");
  if (encoded === undefined) return undefined;
  const [detail] = Status.deserializeBinary(Buffer.from(encoded)).getDetailsList();
  if (detail?.getTypeName() !== "pulumirpc.ErrorResourceInitFailed") return undefined;
  const failed = rpc.ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8());
  return {
    id: failed.getId(),
    properties: decodeStruct(failed.getProperties()),
    reasons: failed.getReasonsList(),
  };
}
