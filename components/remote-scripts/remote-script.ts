import { AsyncResource } from "node:async_hooks";
import * as pulumi from "@pulumi/pulumi";
import * as command from "@pulumi/command";
import { lastOutput } from "./last-output.js";
import { fileOf } from "./script-files.js";
import { dividedBySecrecy } from "./divide-by-secrecy.js";
import { bundleOf, commandOf, inputOf, remotePathOf, type Step } from "./script-steps.js";

/**
 * Machine that is reached over SSH. Its host key is required, because without it nothing would
 * verify the machine.
 */
export interface SshHop {
  readonly host: pulumi.Input<string>;
  readonly user: pulumi.Input<string>;
  /** Only host key that the machine may present: `ssh-ed25519 AAAA...`. */
  readonly hostKey: pulumi.Input<string>;
  /** Name of the machine. Nova is asked about a proxy that does not answer by this name. */
  readonly machine: string;
  /** ID of the server, by which Nova is asked about a machine that does not answer. */
  readonly server: pulumi.Input<string>;
}

/** SSH route to a machine: directly or through a proxy. The login key is in the ssh-agent. */
export interface Connection extends SshHop {
  readonly proxy?: SshHop;
}

/**
 * Limits of the connection attempts to a machine that does not answer. The wait between two
 * attempts grows from 0.1 s by half to 5 s: 30 attempts take 111 s if they are refused at once, and
 * 111 s + 30 x 4 s = 231 s if packets are dropped.
 */
export const dialBudget = { dialErrorLimit: 30, perDialTimeout: 4 } as const;
/**
 * Longest time in seconds until all connection attempts have failed. Scripts that must wait longer
 * connect again (boot-failures.ts).
 */
export const dialSeconds = 231;

export interface CopiedScriptsArgs {
  readonly connection: Connection;
  /** Steps that run on the machine. */
  readonly steps: readonly Step[];
}

const addressOf = ({ host, user, hostKey }: SshHop) => ({ host, user, hostKey });

const connectionOf = ({ proxy, ...machine }: Connection) => ({
  ...addressOf(machine),
  ...dialBudget,
  ...(proxy && { proxy: { ...addressOf(proxy), ...dialBudget } }),
});

/**
 * Scripts of a machine, as one file in the home directory of the login user. The state has the
 * file's hash, and its path on the machine that ran the program, which is no change. The plugin
 * copies only if hash or remote path differ, so the path has the server's ID.
 */
export class CopiedScripts extends command.remote.CopyToRemote {
  constructor(
    name: string,
    { connection, steps }: CopiedScriptsArgs,
    opts?: pulumi.CustomResourceOptions,
  ) {
    const bundle = bundleOf(steps);
    super(
      name,
      {
        connection: connectionOf(connection),
        source: new pulumi.asset.FileAsset(fileOf(bundle)),
        remotePath: pulumi.output(connection.server).apply((id) => remotePathOf(bundle, id)),
      },
      opts,
    );
  }
}

interface ScriptArgs {
  /**
   * Connection to the machine. The script gets the ID of its server as SERVER_ID, so it runs again
   * on a new server. A new server of the proxy does not make it run again.
   */
  readonly connection: Connection;
  readonly step: Step;
  /**
   * Values that the scripts read. Secret and long ones are sent by standard input, so that no plan
   * and no process list shows them; the command has the others.
   */
  readonly values: Values;
}

/**
 * `up`: runs when the resource is created and whenever an input changes, from the scripts of the
 * machine. `delete`: runs once, when the resource is deleted, and sends its text: the machine that
 * runs it may have been replaced since the state has the script.
 */
export type RemoteScriptArgs = ScriptArgs &
  ({ readonly when: "up"; readonly copied: CopiedScripts } | { readonly when: "delete" });

type Values = Readonly<Record<string, pulumi.Input<string>>>;

/**
 * Step that runs as root on one machine over one SSH connection. Scripts are idempotent, so a
 * changed input runs them again. `triggers` are not used: they replace the resource, and a
 * replacement runs the new script before the old resource is deleted.
 */
export class RemoteScript extends command.remote.Command {
  /** Standard output; in a preview, that of the last run if another run does not change it. */
  readonly #lastOutput: pulumi.Output<string>;

  constructor(name: string, args: RemoteScriptArgs, opts?: pulumi.CustomResourceOptions) {
    const { connection, step, when } = args;
    const { proxy, server } = connection;
    const path = proxy ? pulumi.interpolate`${server},${proxy.machine}` : server;
    const { shown, hidden } = dividedBySecrecy({
      ...args.values,
      SERVER_ID: server,
      SERVER_PATH: path,
    });
    const on = (occasion: string): pulumi.Output<string> =>
      pulumi
        // order: the scripts are on the machine.
        .all([shown, args.when === "up" ? args.copied.id : ""])
        .apply(([values]) => commandOf(step, occasion, values));
    super(
      name,
      {
        connection: connectionOf(connection),
        ...(when === "delete" && { delete: on("delete") }),
        // Without `update` the plugin runs `create` again.
        ...(when === "up" && { create: on(step.tellsCreate ? "create" : "up") }),
        ...(when === "up" && step.tellsCreate && { update: on("update") }),
        stdin: hidden.apply((texts) => inputOf(texts, when === "delete" ? step : undefined)),
        addPreviousOutputInEnv: false,
        // Standard error carries the scripts' progress messages, standard output the result.
        logging: command.types.enums.remote.Logging.Stderr,
      },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["stdout", "stderr"] }),
    );
    this.#lastOutput = pulumi.runtime.isDryRun() ? lastOutput(this, server) : this.stdout;
  }

  /**
   * Returns one value of the line of JSON that the script printed last; known only after it ran,
   * and secret.
   */
  result(key: string): pulumi.Output<string> {
    return pulumi.secret(this.stdout).apply((line) => valueOf(line, key) ?? absent(key));
  }

  /**
   * Returns a value like `result` that another run on the same server does not change. A preview of
   * another run takes it from the state, so what depends on it is not shown as changed. `otherwise`
   * is used if the script of an earlier release did not print the value.
   */
  fact(key: string, otherwise?: string): pulumi.Output<string> {
    return pulumi
      .secret(this.#lastOutput)
      .apply((line) => valueOf(line, key) ?? absent(key, otherwise));
  }

  /** Returns `value`, known only after the script ran on its server for the first time. */
  after(value: pulumi.Input<string>): pulumi.Output<string> {
    return pulumi.all([value, this.id]).apply(([known]) => known);
  }
}

function absent(key: string, otherwise?: string): string {
  if (otherwise === undefined) throw new TypeError(`the script's result has no "${key}"`);
  return otherwise;
}

function valueOf(line: string, key: string): string | undefined {
  const parsed: unknown = JSON.parse(line);
  const fields = typeof parsed === "object" && parsed !== null ? Object.entries(parsed) : [];
  const value: unknown = fields.find(([name]) => name === key)?.[1];
  return typeof value === "string" ? value : undefined;
}

/**
 * Options of a command that must never run again when a release changes its text: its result would
 * change.
 */
const madeOnce = { ignoreChanges: ["create"] };

/**
 * 32 random bytes in base64, generated once on the machine that runs the program and stored as a
 * secret.
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
   * Whether the engine refuses to delete the resource. Nothing replaces it while the cluster
   * exists, so this only prevents a destroy. @default no
   */
  readonly protect?: boolean;
}

/**
 * Identity of the cluster: 12 random hexadecimal digits, generated once, no secret. The command
 * line reads it from the state, where it is recorded before any object that carries it.
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
        // Without od the identity would be empty.
        create:
          "id=$(head -c 6 /dev/urandom | od -An -v -tx1 | tr -d ' \\n') && [ ${#id} -eq 12 ] && printf %s \"$id\"",
        addPreviousOutputInEnv: false,
        logging: command.types.enums.local.Logging.None,
      },
      // Not `protect: false`, which would override a `protect` that the caller sets for the whole
      // component.
      pulumi.mergeOptions(opts, { ...madeOnce, ...(protect && { protect }) }),
    );
  }

  get identity(): pulumi.Output<string> {
    return this.stdout;
  }
}

type Texts = Readonly<Record<string, string>>;

/** Values in the state and the new values, without values that are not known yet. */
export interface ScriptValuesDiff {
  readonly urn: string;
  readonly before: Texts;
  readonly now: Texts;
}

export interface GuardedValuesArgs {
  /**
   * Values to keep. They must not be secret: the state contains them in plain text, and a preview
   * shows them.
   */
  readonly values: Readonly<Record<string, pulumi.Input<string>>>;
  /** Called before a change, also in a preview. An error that it throws ends the run. */
  readonly check: (change: ScriptValuesDiff) => Promise<void>;
}

/** Values that are kept in the state. A change updates them in place and runs nothing. */
export class GuardedValues extends command.local.Command {
  constructor(
    name: string,
    { values, check }: GuardedValuesArgs,
    opts?: pulumi.CustomResourceOptions,
  ) {
    const look: pulumi.ResourceHookFunction = ({ urn, oldInputs, newInputs }) =>
      check({ urn, before: textsOf(oldInputs), now: textsOf(newInputs) });
    // The engine calls hooks outside the program's asynchronous context, without which the engine
    // cannot be asked anything.
    const hook = new pulumi.ResourceHook(`check-${name}`, AsyncResource.bind(look), {
      onDryRun: true,
    });
    // Without a command the plugin only stores the inputs.
    super(
      name,
      { environment: values },
      pulumi.mergeOptions(opts, { hooks: { beforeUpdate: [hook] } }),
    );
  }
}

/** Returns the values in the inputs of a GuardedValues, without values that are not known yet. */
function textsOf(inputs: Readonly<Record<string, unknown>> | undefined): Texts {
  const texts = Object.entries(inputs?.["environment"] ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return Object.fromEntries(texts);
}
