/*
 * Environment of the engine, its plugins and the program. The environment is one for all of them,
 * because the program runs in the engine's parent process, and the plugins inherit the engine's
 * environment (docs/decisions/0066-passed-environment.md).
 */

/** Prefix of the names that belong to Pulumi. Only Pulumi and its plugins read such variables. */
const prefix = "PULUMI_";

/**
 * Pattern of the variables of Pulumi that are passed on. Other variables of Pulumi change which
 * resources an operation works on, what a deletion means, or how the state is written. The commands
 * of this program rely on all three.
 */
const passedOn = new RegExp(
  `^${prefix}(${[
    // Backend, login and secrets.
    ...["ACCESS_TOKEN", "API", "BACKEND_URL", "CONSOLE_DOMAIN", "DEFAULT_ORGANIZATION"],
    ...["CREDENTIALS_PATH", "CREDENTIAL_STORE", "CONFIG_PASSPHRASE(_FILE)?"],
    ...["CLOUD_SECRET_OVERRIDE", "DISABLE_SECRET_CACHE", "OPTIMIZED_CHECKPOINT_PATCH"],
    "DIY_BACKEND_(PARALLEL|RETAIN_CHECKPOINTS|DISABLE_CHECKPOINT_BACKUPS|NO_LEGACY_WARNING)",
    ...[
      "RETAIN_CHECKPOINTS",
      "DISABLE_CHECKPOINT_BACKUPS",
      "DISABLE_JOURNALING",
      "JOURNALING_\\w+",
    ],
    // Programs and plugins.
    ...["HOME", "SKIP_UPDATE_CHECK", "AUTOMATION_API_SKIP_VERSION_CHECK", "GITSSH_PASSPHRASE"],
    ...["DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "PLUGIN_DOWNLOAD_URL_OVERRIDES"],
    "IGNORE_AMBIENT_PLUGINS",
    // Speed.
    "PARALLEL(_DIFF|_ANALYZE)?",
    // Diagnosis.
    "(DEBUG|LOG|OTEL|TRACING)_\\w+",
    // Facts about the job, which Pulumi's service shows with an update.
    ...["CI_\\w+", "DISABLE_CI_DETECTION", "PR_NUMBER", "COMMIT_MESSAGE", "(GIT|VCS)_\\w+"],
    // Names that a program may read. Each command names its stack and project itself.
    "(STACK|PROJECT|ORG|ORGANIZATION)",
    // Kubernetes provider: requests per second, warnings, and Helm charts of the user.
    "K8S_(CLIENT|SUPPRESS|HELM)_\\w+",
  ].join("|")})$`,
);

/**
 * Returns whether a variable is passed on. The toolchain sets PULUMI_K8S_ENABLE_PATCH_FORCE for a
 * plugin that is older than the provider's argument `enablePatchForce`, which is true.
 */
const isPassedOn = (name: string, value: string | undefined): boolean =>
  !name.startsWith(prefix) ||
  passedOn.test(name) ||
  (name === "PULUMI_K8S_ENABLE_PATCH_FORCE" && value === "true");

/** Returns the names of the variables that are not passed on, sorted. */
export const findDroppedVariables = (env: NodeJS.ProcessEnv): string[] =>
  Object.entries(env)
    .filter(([name, value]) => value !== undefined && !isPassedOn(name, value))
    .map(([name]) => name)
    .sort();

/** Variables from which the gRPC library of the program takes a proxy, for each address. */
const grpcProxies = ["grpc_proxy", "https_proxy", "http_proxy"];
/** Variable with the hosts that this library reaches directly. It replaces `no_proxy`. */
const grpcDirectHosts = "no_grpc_proxy";

const loopbackHosts = ["127.0.0.1", "localhost", "::1"];

/**
 * Returns the variable that keeps a proxy out of the connections between the engine and its own
 * processes. Without this variable, the program asks the user's proxy for a port of this machine.
 * Returns no variable if the environment has no proxy.
 */
export function getGrpcVariables(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  if (grpcProxies.every((name) => (env[name] ?? "") === "")) return {};
  const lists = [grpcDirectHosts, "no_proxy"].map((name) => env[name] ?? "");
  // The library does not trim the names in the list.
  const hosts = (lists.find((list) => list !== "") ?? "").split(",").map((host) => host.trim());
  const all = new Set([...hosts.filter((host) => host !== ""), ...loopbackHosts]);
  return { [grpcDirectHosts]: [...all].join(",") };
}

/** Returns the environment for the engine, its plugins, the program and the Pulumi CLI. */
export const getEngineEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(env).filter(([name, value]) => isPassedOn(name, value))),
  ...getGrpcVariables(env),
});
