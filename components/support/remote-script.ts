import { AsyncResource } from "node:async_hooks";
import * as pulumi from "@pulumi/pulumi";
import * as command from "@pulumi/command";
import { packed } from "./packed-script.js";
import { assignments } from "./shell.js";

/** One machine that is reached over SSH. The host key is not optional: without it nothing would be verified. */
export interface SshHop {
  readonly host: pulumi.Input<string>;
  readonly user: pulumi.Input<string>;
  /** `ssh-ed25519 AAAA...`, the only key that the machine may answer with. */
  readonly hostKey: pulumi.Input<string>;
  /** Its name, by which Nova is asked about a machine on the way that falls silent. */
  readonly machine: string;
  /** ID of its server, by which Nova is asked about the machine on which a script falls silent. */
  readonly server: pulumi.Input<string>;
}

/** The way to a machine: directly, or through another machine that is reachable. The login key is the ssh-agent's. */
export interface Connection extends SshHop {
  readonly proxy?: SshHop;
}

/**
 * How long a machine that does not answer is dialled. The wait between two dials grows from 0.1 s by half to 5 s:
 * 30 dials take 111 s when they are refused at once, and 111 s + 30 x 4 s = 231 s when packets are dropped.
 */
export const dialBudget = { dialErrorLimit: 30, perDialTimeout: 4 } as const;
/** Seconds after which dialling has come to nothing at the latest. What has to wait longer dials anew (failed-machines.ts). */
export const dialSeconds = 231;

export interface RemoteScriptArgs {
  /**
   * The script is given the ID of its server as SERVER_ID: what a script did belongs to the server that it ran on, and
   * another server runs it again. Another server on the way there is none of its business.
   */
  readonly connection: Connection;
  /** Texts of static shell scripts, run one after another by one shell. */
  readonly scripts: readonly string[];
  /**
   * Texts of programs that the scripts install, by the variable that holds each. The same on all machines of a role, and no secret:
   * packed with the scripts. @default none
   */
  readonly programs?: Readonly<Record<string, string>>;
  /**
   * What the scripts read. Travels by standard input, before them, so that no process list shows it. One secret among it makes all of
   * it one, scripts and all: the engine keeps each such text and what it became for as long as it runs.
   */
  readonly values: Readonly<Record<string, pulumi.Input<string>>>;
  /**
   * `up`: runs when it is made, with the argument `create`, and whenever anything in it changes, with `update`.
   * `delete`: runs once, when it is deleted.
   */
  readonly when: "up" | "delete";
}

const shell = "sudo -n bash -s";

const addressOf = ({ host, user, hostKey }: SshHop) => ({ host, user, hostKey });

/**
 * Static scripts run as root on one machine: one SSH connection. No `triggers` (they replace, and a replacement runs
 * the new script before the old one is deleted): scripts converge, so a changed input simply runs them again.
 */
export class RemoteScript extends command.remote.Command {
  constructor(name: string, args: RemoteScriptArgs, opts?: pulumi.CustomResourceOptions) {
    const { proxy, server } = args.connection;
    const path = proxy ? pulumi.interpolate`${server},${proxy.machine}` : server;
    const script = assignments(args.programs ?? {}) + args.scripts.join("\n");
    const stdin = pulumi
      .all({ ...args.values, SERVER_ID: server, SERVER_PATH: path })
      .apply((values) => assignments(values) + packed(script));
    super(
      name,
      {
        connection: {
          ...addressOf(args.connection),
          ...dialBudget,
          ...(proxy && { proxy: { ...addressOf(proxy), ...dialBudget } }),
        },
        ...(args.when === "up"
          ? { create: `${shell} create`, update: `${shell} update` }
          : { delete: shell }),
        stdin,
        addPreviousOutputInEnv: false,
        // Standard error carries progress sentences of our own, standard output the result.
        logging: command.types.enums.remote.Logging.Stderr,
      },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["stdout", "stderr"] }),
    );
  }

  /**
   * One value of the line of JSON that the script ended with; known only after it ran, and secret. `otherwise` stands for a
   * value that the script of an earlier release did not give.
   */
  result(key: string, otherwise?: string): pulumi.Output<string> {
    return pulumi.secret(this.stdout).apply((line) => valueOf(line, key) ?? absent(key, otherwise));
  }
}

function absent(key: string, otherwise: string | undefined): string {
  if (otherwise === undefined) throw new TypeError(`the script's result has no "${key}"`);
  return otherwise;
}

function valueOf(line: string, key: string): string | undefined {
  const parsed: unknown = JSON.parse(line);
  const fields = typeof parsed === "object" && parsed !== null ? Object.entries(parsed) : [];
  const value: unknown = fields.find(([name]) => name === key)?.[1];
  return typeof value === "string" ? value : undefined;
}

/** A command whose text a later release words otherwise must not run again: what it made would change. */
const madeOnce = { ignoreChanges: ["create"] };

/** 32 random bytes, base64, made once on the machine that runs the program and kept as a secret. */
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

export interface RandomIdentityArgs {
  /**
   * Whether the engine refuses to delete it. Nothing replaces it while the cluster lives, so a protected one stands in the way
   * of nothing but a destroy. Default: no.
   */
  readonly protect?: boolean;
}

/**
 * The cluster's identity: 12 random hexadecimal digits, made once, no secret. The command line reads it in the state, where
 * it stands before anything that carries it.
 */
export class RandomIdentity extends command.local.Command {
  constructor(
    name: string,
    { protect = false }: RandomIdentityArgs,
    opts?: pulumi.CustomResourceOptions,
  ) {
    super(
      name,
      {
        // Without od there would be an empty one.
        create:
          "id=$(head -c 6 /dev/urandom | od -An -v -tx1 | tr -d ' \\n') && [ ${#id} -eq 12 ] && printf %s \"$id\"",
        addPreviousOutputInEnv: false,
        logging: command.types.enums.local.Logging.None,
      },
      // Not `false`, which would undo what somebody asked for of the whole component.
      pulumi.mergeOptions(opts, { ...madeOnce, ...(protect && { protect }) }),
    );
  }

  get identity(): pulumi.Output<string> {
    return this.stdout;
  }
}

type Texts = Readonly<Record<string, string>>;

/** Values as the state has them, and those that are to take their place, as far as they are known. */
export interface ValueChange {
  readonly urn: string;
  readonly before: Texts;
  readonly now: Texts;
}

export interface KeptValuesArgs {
  /** No secrets: they are in the state in clear, and a preview shows them. */
  readonly values: Readonly<Record<string, pulumi.Input<string>>>;
  /** Called before a change, in a preview too. What it throws ends the run. */
  readonly check: (change: ValueChange) => Promise<void>;
}

/** Values that the state keeps. A change of them is an update in place; nothing runs. */
export class KeptValues extends command.local.Command {
  constructor(
    name: string,
    { values, check }: KeptValuesArgs,
    opts?: pulumi.CustomResourceOptions,
  ) {
    const look: pulumi.ResourceHookFunction = ({ urn, oldInputs, newInputs }) =>
      check({ urn, before: textsOf(oldInputs), now: textsOf(newInputs) });
    // The engine calls hooks from outside the program's asynchronous context, in which alone it can be asked something.
    const hook = new pulumi.ResourceHook(`check-${name}`, AsyncResource.bind(look), {
      onDryRun: true,
    });
    // Without a command the plugin only keeps the inputs.
    super(
      name,
      { environment: values },
      pulumi.mergeOptions(opts, { hooks: { beforeUpdate: [hook] } }),
    );
  }
}

/** The values in the inputs of a KeptValues. What is not known yet is no text. */
function textsOf(inputs: Readonly<Record<string, unknown>> | undefined): Texts {
  const texts = Object.entries(inputs?.["environment"] ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return Object.fromEntries(texts);
}
