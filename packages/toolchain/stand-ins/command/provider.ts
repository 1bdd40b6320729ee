/**
 * Implements the provider's gRPC methods for the `command` package, like the official plugin 1.2.1.
 */
import { randomBytes } from "node:crypto";
import * as grpc from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb.js";
import * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import { listChangedProperties, computeDetailedDiff } from "../plugin/diff.js";
import type { EngineLog } from "../plugin/engine-log.js";
import { createUnaryHandler, createUnimplementedHandler } from "../plugin/serve.js";
import { decodeStruct, hasUnknown, encodeStruct, unknownString } from "../plugin/values.js";
import type { JsonObject } from "../plugin/values.js";
import { startOperation } from "./context.js";
import type { ResourceOperation } from "./context.js";
import {
  findCheckFailures,
  completeInputs,
  parseCopyInputs,
  parseLocalCommandInputs,
  parseRemoteCommandInputs,
} from "./inputs.js";
import type { CommandInputs } from "./inputs.js";
import { copyToRemote } from "./copy-to-remote.js";
import { runLocal } from "./local-command.js";
import { runRemote } from "./remote-command.js";
import type { CommandOutput } from "./remote-command.js";

/** Version of the official plugin whose behaviour is implemented. */
export const officialPluginVersion = "1.2.1";
/**
 * Key that the official plugin adds to its configuration. With this key, a stack can change from
 * the stand-in to the official plugin and back.
 */
const frameworkKey = "__pulumi-go-provider-version";
const frameworkVersion = "v1.5.0";

const copyType = "command:remote:CopyToRemote";
const localType = "command:local:Command";

export interface CommandProviderOptions {
  readonly log: EngineLog;
  readonly env: NodeJS.ProcessEnv;
}

interface Request {
  readonly type: string;
  readonly urn: string;
  readonly timeout: number;
  readonly properties: JsonObject;
}

export class CommandProvider {
  private readonly cancelled = new AbortController();
  private introduced = false;

  constructor(private readonly options: CommandProviderOptions) {}

  /** Returns handlers by method name, for a gRPC server. */
  handlers(): grpc.UntypedServiceImplementation {
    const missing = ["parameterize", "getSchema", "diffConfig", "call", "construct", "list"];
    return {
      ...Object.fromEntries(
        missing.map((method) => [method, createUnimplementedHandler(capital(method))]),
      ),
      handshake: createUnaryHandler(() => accepted(new messages.ProviderHandshakeResponse())),
      checkConfig: createUnaryHandler(checkConfig),
      configure: createUnaryHandler(() => this.configure()),
      invoke: createUnaryHandler((request: messages.InvokeRequest) => {
        throw notHandled(`the function ${request.getTok()}`);
      }),
      check: createUnaryHandler(check),
      diff: createUnaryHandler(diff),
      create: createUnaryHandler((request: messages.CreateRequest) => this.create(request)),
      read: createUnaryHandler(read),
      update: createUnaryHandler((request: messages.UpdateRequest) => this.update(request)),
      delete: createUnaryHandler((request: messages.DeleteRequest) => this.delete(request)),
      cancel: createUnaryHandler(() => {
        this.cancel();
        return new Empty();
      }),
      attach: createUnaryHandler(() => new Empty()),
      getPluginInfo: createUnaryHandler(() => new PluginInfo().setVersion(officialPluginVersion)),
      getMapping: createUnaryHandler(() => new messages.GetMappingResponse()),
      getMappings: createUnaryHandler(() => new messages.GetMappingsResponse()),
    };
  }

  /**
   * Stops connection attempts and local commands. Does not stop a remote command that runs, like
   * the official plugin.
   */
  cancel(): void {
    this.cancelled.abort();
  }

  private configure(): messages.ConfigureResponse {
    if (!this.introduced) {
      const text = `The command plugin is stackadm's stand-in for the official one, ${officialPluginVersion}.`;
      this.options.log.send({ severity: "info", text });
      this.introduced = true;
    }
    return new messages.ConfigureResponse()
      .setAcceptsecrets(true)
      .setAcceptresources(true)
      .setAcceptoutputs(true)
      .setSupportspreview(true);
  }

  private async create(request: messages.CreateRequest): Promise<messages.CreateResponse> {
    const properties = decodeStruct(request.getProperties());
    const type = request.getType() || typeOf(request.getUrn());
    const isCopy = type === copyType;
    const response = new messages.CreateResponse();
    if (request.getPreview()) {
      const outputs = isCopy ? {} : unknownOutputs;
      if (!isCopy) response.setId(uniqueId(request.getName() || nameOf(request.getUrn())));
      return response.setProperties(encodeStruct({ ...properties, ...outputs }));
    }
    const outputs = await this.run(
      { type, urn: request.getUrn(), timeout: request.getTimeout(), properties },
      (inputs) => inputs.create,
    );
    return response
      .setId(uniqueId(isCopy ? "" : request.getName() || nameOf(request.getUrn())))
      .setProperties(encodeStruct({ ...properties, ...outputs }));
  }

  private async update(request: messages.UpdateRequest): Promise<messages.UpdateResponse> {
    const news = decodeStruct(request.getNews());
    const olds = decodeStruct(request.getOlds());
    const type = request.getType() || typeOf(request.getUrn());
    const response = new messages.UpdateResponse();
    if (request.getPreview()) {
      const outputs = type === copyType ? {} : unknownOutputs;
      return response.setProperties(encodeStruct({ ...news, ...outputs }));
    }
    const properties = type === copyType ? news : { ...news, ...previousOutputs(olds) };
    if (type === copyType && !copyNeeded(decodeStruct(request.getOldInputs()), news)) {
      return response.setProperties(encodeStruct(news));
    }
    const outputs = await this.run(
      { type, urn: request.getUrn(), timeout: request.getTimeout(), properties },
      (inputs) => inputs.update ?? inputs.create,
    );
    return response.setProperties(encodeStruct({ ...news, ...outputs }));
  }

  private async delete(request: messages.DeleteRequest): Promise<Empty> {
    const properties = decodeStruct(request.getProperties());
    const type = request.getType() || typeOf(request.getUrn());
    if (type !== copyType && properties["delete"] !== undefined) {
      await this.run(
        { type, urn: request.getUrn(), timeout: request.getTimeout(), properties },
        (inputs) => inputs.delete,
      );
    }
    return new Empty();
  }

  /**
   * Runs a resource's command and returns its outputs. If the resource has no command for this
   * operation, runs nothing and keeps the outputs.
   */
  private async run(
    request: Request,
    choose: (inputs: CommandInputs) => string | undefined,
  ): Promise<JsonObject> {
    const limits = { cancelled: this.cancelled.signal, seconds: request.timeout };
    const running = startOperation(this.options.log, request.urn, limits);
    try {
      return { ...(await this.work(request, choose, running)) };
    } finally {
      running.end();
      await this.options.log.flush();
    }
  }

  private async work(
    { type, properties }: Request,
    choose: (inputs: CommandInputs) => string | undefined,
    running: ResourceOperation,
  ): Promise<CommandOutput | undefined> {
    const environment = { agentSocket: this.options.env["SSH_AUTH_SOCK"] };
    if (type === copyType) {
      await copyToRemote(parseCopyInputs(properties), running, environment);
      return undefined;
    }
    const inputs =
      type === localType
        ? parseLocalCommandInputs(properties)
        : parseRemoteCommandInputs(properties);
    const command = choose(inputs);
    if (command === undefined) return { stdout: inputs.stdout, stderr: inputs.stderr };
    return "connection" in inputs
      ? runRemote(command, inputs, running, environment)
      : runLocal(command, inputs, running, this.options.env);
  }
}

const unknownOutputs: JsonObject = { stdout: unknownString, stderr: unknownString };

function previousOutputs({ stdout, stderr }: JsonObject): JsonObject {
  return { ...(stdout !== undefined && { stdout }), ...(stderr !== undefined && { stderr }) };
}

function accepted(response: messages.ProviderHandshakeResponse): typeof response {
  return response.setAcceptSecrets(true).setAcceptResources(true).setAcceptOutputs(true);
}

function checkConfig(request: messages.CheckRequest): messages.CheckResponse {
  const inputs = { ...decodeStruct(request.getNews()), [frameworkKey]: frameworkVersion };
  return new messages.CheckResponse().setInputs(encodeStruct(inputs));
}

function check(request: messages.CheckRequest): messages.CheckResponse {
  const news = decodeStruct(request.getNews());
  const type = request.getType() || typeOf(request.getUrn());
  const failures = findCheckFailures(type, news).map(({ property, reason }) =>
    new messages.CheckFailure().setProperty(property).setReason(reason),
  );
  return new messages.CheckResponse()
    .setInputs(encodeStruct(completeInputs(news)))
    .setFailuresList(failures);
}

const kinds = {
  ADD: messages.PropertyDiff.Kind.ADD,
  DELETE: messages.PropertyDiff.Kind.DELETE,
  UPDATE: messages.PropertyDiff.Kind.UPDATE,
} as const;

/**
 * Compares the old and the new inputs. This response never requests a replacement, because the
 * SDK's option replaceOnChanges does it (for `triggers`).
 */
function diff(request: messages.DiffRequest): messages.DiffResponse {
  const olds = decodeStruct(request.getOldInputs() ?? request.getOlds());
  const changes = computeDetailedDiff(olds, decodeStruct(request.getNews()));
  const response = new messages.DiffResponse()
    .setHasdetaileddiff(true)
    .setDiffsList(listChangedProperties(changes))
    .setChanges(
      changes.size > 0
        ? messages.DiffResponse.DiffChanges.DIFF_SOME
        : messages.DiffResponse.DiffChanges.DIFF_NONE,
    );
  for (const [path, kind] of changes) {
    response.getDetaileddiffMap().set(path, new messages.PropertyDiff().setKind(kinds[kind]));
  }
  return response;
}

function read(request: messages.ReadRequest): messages.ReadResponse {
  return new messages.ReadResponse()
    .setId(request.getId())
    .setInputs(encodeStruct(decodeStruct(request.getInputs())))
    .setProperties(encodeStruct(decodeStruct(request.getProperties())));
}

function copyNeeded(olds: JsonObject, news: JsonObject): boolean {
  const relevant = ({ source, remotePath }: JsonObject): JsonObject => ({
    source: source ?? null,
    remotePath: remotePath ?? null,
  });
  return hasUnknown(news) || computeDetailedDiff(relevant(olds), relevant(news)).size > 0;
}

function uniqueId(prefix: string): string {
  return prefix + randomBytes(4).toString("hex");
}

/** Returns the type in a URN. A URN ends in `::<parent types>$<type>::<name>`. */
function typeOf(urn: string): string {
  return urn.split("::")[2]?.split("$").at(-1) ?? "";
}

function nameOf(urn: string): string {
  return urn.split("::").slice(3).join("::");
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function notHandled(what: string): Error {
  return new Error(`the stand-in for the command plugin does not have ${what}`);
}
