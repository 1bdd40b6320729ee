import { createRequire } from "node:module";
import { credentials } from "@grpc/grpc-js";

/*
 * Calls the transforms of a program as Pulumi's engine does: first those of the resource, then those
 * of its ancestors. Source: pulumi 3.246.0, pkg/resource/deploy/source_eval.go, RegisterResource.
 */

/** Message of Pulumi's protocol. Pulumi ships its generated classes without usable types. */
export type Message = Readonly<Record<string, (...values: unknown[]) => unknown>>;

type Class = new (...values: unknown[]) => Message;
const load = createRequire(__filename);
const { TransformRequest, TransformResourceOptions, TransformResponse } = load(
  "@pulumi/pulumi/proto/resource_pb.js",
) as {
  readonly TransformRequest: Class;
  readonly TransformResourceOptions: Class;
  readonly TransformResponse: { deserializeBinary(bytes: unknown): Message };
};
const { CallbackInvokeRequest } = load("@pulumi/pulumi/proto/callback_pb.js") as {
  readonly CallbackInvokeRequest: Class;
};
const { CallbacksClient } = load("@pulumi/pulumi/proto/callback_grpc_pb.js") as {
  readonly CallbacksClient: new (
    target: unknown,
    credential: unknown,
  ) => {
    invoke(
      request: Message,
      answer: (error: Error | null, response: Message | undefined) => void,
    ): void;
    close(): void;
  };
};

const call = (message: Message | undefined, method: string, ...values: unknown[]): unknown =>
  message?.[method]?.(...values);

/** Fields that the options of a transform and a registration have in common: getter, setter. */
const fields: readonly (readonly [string, string])[] = [
  ["DependsOnList", "DependenciesList"],
  ["Protect", "Protect"],
  ["IgnoreChangesList", "IgnorechangesList"],
  ["ReplaceOnChangesList", "ReplaceonchangesList"],
  ["ReplacementTrigger", "ReplacementTrigger"],
  ["Version", "Version"],
  ["AliasesList", "AliasesList"],
  ["Provider", "Provider"],
  ["CustomTimeouts", "Customtimeouts"],
  ["PluginDownloadUrl", "Plugindownloadurl"],
  ["RetainOnDelete", "Retainondelete"],
  ["DeletedWith", "Deletedwith"],
  ["ReplaceWithList", "ReplaceWithList"],
  ["DeleteBeforeReplace", "Deletebeforereplace"],
  ["AdditionalSecretOutputsList", "AdditionalsecretoutputsList"],
  ["Hooks", "Hooks"],
  ["HideDiffList", "HidediffsList"],
  ["Import", "Importid"],
];

function optionsOf(request: Message): Message {
  const options = new TransformResourceOptions();
  for (const [mine, theirs] of fields)
    call(options, `set${mine}`, call(request, `get${theirs}`) ?? undefined);
  return options;
}

/** Writes options that a transform returned. The engine ignores `dependsOn` of an ancestor. */
function applyOptions(request: Message, options: Message): void {
  for (const [mine, theirs] of fields)
    if (mine !== "DependsOnList") call(request, `set${theirs}`, call(options, `get${mine}`));
}

const invoke = (callback: Message, request: Message): Promise<Message> =>
  new Promise((resolve, reject) => {
    const client = new CallbacksClient(call(callback, "getTarget"), credentials.createInsecure());
    const asked = new CallbackInvokeRequest();
    call(asked, "setToken", call(callback, "getToken"));
    call(asked, "setRequest", call(request, "serializeBinary"));
    client.invoke(asked, (error, response) => {
      client.close();
      if (error) reject(error);
      else resolve(TransformResponse.deserializeBinary(call(response, "getResponse_asU8")));
    });
  });

/** Transforms of the resources that a program has registered. */
export class EngineTransforms {
  readonly #transforms = new Map<string, readonly Message[]>();
  readonly #parents = new Map<string, string>();

  /** Records a registered resource, whose transforms also apply to its descendants. */
  record(urn: string, request: Message): void {
    this.#parents.set(urn, String(call(request, "getParent")));
    this.#transforms.set(urn, call(request, "getTransformsList") as readonly Message[]);
  }

  /** Changes a request by all transforms that apply to it. */
  async change(request: Message): Promise<void> {
    const inherited: Message[] = [];
    let parent = String(call(request, "getParent"));
    while (parent !== "") {
      inherited.push(...(this.#transforms.get(parent) ?? []));
      parent = this.#parents.get(parent) ?? "";
    }
    const own = call(request, "getTransformsList") as readonly Message[];
    for (const callback of [...own, ...inherited]) {
      const asked = new TransformRequest();
      for (const field of ["Type", "Name", "Custom", "Parent"])
        call(asked, `set${field}`, call(request, `get${field}`));
      call(asked, "setProperties", call(request, "getObject"));
      call(asked, "setOptions", optionsOf(request));
      const response = await invoke(callback, asked);
      call(request, "setObject", call(response, "getProperties"));
      const options = call(response, "getOptions") as Message | undefined;
      if (options !== undefined) applyOptions(request, options);
    }
  }
}
