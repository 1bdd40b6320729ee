import { status } from "@grpc/grpc-js";
import type {
  handleUnaryCall,
  sendUnaryData,
  ServerUnaryCall,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { homedir } from "node:os";
import { join } from "node:path";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import type { PluginAttach } from "@pulumi/pulumi/proto/plugin_pb.js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb.js";
import * as rpc from "@pulumi/pulumi/proto/provider_pb.js";
import { checkResource } from "./operations/check.js";
import type { Autonaming } from "./operations/check.js";
import { createResource } from "./operations/create.js";
import { deleteResource } from "./operations/delete.js";
import { diffResource } from "./operations/diff.js";
import type { ResourceDiff } from "./operations/diff.js";
import { toServiceError } from "./errors.js";
import { getTextAt } from "./objects/json.js";
import { getGvk, parseGvkFromUrn, isCrd } from "./objects/kinds.js";
import { createEngineLog } from "./engine-messages.js";
import type { ResourceMessageLog } from "./engine-messages.js";
import { readResource } from "./operations/read.js";
import { openProviderSession } from "./session.js";
import type { ProviderSession, Timing } from "./session.js";
import { diffConfig, readProviderSettings } from "./settings.js";
import { updateResource } from "./operations/update.js";
import { toKubernetesObject } from "./objects/wire.js";
import { decodeYaml } from "./objects/yaml.js";
import { decodeStruct, encodeStruct } from "../plugin/values.js";

/**
 * Returns a gRPC handler that answers with the result of `work`. The handler waits for `settle`
 * before it sends the answer.
 */
function unary<Request, Response>(
  work: (request: Request) => Promise<Response>,
  settle: () => Promise<void> = () => Promise.resolve(),
): handleUnaryCall<Request, Response> {
  return (call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>) => {
    work(call.request)
      .finally(settle)
      .then(
        (response) => {
          callback(null, response);
        },
        (error: unknown) => {
          callback(toServiceError(error));
        },
      );
  };
}

/** Returns a gRPC handler that answers every call with UNIMPLEMENTED and an error message. */
const refuse =
  (what: string): handleUnaryCall<unknown, unknown> =>
  (_call, callback) => {
    callback({
      code: status.UNIMPLEMENTED,
      details: `the stand-in for the kubernetes provider does not handle ${what}`,
    });
  };

export interface ProviderServiceOptions {
  /**
   * Version that the plugin reports to the engine: the version of the official plugin that the
   * stand-in replaces, which is also the version of the SDK.
   */
  readonly version: string;
  /** Returns the value of an environment variable. */
  readonly environment: (name: string) => string | undefined;
  readonly timing?: Timing;
  /** Creates the log for the engine's address. @default a log that sends messages to the engine */
  readonly log?: (address: string) => ResourceMessageLog;
}

/** Implementation of Pulumi's gRPC service `ResourceProvider` for the package `kubernetes`. */
export class KubernetesProvider {
  private log: ResourceMessageLog | undefined;
  private session: ProviderSession | undefined;
  private readonly cancelling = new AbortController();

  constructor(private readonly options: ProviderServiceOptions) {}

  /**
   * Sets the engine's address, to which the plugin sends log messages. The engine passes the
   * address on the command line, or calls the gRPC method Attach.
   */
  attach(address: string): void {
    this.log = (this.options.log ?? createEngineLog)(address);
  }

  /** Aborts all operations, including waits for the readiness of an object. */
  cancel(): void {
    this.cancelling.abort();
  }

  /**
   * Returns the gRPC handlers. Like the official plugin, the service has no handler for Handshake,
   * so the engine calls Configure.
   */
  service(): UntypedServiceImplementation {
    // The answer ends an operation on a resource. Before that, the engine must have received all
    // messages about the resource.
    const told = () => this.log?.flush() ?? Promise.resolve();
    return {
      getPluginInfo: unary(() => {
        const info = new PluginInfo();
        info.setVersion(this.options.version);
        return Promise.resolve(info);
      }),
      getSchema: unary(() => {
        const schema = new rpc.GetSchemaResponse();
        schema.setSchema(JSON.stringify({ name: "kubernetes", version: this.options.version }));
        return Promise.resolve(schema);
      }),
      attach: unary((request: PluginAttach) => {
        this.attach(request.getAddress());
        return Promise.resolve(new Empty());
      }),
      cancel: unary(() => {
        this.cancel();
        return Promise.resolve(new Empty());
      }),
      checkConfig: unary((request: rpc.CheckRequest) => this.checkConfig(request)),
      diffConfig: unary((request: rpc.DiffRequest) => this.diffConfig(request)),
      configure: unary((request: rpc.ConfigureRequest) => this.configure(request), told),
      invoke: unary((request: rpc.InvokeRequest) => this.invoke(request)),
      check: unary((request: rpc.CheckRequest) => this.check(request)),
      diff: unary((request: rpc.DiffRequest) => this.diff(request)),
      create: unary((request: rpc.CreateRequest) => this.create(request), told),
      read: unary((request: rpc.ReadRequest) => this.read(request), told),
      update: unary((request: rpc.UpdateRequest) => this.update(request), told),
      delete: unary((request: rpc.DeleteRequest) => this.delete(request), told),
      construct: refuse("component resources of the provider (yaml/v2, helm.v4)"),
      call: refuse("method calls"),
    };
  }

  private get configured(): ProviderSession {
    if (!this.session) throw new Error("the provider is not configured");
    return this.session;
  }

  private checkConfig(request: rpc.CheckRequest): Promise<rpc.CheckResponse> {
    const response = new rpc.CheckResponse();
    response.setInputs(request.getNews());
    return Promise.resolve(response);
  }

  private diffConfig(request: rpc.DiffRequest): Promise<rpc.DiffResponse> {
    const response = new rpc.DiffResponse();
    const olds = toKubernetesObject(decodeStruct(request.getOlds()));
    const found = diffConfig(olds, toKubernetesObject(decodeStruct(request.getNews())));
    const { DIFF_NONE, DIFF_SOME } = rpc.DiffResponse.DiffChanges;
    response.setChanges(found ? DIFF_SOME : DIFF_NONE);
    response.setDiffsList([...(found?.diffs ?? [])]);
    response.setReplacesList([...(found?.replaces ?? [])]);
    return Promise.resolve(response);
  }

  private async configure(request: rpc.ConfigureRequest): Promise<rpc.ConfigureResponse> {
    const variables = request.getVariablesMap();
    const { environment } = this.options;
    const log = this.log ?? createEngineLog("127.0.0.1:0");
    const home = environment("HOME") ?? homedir();
    this.session = await openProviderSession({
      settings: readProviderSettings(
        (name) => variables.get(`kubernetes:config:${name}`),
        environment,
      ),
      log,
      signal: this.cancelling.signal,
      timing: this.options.timing,
      defaultKubeconfig: environment("KUBECONFIG") ?? join(home, ".kube", "config"),
    });
    log.log("debug", "", "kubernetes: this is stackadm's stand-in, not the official provider");
    const response = new rpc.ConfigureResponse();
    response.setAcceptsecrets(true);
    response.setSupportspreview(true);
    response.setSupportsAutonamingConfiguration(true);
    return response;
  }

  private async invoke(request: rpc.InvokeRequest): Promise<rpc.InvokeResponse> {
    if (request.getTok() !== "kubernetes:yaml:decode") {
      throw new Error(
        `the stand-in for the kubernetes provider does not know the function "${request.getTok()}"`,
      );
    }
    const args = toKubernetesObject(decodeStruct(request.getArgs()));
    const namespace = getTextAt(args, "defaultNamespace") || undefined;
    // The engine may call this function before Configure. The scope of a kind is then unknown, and
    // all kinds count as namespaced.
    const isNamespaced = async (gvk: ReturnType<typeof getGvk>) =>
      this.session ? this.session.isNamespaced(gvk) : Promise.resolve(true);
    const response = new rpc.InvokeResponse();
    const result = await decodeYaml(getTextAt(args, "text"), namespace, isNamespaced);
    response.setReturn(encodeStruct({ result }));
    return response;
  }

  private async check(request: rpc.CheckRequest): Promise<rpc.CheckResponse> {
    const session = this.configured;
    const urn = request.getUrn();
    const asked = request.getAutonaming();
    const autonaming: Autonaming | undefined = asked && {
      disabled: asked.getMode() === rpc.CheckRequest.AutonamingOptions.Mode.DISABLE,
      proposedName: asked.getProposedName(),
    };
    const inputs = checkResource({
      urn,
      olds: decodeStruct(request.getOlds()),
      news: decodeStruct(request.getNews()),
      randomSeed: request.getRandomseed_asU8(),
      autonaming,
      namespace: (await session.isNamespaced(parseGvkFromUrn(urn))) ? session.namespace : undefined,
    });
    const object = toKubernetesObject(inputs);
    if (isCrd(object)) session.plan(object);
    const response = new rpc.CheckResponse();
    response.setInputs(encodeStruct(inputs));
    return response;
  }

  private async diff(request: rpc.DiffRequest): Promise<rpc.DiffResponse> {
    const session = this.configured;
    const news = decodeStruct(request.getNews());
    const found = diffResource({
      olds: decodeStruct(request.getOlds()),
      news,
      ignoreChanges: request.getIgnorechangesList(),
      namespaced: await session.isNamespaced(getGvk(toKubernetesObject(news))),
      mutability: {
        configMaps: session.settings.configMapsMutable,
        secrets: session.settings.secretsMutable,
      },
    });
    return diffResponse(found);
  }

  private async create(request: rpc.CreateRequest): Promise<rpc.CreateResponse> {
    const created = await createResource(this.configured, {
      urn: request.getUrn(),
      properties: decodeStruct(request.getProperties()),
      timeout: request.getTimeout(),
      preview: request.getPreview(),
    });
    const response = new rpc.CreateResponse();
    response.setId(created.id);
    response.setProperties(encodeStruct(created.properties));
    return response;
  }

  private async read(request: rpc.ReadRequest): Promise<rpc.ReadResponse> {
    const found = await readResource(this.configured, {
      urn: request.getUrn(),
      id: request.getId(),
      properties: decodeStruct(request.getProperties()),
      inputs: decodeStruct(request.getInputs()),
    });
    const response = new rpc.ReadResponse();
    if (!found) return response;
    response.setId(found.id);
    response.setProperties(encodeStruct(found.properties));
    response.setInputs(encodeStruct(found.inputs));
    return response;
  }

  private async update(request: rpc.UpdateRequest): Promise<rpc.UpdateResponse> {
    const state = await updateResource(this.configured, {
      urn: request.getUrn(),
      olds: decodeStruct(request.getOlds()),
      news: decodeStruct(request.getNews()),
      ignoreChanges: request.getIgnorechangesList(),
      timeout: request.getTimeout(),
      preview: request.getPreview(),
    });
    const response = new rpc.UpdateResponse();
    response.setProperties(encodeStruct(state));
    return response;
  }

  private async delete(request: rpc.DeleteRequest): Promise<Empty> {
    await deleteResource(this.configured, {
      urn: request.getUrn(),
      id: request.getId(),
      properties: decodeStruct(request.getProperties()),
      timeout: request.getTimeout(),
    });
    return new Empty();
  }
}

const { Kind } = rpc.PropertyDiff;
const kinds = {
  ADD: [Kind.ADD, Kind.ADD_REPLACE],
  DELETE: [Kind.DELETE, Kind.DELETE_REPLACE],
  UPDATE: [Kind.UPDATE, Kind.UPDATE_REPLACE],
} as const;

function diffResponse(found: ResourceDiff): rpc.DiffResponse {
  const response = new rpc.DiffResponse();
  const { DIFF_NONE, DIFF_SOME } = rpc.DiffResponse.DiffChanges;
  response.setChanges(found.changes.size > 0 ? DIFF_SOME : DIFF_NONE);
  response.setReplacesList([...found.replaces]);
  response.setDeletebeforereplace(found.deleteBeforeReplace);
  response.setHasdetaileddiff(true);
  for (const [path, change] of found.changes) {
    const detail = new rpc.PropertyDiff();
    detail.setKind(kinds[change.kind][change.replaces ? 1 : 0]);
    detail.setInputdiff(change.kind === "DELETE");
    response.getDetaileddiffMap().set(path, detail);
  }
  return response;
}
