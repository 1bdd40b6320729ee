/** Defines resource inputs: defaults, secrets, checks and types. */
import { z } from "zod";
import {
  wrapSecret,
  hasUnknown,
  isObject,
  isSecret,
  isUnknown,
  reveal,
  getSignature,
  signatures,
} from "../plugin/values.js";
import type { Json, JsonObject } from "../plugin/values.js";
import {
  supportedProperties,
  supportedConnectionProperties,
  supportedProxyProperties,
} from "./supported-inputs.js";

export interface SshEndpointInputs {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: string | undefined;
  readonly privateKey?: string | undefined;
  readonly privateKeyPassword?: string | undefined;
  /** Socket of the SSH agent. @default the environment's `SSH_AUTH_SOCK` */
  readonly agentSocketPath?: string | undefined;
  /** Host key in one line, as in `authorized_keys`. Without it, any key is accepted. */
  readonly hostKey?: string | undefined;
  /** Number of attempts that may fail. -1 means no limit. */
  readonly dialErrorLimit: number;
  /** Time limit of one attempt in seconds. 0 means no limit. */
  readonly perDialTimeout: number;
}

export interface SshConnectionInputs extends SshEndpointInputs {
  readonly proxy?: SshEndpointInputs | undefined;
}

/**
 * Defaults of the official schema. Check sets these defaults for programs whose SDK does not set
 * them.
 */
const defaults = { port: 22, user: "root", dialErrorLimit: 10, perDialTimeout: 15 } as const;

const endpoint = z.object({
  host: z.string(),
  port: z.number().default(defaults.port),
  user: z.string().default(defaults.user),
  password: z.string().optional(),
  privateKey: z.string().optional(),
  privateKeyPassword: z.string().optional(),
  agentSocketPath: z.string().optional(),
  hostKey: z.string().optional(),
  dialErrorLimit: z.number().int().default(defaults.dialErrorLimit),
  perDialTimeout: z.number().default(defaults.perDialTimeout),
});

const command = {
  create: z.string().optional(),
  update: z.string().optional(),
  delete: z.string().optional(),
  stdin: z.string().optional(),
  environment: z.record(z.string(), z.string()).default({}),
  logging: z.enum(["none", "stdout", "stderr", "stdoutAndStderr"]).default("stdoutAndStderr"),
  addPreviousOutputInEnv: z.boolean().default(true),
  // Outputs of the previous run, from the state.
  stdout: z.string().default(""),
  stderr: z.string().default(""),
};
const connection = endpoint.extend({ proxy: endpoint.optional() });
const remoteCommand = z.object({ ...command, connection });
const localCommand = z.object({
  ...command,
  dir: z.string().optional(),
  interpreter: z.array(z.string()).default([]),
});
const copyToRemote = z.object({
  connection,
  source: z.record(z.string(), z.unknown()),
  remotePath: z.string(),
});

export type CommandInputs = z.infer<z.ZodObject<typeof command>>;
export type RemoteCommandInputs = z.infer<typeof remoteCommand>;
export type LocalCommandInputs = z.infer<typeof localCommand>;

const schemas: Readonly<Record<string, z.ZodType>> = {
  "command:remote:Command": remoteCommand,
  "command:remote:CopyToRemote": copyToRemote,
  "command:local:Command": localCommand,
};

/**
 * Returns a resource's properties with types, and with secrets in plain text. Throws the errors
 * that the gRPC method Check reports.
 */
export function parseRemoteCommandInputs(properties: JsonObject): RemoteCommandInputs {
  return remoteCommand.parse(withoutNulls(reveal(properties)));
}

export function parseLocalCommandInputs(properties: JsonObject): LocalCommandInputs {
  return localCommand.parse(withoutNulls(reveal(properties)));
}

export interface CopyInputs {
  readonly connection: SshConnectionInputs;
  /** Asset or archive in its wire form, including the signature key. */
  readonly source: JsonObject;
  readonly remotePath: string;
}

export function parseCopyInputs(properties: JsonObject): CopyInputs {
  const source = reveal(properties["source"] ?? {});
  const parsed = copyToRemote.parse(withoutNulls(reveal(properties)));
  return { ...parsed, source: isObject(source) ? source : {} };
}

export interface CheckFailure {
  readonly property: string;
  readonly reason: string;
}

/**
 * Returns the inputs that are saved to the state, with defaults. Marks `connection`, its keys and
 * its passwords as secrets.
 */
export function completeInputs(news: JsonObject): JsonObject {
  const { connection: value } = news;
  return value === undefined ? news : { ...news, connection: wrapSecret(checkedConnection(value)) };
}

const secretProperties = ["password", "privateKey", "privateKeyPassword"] as const;

function checkedConnection(value: Json): Json {
  const inner = isSecret(value) ? (value["value"] ?? null) : value;
  if (!isObject(inner)) return inner;
  const checked: JsonObject = { ...defaults, ...inner };
  for (const key of secretProperties) {
    if (checked[key] !== undefined) checked[key] = wrapSecret(checked[key]);
  }
  if (checked["proxy"] !== undefined) checked["proxy"] = checkedConnection(checked["proxy"]);
  return checked;
}

/** Returns the problems of a resource's inputs. Does not check values that are not known yet. */
export function findCheckFailures(type: string, news: JsonObject): CheckFailure[] {
  const schema = schemas[type];
  const names = supportedProperties[type];
  if (!schema || !names) {
    return [{ property: "", reason: `the stand-in for the command plugin has no ${type}` }];
  }
  const clear = reveal(news);
  if (!isObject(clear)) return [];
  return [
    ...unhandled("", clear, names),
    ...unhandledConnection(clear["connection"]),
    ...unhandledSource(clear["source"]),
    ...mistakes(schema, clear),
  ];
}

function unhandled(prefix: string, value: JsonObject, names: readonly string[]): CheckFailure[] {
  const unknown = Object.keys(value).filter((key) => !names.includes(key));
  return unknown.map((key) => ({
    property: prefix + key,
    reason: `the stand-in for the command plugin does not handle '${prefix}${key}'`,
  }));
}

function unhandledConnection(value: Json | undefined): CheckFailure[] {
  if (!isObject(value)) return [];
  const proxy = value["proxy"];
  const inner = isObject(proxy)
    ? unhandled("connection.proxy.", proxy, supportedProxyProperties)
    : [];
  return [...unhandled("connection.", value, supportedConnectionProperties), ...inner];
}

function unhandledSource(value: Json | undefined): CheckFailure[] {
  if (value === undefined || isUnknown(value)) return [];
  const signature = getSignature(value);
  if (signature === signatures.asset || signature === signatures.archive) return [];
  return [{ property: "source", reason: "either an asset or an archive must be set" }];
}

/**
 * Returns errors for missing values and wrong types. Ignores unknown values, because they have no
 * type yet.
 */
function mistakes(schema: z.ZodType, clear: JsonObject): CheckFailure[] {
  const result = schema.safeParse(withoutNulls(clear));
  if (result.success) return [];
  return result.error.issues
    .filter((issue) => !hasUnknown(valueAt(clear, issue.path)))
    .map((issue) => ({ property: issue.path.map(String).join("."), reason: issue.message }));
}

/** Returns the value at a path. If the path leads through an unknown value, returns that value. */
function valueAt(value: Json, path: readonly PropertyKey[]): Json | undefined {
  let current: Json | undefined = value;
  for (const key of path) {
    if (isUnknown(current)) return current;
    if (Array.isArray(current)) current = current[Number(key)];
    else current = isObject(current) ? current[String(key)] : undefined;
  }
  return current;
}

function withoutNulls(value: Json): Json {
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNulls(inner)]));
}
