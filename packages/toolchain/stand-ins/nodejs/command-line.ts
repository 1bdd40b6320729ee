/**
 * Builds the arguments and the environment with which Node runs a program or a plugin, like
 * Pulumi's own language host.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Json, JsonObject } from "../plugin/values.js";

/** Settings under `runtime.options` in Pulumi.yaml. */
export interface RuntimeOptions {
  /** Whether ts-node compiles TypeScript. @default true */
  readonly typescript: boolean;
  /** Path of a tsconfig.json for ts-node. */
  readonly tsconfig?: string | undefined;
  /** Arguments for Node. */
  readonly nodeArguments: readonly string[];
}

export function parseRuntimeOptions(options: JsonObject): RuntimeOptions {
  const { typescript, tsconfig, nodeargs } = options;
  const other = ["packagemanager", "typescript", "tsconfig", "nodeargs"];
  const unknown = Object.keys(options).filter((name) => !other.includes(name));
  if (unknown.length > 0) {
    throw new Error(`the stand-in for the language host does not handle ${unknown.join(", ")}`);
  }
  return {
    typescript: boolean(typescript, "typescript"),
    tsconfig: typeof tsconfig === "string" ? tsconfig : undefined,
    nodeArguments: typeof nodeargs === "string" ? splitWords(nodeargs) : [],
  };
}

function boolean(value: Json | undefined, name: string): boolean {
  if (value === undefined) return true;
  if (typeof value !== "boolean") throw new Error(`${name} option must be a boolean`);
  return value;
}

/**
 * Splits a text at spaces. Quotes keep words together, and a backslash escapes the next character.
 */
export function splitWords(text: string): string[] {
  const found = text.match(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/gs) ?? [];
  return found.map((word) =>
    word.replace(/\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/gs, (_all, escaped, double, single) =>
      [escaped, typeof double === "string" ? double.replace(/\\(.)/gs, "$1") : undefined, single]
        .filter((part) => typeof part === "string")
        .join(""),
    ),
  );
}

/**
 * Returns the path of the SDK's script that runs a program (`run`) or a plugin (`run-plugin`). The
 * script is in the program's node_modules.
 */
export function resolveSdkScript(directory: string, script: "run" | "run-plugin"): string {
  const resolve = createRequire(join(directory, "package.json")).resolve;
  try {
    return resolve(`@pulumi/pulumi/cmd/${script}`);
  } catch (error) {
    throw new Error(
      "It looks like the Pulumi SDK has not been installed. Have you run pulumi install?",
      { cause: error },
    );
  }
}

/**
 * Node arguments that load base/util-inspect-workaround.cjs. They precede the arguments of the
 * project, because the program of a project may not load this file itself.
 */
export const inspectWorkaroundArguments: readonly string[] = [
  "--require",
  join(__dirname, "../../../../base/util-inspect-workaround.cjs"),
];

export interface ProgramRun {
  readonly monitor: string;
  readonly engine: string;
  readonly project: string;
  readonly stack: string;
  readonly organization: string;
  readonly rootDirectory: string;
  readonly directory: string;
  readonly dryRun: boolean;
  readonly queryMode: boolean;
  readonly parallel: number;
  readonly entryPoint: string;
  readonly arguments: readonly string[];
}

/** Returns the arguments of the SDK's run script for one run of a program. */
export function getProgramArguments(run: ProgramRun): string[] {
  const flag = (name: string, value: string): string[] =>
    value === "" ? [] : [`--${name}`, value];
  return [
    ...flag("monitor", run.monitor),
    ...flag("engine", run.engine),
    ...flag("project", run.project),
    ...flag("root-directory", run.rootDirectory),
    ...flag("stack", run.stack),
    ...flag("organization", run.organization),
    ...flag("pwd", run.directory),
    ...(run.dryRun ? ["--dry-run"] : []),
    ...(run.queryMode ? ["--query-mode"] : []),
    ...(run.parallel !== 0 ? ["--parallel", String(run.parallel)] : []),
    run.entryPoint,
    ...run.arguments,
  ];
}

/** Returns the environment that passes the configuration as JSON. */
export function getConfigEnvironment(
  config: readonly [string, string][],
  secretKeys: readonly string[],
): Record<string, string> {
  return {
    PULUMI_CONFIG: JSON.stringify(Object.fromEntries(config)),
    PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(secretKeys),
  };
}

export function getTypescriptEnvironment(options: RuntimeOptions): Record<string, string> {
  return {
    ...(options.typescript && { PULUMI_NODEJS_TYPESCRIPT: "true" }),
    ...(options.tsconfig !== undefined && { PULUMI_NODEJS_TSCONFIG_PATH: options.tsconfig }),
  };
}
