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
 * Machine in an SSH connection. The host key is required, because without a host key the plugin
 * accepts every machine.
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
 * Limits for a connection to a machine that does not answer. The wait between two attempts begins
 * at 0.1 s and grows by half each time, up to 5 s. 30 attempts take 111 s if each attempt is
 * refused at once. If packets are dropped, 30 attempts take 231 s (111 s + 30 x 4 s).
 */
export const dialLimits = { dialErrorLimit: 30, perDialTimeout: 4 } as const;
/**
 * Largest time in seconds until all attempts have failed. If a script must wait longer, the program
 * starts further rounds of attempts (unreachable-servers.ts).
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
 * Scripts of a machine in one file, which the plugin copies to the home directory of the login
 * user. The plugin copies the file only if its hash or its remote path changes. The remote path
 * therefore contains the server's ID. The state also contains the path on this machine, but a
 * change of the path on this machine has no effect.
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
   * Connection to the machine. The server's ID is passed to the script as SERVER_ID, so the script
   * runs again on a new server. The script does not run again for a new server of the proxy.
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
 * Script that runs on a machine. With `up`, the script runs when the resource is created and
 * whenever an input changes. The command then uses the copied scripts. With `delete`, the script
 * runs once, when the resource is deleted. The command then sends the text of the script, because
 * the machine may have been replaced since the resource was created.
 */
export type RemoteScriptArgs = ScriptArgs &
  ({ readonly when: "up"; readonly copied: CopiedScripts } | { readonly when: "delete" });

type Values = Readonly<Record<string, pulumi.Input<string>>>;

/**
 * Step that runs as root on one machine, over one SSH connection. A changed input runs the step
 * again, so its scripts are idempotent. `triggers` are not used, because they replace the resource.
 * In a replacement, the script would run for the new resource before the old resource is deleted.
 */
export class RemoteScript extends command.remote.Command {
  /** Standard output. In a preview that would run the script again, the output of the last run. */
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
        // `args.copied.id` is here for the order, because the scripts must be on the machine first.
        .all([shown, args.when === "up" ? args.copied.id : ""])
        .apply(([values]) => renderStepCommand(step, occasion, values));
    super(
      name,
      {
        connection: connectionOf(connection),
        ...(when === "delete" && { delete: on("delete") }),
        // Without `update`, the plugin runs `create` for an update, too.
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
  fact(key: string): pulumi.Output<string> {
    return pulumi.secret(this.#lastOutput).apply((stdout) => valueOf(stdout, key) ?? absent(key));
  }

  /**
   * Returns `value`, which becomes known after the script has run on its server for the first time.
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
 * Options of a command whose result must never change. The command does not run again, even if
 * another release changes its text.
 */
const madeOnce = { ignoreChanges: ["create"] };

/**
 * 32 random bytes in base64, which are a secret in the state. The machine that runs the program
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

/** Values in the state, and the new values. Does not contain values that are not known yet. */
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

/** Values in the state, with a check of every change. A change only updates the state. */
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
