import { createRequire } from "node:module";
import * as pulumi from "@pulumi/pulumi";
import { getMonitor } from "@pulumi/pulumi/runtime/settings.js";
import { EngineTransforms, type Message } from "./engine-transforms.js";
import { replace } from "../replace-property.js";

/** Resource registration in the form in which the engine receives it. */
export interface Row {
  readonly urn: string;
  readonly type: string;
  readonly name: string;
  readonly custom: boolean;
  readonly parent: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** URNs of the resources on which this resource depends, explicitly or through its inputs. */
  readonly dependencies: readonly string[];
  /** Map from an input to the URNs on which the input depends. */
  readonly propertyDependencies: Readonly<Record<string, readonly string[]>>;
  readonly ignoreChanges: readonly string[];
  readonly replaceOnChanges: readonly string[];
  /** URNs of the resources whose replacement also replaces this resource. */
  readonly replaceWith: readonly string[];
  /** Value whose change replaces the resource. */
  readonly replacementTrigger: unknown;
  readonly deleteBeforeReplace: boolean;
  /** Limits of the operations, for example `5m`. */
  readonly timeouts: Readonly<Record<"create" | "update" | "delete", string>>;
  readonly deletedWith: string;
  readonly protect: boolean;
  readonly retainOnDelete: boolean;
  readonly provider: string;
  /** Version of the plugin that the resource requests. */
  readonly version: string;
  readonly secretOutputs: readonly string[];
  readonly hooks: readonly string[];
  /** URNs that the resource may have in a state of an earlier release. */
  readonly aliases: readonly string[];
}

export interface GraphOptions {
  /**
   * Whether to simulate `pulumi preview` of an empty stack: nothing exists, and all outputs are
   * unknown.
   */
  readonly preview?: boolean;
  readonly stack?: string;
  /** Additional outputs of a resource, by type. */
  readonly outputs?: Readonly<Record<string, (inputs: Fields, name: string) => Fields>>;
  /** Returns the ID of a resource by its name. @default `<name>-id` */
  readonly ids?: (name: string) => string;
  /**
   * Functions that return the answer of a provider function, by the token of the function.
   * `provider` is the reference of the provider. It is empty for the default provider.
   */
  readonly lookups?: Readonly<Record<string, (inputs: Fields, provider?: string) => Fields>>;
  /**
   * Function that creates each resource, including components, and returns its ID and outputs. If
   * it is set, `outputs` and `ids` are ignored.
   * @default resources are not created
   */
  readonly make?: (asked: ResourceRequest) => Promise<CreatedResource>;
}

export interface ResourceRequest {
  readonly type: string;
  readonly name: string;
  /** Inputs in the form in which the engine receives them, including secrets. */
  readonly inputs: Fields;
}

export interface CreatedResource {
  readonly id: string;
  readonly outputs: Fields;
}

export type Fields = Readonly<Record<string, unknown>>;

/** Alias of a resource: a former URN, or a former name, type or parent. */
interface Alias {
  getUrn(): string;
  getSpec(): { getName(): string; getType(): string; getParenturn(): string } | undefined;
}
/**
 * Methods of a registration request that this file reads. Pulumi ships the generated class without
 * types.
 */
interface Request {
  getType(): string;
  getName(): string;
  getCustom(): boolean;
  getParent(): string;
  getProvider(): string;
  getVersion(): string;
  getProtect(): boolean;
  getDependenciesList(): string[];
  getIgnorechangesList(): string[];
  getReplaceonchangesList(): string[];
  getReplaceWithList(): string[];
  getReplacementTrigger(): { toJavaScript(): unknown } | undefined;
  getDeletebeforereplace(): boolean;
  getCustomtimeouts():
    { getCreate(): string; getUpdate(): string; getDelete(): string } | undefined;
  getDeletedwith(): string;
  getRetainondelete(): boolean;
  getAdditionalsecretoutputsList(): string[];
  getAliasesList(): Alias[];
  getPropertydependenciesMap(): {
    forEach(each: (value: { getUrnsList(): string[] }, key: string) => void): void;
  };
  getHooks():
    | {
        getAfterCreateList(): string[];
        getBeforeUpdateList(): string[];
        getBeforeDeleteList(): string[];
        getOnErrorList(): string[];
      }
    | undefined;
}
type Answer = (
  error: Error | null,
  response: { getUrn(): string; getId(): string } | undefined,
) => void;
interface Monitor {
  registerResource(request: Request, answer: Answer): Promise<void>;
  registerResourceHook?: (
    request: unknown,
    answer: (error: null, response: object) => void,
  ) => void;
  registerErrorHook?: (request: unknown, answer: (error: null, response: object) => void) => void;
}

const hooksOf = (request: Request): string[] => {
  const hooks = request.getHooks();
  return hooks
    ? [
        ...hooks.getAfterCreateList(),
        ...hooks.getBeforeUpdateList(),
        ...hooks.getBeforeDeleteList(),
        ...hooks.getOnErrorList(),
      ]
    : [];
};

const aliasesOf = (request: Request, urn: string): string[] =>
  request.getAliasesList().map((alias) => {
    const spec = alias.getSpec();
    if (!spec) return alias.getUrn();
    const [stack, project, types = ""] = (spec.getParenturn() || request.getParent()).split("::");
    const type = `${types}$${spec.getType() || request.getType()}`;
    return [stack, project, type, spec.getName() || urn.split("::").at(-1)].join("::");
  });

const propertyDependenciesOf = (request: Request): Record<string, readonly string[]> => {
  const found: Record<string, readonly string[]> = {};
  request.getPropertydependenciesMap().forEach((urns, property) => {
    found[property] = urns.getUrnsList().sort();
  });
  return found;
};

const timeoutsOf = (request: Request): Row["timeouts"] => {
  const given = request.getCustomtimeouts();
  return {
    create: given?.getCreate() ?? "",
    update: given?.getUpdate() ?? "",
    delete: given?.getDelete() ?? "",
  };
};

const rowOf = (request: Request, urn: string, inputs: Fields): Row => ({
  urn,
  inputs,
  type: request.getType(),
  name: request.getName(),
  custom: request.getCustom(),
  parent: request.getParent(),
  provider: request.getProvider(),
  version: request.getVersion(),
  dependencies: request.getDependenciesList().sort(),
  propertyDependencies: propertyDependenciesOf(request),
  ignoreChanges: request.getIgnorechangesList(),
  replaceOnChanges: request.getReplaceonchangesList(),
  replaceWith: request.getReplaceWithList(),
  replacementTrigger: request.getReplacementTrigger()?.toJavaScript(),
  deleteBeforeReplace: request.getDeletebeforereplace(),
  timeouts: timeoutsOf(request),
  deletedWith: request.getDeletedwith(),
  protect: request.getProtect(),
  retainOnDelete: request.getRetainondelete(),
  secretOutputs: request.getAdditionalsecretoutputsList(),
  hooks: hooksOf(request),
  aliases: aliasesOf(request, urn),
});

/**
 * Module object that the modules of Pulumi's SDK share. A change to an ES import would have no
 * effect, because the import is a copy.
 */
const debuggable = createRequire(__filename)("@pulumi/pulumi/runtime/debuggable.js") as {
  debuggablePromise: unknown;
};

/** State of the SDK, with the features of the engine. Pulumi does not declare its type. */
const runtimeState = createRequire(__filename)("@pulumi/pulumi/runtime/state.js") as {
  getStore(): { supportsTransforms: boolean };
};

/**
 * Runs `work` without recording stack traces. Pulumi records a trace for every promise and
 * resource, which takes a third of the time. Errors of the program also have no stack. To debug an
 * error, set a limit here.
 */
async function withoutTraces<T>(work: () => Promise<T>): Promise<T> {
  const limit = replace(Error, "stackTraceLimit", 0);
  const promises = replace(debuggable, "debuggablePromise", (promise: unknown) => promise);
  // Pulumi sets a separate stack trace limit in the function `callsites`.
  const callsites = replace(
    pulumi.Resource as unknown as { callsites: unknown },
    "callsites",
    () => [],
  );
  try {
    return await work();
  } finally {
    limit();
    promises();
    callsites();
  }
}

/** Runs `program` without an engine and returns all registered resources, sorted by name. */
export async function graph(
  program: () => unknown,
  options: GraphOptions = {},
): Promise<readonly Row[]> {
  const inputs = new Map<string, Fields>();
  const stack = options.stack ?? "test";
  await pulumi.runtime.setMocks(
    {
      newResource: async ({ type, name, inputs: given }) => {
        inputs.set(`${type} ${name}`, given as Fields);
        if (options.make) {
          const { id, outputs } = await options.make({ type, name, inputs: given as Fields });
          return { id, state: { ...(given as Fields), ...outputs } };
        }
        const made = options.outputs?.[type]?.(given as Fields, name) ?? {};
        return options.preview === true
          ? { id: undefined, state: { ...(given as Fields) } }
          : { id: options.ids?.(name) ?? `${name}-id`, state: { ...(given as Fields), ...made } };
      },
      call: ({ token, inputs: given, provider = "" }) =>
        options.lookups?.[token]?.(given as Fields, provider) ?? {},
    },
    "stackadm",
    stack,
    options.preview === true,
    "organization",
  );
  const rows: Row[] = [];
  const monitor = getMonitor() as unknown as Monitor;
  const register = monitor.registerResource.bind(monitor);
  // Pulumi's mocks refuse transforms, which the engine supports.
  runtimeState.getStore().supportsTransforms = true;
  const transforms = new EngineTransforms();
  monitor.registerResource = async (request, answer) => {
    const message = request as unknown as Message;
    try {
      await transforms.change(message);
    } catch (error) {
      answer(error as Error, undefined);
      return;
    }
    await register(request, (error, response) => {
      if (response) {
        transforms.record(response.getUrn(), message);
        const given = inputs.get(`${request.getType()} ${request.getName()}`) ?? {};
        rows.push(rowOf(request, response.getUrn(), given));
      }
      answer(error, response);
    });
  };
  monitor.registerResourceHook = (_request, answer) => {
    answer(null, {});
  };
  monitor.registerErrorHook = monitor.registerResourceHook;
  await withoutTraces(async () => {
    await pulumi.runtime.runInPulumiStack(() => Promise.resolve(program()));
    await pulumi.runtime.disconnect();
  });
  return rows.sort((one, other) => (one.urn < other.urn ? -1 : 1));
}
