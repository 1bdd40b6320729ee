import { AsyncResource } from "node:async_hooks";
import * as pulumi from "@pulumi/pulumi";
import * as command from "@pulumi/command";
import { getLastScriptOutput } from "./last-output.js";
import { readScriptResult } from "./script-result.js";
import { writeCachedFile } from "./script-cache.js";
import { divideBySecrecy } from "./divide-by-secrecy.js";
import {
  createScriptBundle,
  renderStepCommand,
  renderStandardInput,
  getRemotePath,
  type ScriptStep,
} from "./script-steps.js";

/**
 * Machine to which SSH connects. The host key is required, because the plugin accepts every host
 * key if none is given.
 */
export interface SshEndpoint {
  readonly host: pulumi.Input<string>;
  readonly user: pulumi.Input<string>;
  /**
   * Public host key of the machine: `ssh-ed25519 AAAA...`. The connection fails if the machine has
   * another key.
   */
  readonly hostKey: pulumi.Input<string>;
  /**
   * Name of the machine. If a proxy does not answer, the program looks up the proxy's server in
   * Nova under this name.
   */
  readonly machine: string;
  /**
   * ID of the machine's server. If the machine does not answer, the program looks up the server in
   * Nova.
   */
  readonly server: pulumi.Input<string>;
}

/** SSH route to a machine: directly or through a proxy. The login key is in the ssh-agent. */
export interface SshConnection extends SshEndpoint {
  readonly proxy?: SshEndpoint;
}

/**
 * Number of connection attempts of the plugin, and seconds for each attempt. The pause between two
 * attempts begins at 0.1 s and grows by half each time, up to 5 s. 30 attempts take 111 s if the
 * machine refuses each attempt at once. If packets are dropped, they take 231 s (111 s + 30 x 4 s).
 */
export const dialLimits = { dialErrorLimit: 30, perDialTimeout: 4 } as const;
/**
 * Longest time in seconds until all attempts have failed. If a machine may need longer, for example
 * to boot, an error hook makes the engine run the script again (unreachable-servers.ts).
 */
export const longestDialSeconds = 231;

export interface CopiedScriptsArgs {
  readonly connection: SshConnection;
  /** Steps that run on the machine. */
  readonly steps: readonly ScriptStep[];
}

const addressOf = ({ host, user, hostKey }: SshEndpoint) => ({ host, user, hostKey });

const connectionOf = ({ proxy, ...machine }: SshConnection) => ({
  ...addressOf(machine),
  ...dialLimits,
  ...(proxy && { proxy: { ...addressOf(proxy), ...dialLimits } }),
});

/**
 * File with all scripts of a machine, which the plugin copies to the home directory of the login
 * user. The plugin copies the file again only if its hash or its remote path changes. The remote
 * path contains the server's ID, so that a new server gets a copy. A change of the local path has
 * no effect.
 */
export class CopiedScripts extends command.remote.CopyToRemote {
  constructor(
    name: string,
    { connection, steps }: CopiedScriptsArgs,
    opts?: pulumi.CustomResourceOptions,
  ) {
    const bundle = createScriptBundle(steps);
    super(
      name,
      {
        connection: connectionOf(connection),
        source: new pulumi.asset.FileAsset(writeCachedFile(bundle)),
        remotePath: pulumi.output(connection.server).apply((id) => getRemotePath(bundle, id)),
      },
      opts,
    );
  }
}

interface ScriptArgs {
  /**
   * Connection to the machine. The script gets the server's ID as SERVER_ID, so a new server is a
   * changed input, and the script runs again. A new server of the proxy does not run it again.
   */
  readonly connection: SshConnection;
  readonly step: ScriptStep;
  /**
   * Values for the scripts. Secret and long values are sent by standard input, so they do not
   * appear in plans and process lists. Other values are part of the command.
   */
  readonly values: Values;
}

/**
 * Arguments of a script that runs on a machine. With `when: "up"`, the script runs when the
 * resource is created, and again when an input changes. The command uses the copied scripts. With
 * `when: "delete"`, the script runs once, when the resource is deleted. The command then contains
 * the text of the script, because a replaced machine may have no copy.
 */
export type RemoteScriptArgs = ScriptArgs &
  ({ readonly when: "up"; readonly copied: CopiedScripts } | { readonly when: "delete" });

type Values = Readonly<Record<string, pulumi.Input<string>>>;

/**
 * Step whose scripts run as root on one machine, over one SSH connection. A changed input updates
 * the resource, and the scripts run again, so they are idempotent. The class does not use
 * `triggers`, because a changed trigger replaces the resource: the script of the new resource would
 * run before the deletion of the old resource.
 */
export class RemoteScript extends command.remote.Command {
  /**
   * Standard output of the script. In a preview, the output of its last run if an update would run
   * it again.
   */
  readonly #lastOutput: pulumi.Output<string>;

  constructor(name: string, args: RemoteScriptArgs, opts?: pulumi.CustomResourceOptions) {
    const { connection, step, when } = args;
    const { proxy, server } = connection;
    const path = proxy ? pulumi.interpolate`${server},${proxy.machine}` : server;
    const { shown, hidden } = divideBySecrecy({
      ...args.values,
      SERVER_ID: server,
      SERVER_PATH: path,
    });
    const on = (occasion: string): pulumi.Output<string> =>
      pulumi
        // The command does not contain `args.copied.id`. The engine only waits for it, because the
        // scripts must be on the machine first.
        .all([shown, args.when === "up" ? args.copied.id : ""])
        .apply(([values]) => renderStepCommand(step, occasion, values));
    super(
      name,
      {
        connection: connectionOf(connection),
        ...(when === "delete" && { delete: on("delete") }),
        // If `update` is missing, the plugin runs the command in `create` also for an update.
        ...(when === "up" && { create: on(step.tellsCreate ? "create" : "up") }),
        ...(when === "up" && step.tellsCreate && { update: on("update") }),
        stdin: hidden.apply((texts) =>
          renderStandardInput(texts, when === "delete" ? step : undefined),
        ),
        addPreviousOutputInEnv: false,
        // Scripts write progress messages to standard error, and the result to standard output.
        logging: command.types.enums.remote.Logging.Stderr,
      },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["stdout", "stderr"] }),
    );
    this.#lastOutput = pulumi.runtime.isDryRun() ? getLastScriptOutput(this, server) : this.stdout;
  }

  /**
   * Returns one value of the script's result. The value is secret and becomes known after the script
   * has run.
   */
  result(key: string): pulumi.Output<string> {
    return pulumi.secret(this.stdout).apply((stdout) => valueOf(stdout, key) ?? absent(key));
  }

  /**
   * Returns one value of the script's result, for a value that is the same in every run on the same
   * server. In a preview, the value comes from the state if the script would run again. Resources
   * that use the value are then not shown as changed.
   */
  getStableResult(key: string): pulumi.Output<string> {
    return pulumi.secret(this.#lastOutput).apply((stdout) => valueOf(stdout, key) ?? absent(key));
  }

  /**
   * Returns `value` as an output that depends on this script. In the run that creates the script,
   * it becomes known after the script has finished.
   */
  after(value: pulumi.Input<string>): pulumi.Output<string> {
    return pulumi.all([value, this.id]).apply(([known]) => known);
  }
}

function absent(key: string): never {
  throw new TypeError(`the script's result has no "${key}"`);
}

function valueOf(stdout: string, key: string): string | undefined {
  const value = readScriptResult(stdout)?.[key];
  return typeof value === "string" ? value : undefined;
}

/**
 * Resource options of a command whose result must never change: the command runs once, even if
 * another release changes the text of the command.
 */
const madeOnce = { ignoreChanges: ["create"] };

/**
 * 32 random bytes in base64, a secret in the state. A command on the machine that runs the program
 * generates the bytes once.
 */
export class RandomSeed extends command.local.Command {
  constructor(name: string, _args: object, opts?: pulumi.CustomResourceOptions) {
    super(
      name,
      {
        create: "head -c 32 /dev/urandom | base64",
        addPreviousOutputInEnv: false,
        logging: command.types.enums.local.Logging.None,
      },
      pulumi.mergeOptions(opts, {
        ...madeOnce,
        additionalSecretOutputs: ["stdout", "stderr"],
      }),
    );
  }

  get seed(): pulumi.Output<string> {
    return pulumi.secret(this.stdout);
  }
}

export interface ClusterIdentityArgs {
  /**
   * Whether the engine refuses to delete the resource. The resource is never replaced while the
   * cluster exists, so `protect` only prevents a destroy. @default false
   */
  readonly protect?: boolean;
}

/**
 * Identity of the cluster: 12 random hexadecimal digits, which are generated once and are not
 * secret. The identity is in the state before any object with this identity exists, so the command
 * line can find all these objects.
 */
export class ClusterIdentity extends command.local.Command {
  constructor(
    name: string,
    { protect = false }: ClusterIdentityArgs,
    opts?: pulumi.CustomResourceOptions,
  ) {
    super(
      name,
      {
        // The length is checked, because the text would be empty on a machine without `od`.
        create:
          "id=$(head -c 6 /dev/urandom | od -An -v -tx1 | tr -d ' \\n') && [ ${#id} -eq 12 ] && printf %s \"$id\"",
        addPreviousOutputInEnv: false,
        logging: command.types.enums.local.Logging.None,
      },
      // `protect: false` is not passed, because it would override a `protect` for the whole
      // component.
      pulumi.mergeOptions(opts, { ...madeOnce, ...(protect && { protect }) }),
    );
  }

  get identity(): pulumi.Output<string> {
    return this.stdout;
  }
}

type Texts = Readonly<Record<string, string>>;

/** Values in the state (`before`), and the new values. Lacks values that are not known yet. */
export interface ScriptValuesDiff {
  readonly urn: string;
  readonly before: Texts;
  readonly now: Texts;
}

export interface GuardedValuesArgs {
  /**
   * Values to store in the state. The values must not be secret, because the state and previews
   * show them in plain text.
   */
  readonly values: Readonly<Record<string, pulumi.Input<string>>>;
  /**
   * Function that is called before a change, also in a preview. An error from `check` ends the run.
   */
  readonly check: (change: ScriptValuesDiff) => Promise<void>;
}

/**
 * Values that are only stored in the state. Before a change is stored, `check` may refuse it.
 */
export class GuardedValues extends command.local.Command {
  constructor(
    name: string,
    { values, check }: GuardedValuesArgs,
    opts?: pulumi.CustomResourceOptions,
  ) {
    const checkChange: pulumi.ResourceHookFunction = ({ urn, oldInputs, newInputs }) =>
      check({ urn, before: textsOf(oldInputs), now: textsOf(newInputs) });
    // The engine calls hooks in another asynchronous context, in which the program cannot send
    // requests to the engine.
    const hook = new pulumi.ResourceHook(`check-${name}`, AsyncResource.bind(checkChange), {
      onDryRun: true,
    });
    // If there is no command, the plugin only stores the inputs.
    super(
      name,
      { environment: values },
      pulumi.mergeOptions(opts, { hooks: { beforeUpdate: [hook] } }),
    );
  }
}

/**
 * Returns the values in the inputs of a GuardedValues. Leaves out values that are not known yet.
 */
function textsOf(inputs: Readonly<Record<string, unknown>> | undefined): Texts {
  const texts = Object.entries(inputs?.["environment"] ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return Object.fromEntries(texts);
}
