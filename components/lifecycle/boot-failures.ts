import { AsyncResource } from "node:async_hooks";
import * as pulumi from "@pulumi/pulumi";
import { Failure } from "../../base/failures/failure.js";
import {
  describeServer,
  serverState,
  needsIntervention,
  wakingCommand,
  type ServerState,
} from "../../openstack/inventory/server-diagnostics.js";
import { probeLogin } from "../../base/ssh-client.js";
import type { CloudFacts } from "../lookup/cloud-lookup.js";
import { reportFailure } from "../pulumi/errors.js";
import { markNeverAnswered } from "../lookup/marked-servers.js";
import type { LocalContext } from "../lookup/local-context.js";
import { dialSeconds, type Connection } from "../remote-scripts/remote-script.js";
import type { ExistingServers } from "../lookup/server-metadata.js";
import { ScriptFailures } from "./script-failures.js";

/** Machine on which a script runs: name, server and SSH connection. */
export interface ScriptServer {
  readonly machine: string;
  readonly serverId: pulumi.Output<string>;
  readonly connection: Connection;
}

/** Time limits for connection attempts to a machine. */
export interface DialPatience {
  /** Minutes for a machine that has never answered. @default one round of attempts (231 s) */
  readonly bootMinutes?: number;
  /** Number of rounds of attempts for a machine that has answered before. @default 1 */
  readonly timeoutFactor?: number;
  /**
   * Seconds before a script starts again after its connection ended: sshd still accepts connections
   * while the machine shuts down.
   * @default 5
   */
  readonly pauseSeconds?: number;
}

/** Machine that does not answer. */
export interface UnreachableServer {
  readonly machine: string;
  readonly serverId: string;
}

/**
 * Machines whose server was created but never answered on SSH. For the engine, such a server is
 * complete. Metadata on the server, which every user of the project can read, make the next run
 * replace the server.
 */
export class FailedMachines {
  /** IDs of the servers on which a script finished in this run. */
  readonly #ranOn = new Set<string>();

  /**
   * Creates an object for one run.
   *
   * @param operator access to Nova, for the reason why a machine fails. Default: no reason
   * @param servers servers in Nova. Default: no server is marked, because the next run could not
   * find it
   * @param patience time limits for connection attempts
   */
  constructor(
    private readonly operator?: LocalContext,
    private readonly servers?: ExistingServers,
    readonly patience: DialPatience = {},
  ) {}

  /** Returns the object for a run. Does not use facts of the cloud that are not known yet. */
  static of(
    operator?: LocalContext,
    cloud?: pulumi.Input<CloudFacts>,
    patience?: DialPatience,
  ): FailedMachines {
    const late = cloud instanceof Promise || pulumi.Output.isInstance(cloud);
    return new FailedMachines(operator, late ? undefined : cloud?.servers, patience);
  }

  /** Returns the ID of the machine's server if the server never answered; otherwise undefined. */
  serverOf(machine: string): string | undefined {
    const server = this.servers?.[machine];
    return server?.failed === true ? server.id : undefined;
  }

  /**
   * Returns whether OpenStack's provider would refuse the server's power state if the program
   * ignored changes of it.
   */
  refusesPower(machine: string): boolean {
    return this.servers?.[machine]?.powerRefused === true;
  }

  /** Remembers the server of a script that finished; the state has only earlier runs. */
  ran(server: pulumi.Output<string>, script: pulumi.Output<string>): void {
    pulumi.all([server, script]).apply(([id]) => this.#ranOn.add(id));
  }

  hasRunOn(serverId: string): boolean {
    return this.#ranOn.has(serverId);
  }

  /** Returns the hook that reports why Nova could not create a server. */
  explain(machine: string): pulumi.ErrorHook {
    return errorHook(`explain-${machine}`, async ({ errors }) => {
      const id = serverIn(errors.join("\n"));
      if (id !== undefined) {
        const sentence = `Nova could not create the machine ${machine}; the next \`up\` replaces it.`;
        const { text } = await this.evidence(id);
        await reportFailure(new Failure("SERVER_ERROR", `${sentence} ${text}`));
      }
      return false;
    });
  }

  /**
   * Returns the hook for a failed script. If the machine is the cause, the hook reports the state
   * of the server in Nova.
   *
   * @param script name of the script
   */
  examine({ machine, serverId, connection }: ScriptServer, script: string): pulumi.ErrorHook {
    const failures = new ScriptFailures(this, { machine, serverId, connection }, script);
    return errorHook(`examine-${machine}-${script}`, (failure) => failures.startsAgain(failure));
  }

  /**
   * Returns the failure for a machine that does not answer. With `first`, the machine has not even
   * answered its first script, and is marked for replacement. A machine that has worked before, or
   * whose server was stopped, is never replaced.
   */
  async judge({ machine, serverId }: UnreachableServer, first: boolean): Promise<Failure> {
    const { state, text } = await this.evidence(serverId);
    const command = state && wakingCommand(state);
    if (state && command !== undefined)
      return new Failure(
        "SERVER_STOPPED",
        `The machine ${machine} does not run: Nova says ${state.status}. Bring it back with \`${command}\`.`,
      );
    if (!first) return silentNow(machine, state, text);
    const never = `The machine ${machine} never answered on SSH;`;
    const next = await this.nextFor(serverId, state);
    return new Failure("SERVER_NEVER_BOOTED", `${never} ${next}. ${text}`);
  }

  /**
   * Returns whether a machine that does not answer, or its proxy, may still boot.
   *
   * @param waited seconds since the first failed connection attempt
   * @param bears total seconds for attempts. Default: the time limit for a machine that never
   * answered
   */
  async mayBoot(
    [serverId, proxy]: readonly [string, { readonly server: string } | undefined],
    waited: number,
    bears = this.dialSeconds(true),
  ): Promise<boolean> {
    if (dialSeconds + waited >= bears) return false;
    const servers = [serverId, ...(proxy ? [proxy.server] : [])];
    const states = await Promise.all(servers.map((id) => this.stateOf(id)));
    return !states.some((state) => state && needsIntervention(state));
  }

  /**
   * Returns the failure of a machine whose server does not run according to Nova; otherwise
   * undefined.
   */
  async stopped(hop: { readonly machine: string; readonly server: string }) {
    const state = await this.stateOf(hop.server);
    return state && needsIntervention(state)
      ? this.judge({ machine: hop.machine, serverId: hop.server }, false)
      : undefined;
  }

  /**
   * Returns the seconds for connection attempts. With `first`, the machine has never answered and
   * may still boot.
   */
  dialSeconds(first: boolean): number {
    const { bootMinutes = 0, timeoutFactor = 1 } = this.patience;
    return first ? 60 * bootMinutes : dialSeconds * timeoutFactor;
  }

  /** Returns the server's state; undefined if Nova does not answer. */
  private async stateOf(serverId: string): Promise<ServerState | undefined> {
    try {
      const cloud = await this.operator?.connect();
      return cloud && (await serverState(cloud, serverId));
    } catch {
      return undefined;
    }
  }

  /**
   * Returns the next step for a machine that never answered, as text for the user. Marks the server
   * for replacement if possible.
   */
  private async nextFor(serverId: string, state: ServerState | undefined): Promise<string> {
    if (state?.status === "DELETED") return "`up --refresh` creates it again";
    return (await this.mark(serverId, state))
      ? "the next `up` replaces it"
      : "raise its generation to have it replaced";
  }

  /**
   * Marks a server for replacement. Returns whether the next run can find out that the server never
   * answered.
   */
  private async mark(serverId: string, state: ServerState | undefined): Promise<boolean> {
    if (!this.operator || !this.servers) return false;
    if (state?.status === "ERROR") return true;
    try {
      await markNeverAnswered(await this.operator.connect(), serverId);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Returns what a failed script shall do, after a login test on its SSH route. If the machine or
   * only the proxy answers, the script runs again: if only the proxy answers, the error of the next
   * attempt tells which of both machines fails.
   */
  async ask(connection: pulumi.Unwrap<Connection>): Promise<"again" | "wrong host key" | "other"> {
    const agentSocket = this.operator?.agentSocket;
    if (agentSocket === undefined) return "other";
    const answer = await probeLogin(connection, { agentSocket });
    if (answer === "wrong host key") return answer;
    return answer === "nobody" ? "other" : "again";
  }

  private async evidence(serverId: string): Promise<{ state?: ServerState; text: string }> {
    if (!this.operator) return { text: "The program was given no way to ask Nova about it." };
    try {
      const cloud = await this.operator.connect();
      const state = await serverState(cloud, serverId);
      return { state, text: await describeServer(cloud, serverId, state) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { text: `Nova cannot be asked about server ${serverId}: ${reason}` };
    }
  }
}

/**
 * Returns an error hook that runs in the program's asynchronous context. The engine calls hooks in
 * another context, in which `pulumi.log` does not find the engine.
 */
export const errorHook = (name: string, callback: pulumi.ErrorHookFunction): pulumi.ErrorHook =>
  new pulumi.ErrorHook(name, AsyncResource.bind(callback));

function silentNow(machine: string, state: ServerState | undefined, text: string): Failure {
  const hint = state?.status === "DELETED" ? "; `up --refresh` creates it again" : "";
  return new Failure(
    "SSH_UNREACHABLE",
    `The machine ${machine} does not answer on SSH${hint}. ${text}`,
  );
}

/** Returns the ID of the server that an error of the OpenStack provider names. */
export function serverIn(message: string): string | undefined {
  return /instance \(?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)?/i.exec(message)?.[1];
}
