import { AsyncResource } from "node:async_hooks";
import * as pulumi from "@pulumi/pulumi";
import { Failure } from "../../base/failures/failure.js";
import {
  describeServer,
  readServerState,
  isInterventionNeeded,
  getWakeServerCommand,
  type ServerState,
} from "../../openstack/inventory/server-diagnostics.js";
import { probeLogin } from "../../base/ssh-client.js";
import type { CloudFacts } from "../lookup/cloud-lookup.js";
import { reportFailure } from "../pulumi/errors.js";
import { markNeverAnswered } from "../lookup/existing-servers.js";
import type { LocalContext } from "../lookup/local-context.js";
import { longestDialSeconds, type SshConnection } from "../remote-scripts/remote-script.js";
import type { ExistingServers } from "../lookup/server-metadata.js";
import { ScriptRetries } from "./script-retries.js";

/** Machine on which a script runs: its name, its server and the SSH connection. */
export interface ScriptServer {
  readonly machine: string;
  readonly serverId: pulumi.Output<string>;
  readonly connection: SshConnection;
}

/** Time limits for connections to a machine. */
export interface ConnectionTimeLimits {
  /**
   * Minutes to wait for a machine that has never answered. The plugin's first round of attempts
   * (231 s) is never shortened. @default one round
   */
  readonly bootMinutes?: number;
  /** Number of the plugin's rounds of attempts for a machine that has answered. @default 1 */
  readonly timeoutFactor?: number;
  /**
   * Seconds to wait before a script starts again after its connection ended. While a machine shuts
   * down, its sshd still accepts connections for a moment.
   * @default 5
   */
  readonly pauseSeconds?: number;
}

/** Machine that does not answer on SSH, with its server in Nova. */
export interface UnreachableServer {
  readonly machine: string;
  readonly serverId: string;
}

/**
 * Diagnoses machines that do not answer on SSH, and replaces servers that never answered. The
 * engine regards a server as complete when Nova has created it, so the engine would keep a server
 * that never boots. The program therefore marks such a server in its metadata, and the next run of
 * any user replaces the server.
 */
export class UnreachableServers {
  /** IDs of the servers on which a script has finished in this run. */
  readonly #finishedOn = new Set<string>();

  /**
   * Creates an object for one run.
   *
   * @param operator access to Nova, to find out why a machine fails. Default: no access
   * @param servers servers in Nova, with their marks. Default: unknown. In a run without this list,
   *   no server is marked, because the next run would not read the mark
   * @param patience time limits for connections
   */
  constructor(
    private readonly operator?: LocalContext,
    private readonly servers?: ExistingServers,
    readonly patience: ConnectionTimeLimits = {},
  ) {}

  /**
   * Returns the object for a run. Uses the list of servers in `cloud` only if `cloud` is known
   * before the engine runs, not if it is a promise or an output.
   */
  static forRun(
    operator?: LocalContext,
    cloud?: pulumi.Input<CloudFacts>,
    patience?: ConnectionTimeLimits,
  ): UnreachableServers {
    const late = cloud instanceof Promise || pulumi.Output.isInstance(cloud);
    return new UnreachableServers(operator, late ? undefined : cloud?.servers, patience);
  }

  /**
   * Returns the ID of the machine's server if the server never answered. Otherwise returns
   * undefined.
   */
  findNeverAnsweredServer(machine: string): string | undefined {
    const server = this.servers?.[machine];
    return server?.failed === true ? server.id : undefined;
  }

  /**
   * Returns whether the server must not have `powerState` in `ignoreChanges`, because OpenStack's
   * provider would refuse the recorded power state.
   */
  isPowerStateRefused(machine: string): boolean {
    return this.servers?.[machine]?.powerRefused === true;
  }

  /**
   * Records that a script has finished on a server in this run. The state that the program reads is
   * from the start of the run, so it does not contain this information.
   */
  recordFinishedScript(server: pulumi.Output<string>, script: pulumi.Output<string>): void {
    pulumi.all([server, script]).apply(([id]) => this.#finishedOn.add(id));
  }

  /** Returns whether a script has finished on the server in this run. */
  hasFinishedScript(serverId: string): boolean {
    return this.#finishedOn.has(serverId);
  }

  /** Returns the error hook of a server, which reports why Nova could not create the server. */
  createServerErrorHook(machine: string): pulumi.ErrorHook {
    return createErrorHook(`explain-${machine}`, async ({ errors }) => {
      const id = parseServerId(errors.join("\n"));
      if (id !== undefined) {
        const sentence = `Nova could not create the machine ${machine}; the next \`up\` replaces it.`;
        const { text } = await this.describeState(id);
        await reportFailure(new Failure("SERVER_ERROR", `${sentence} ${text}`));
      }
      return false;
    });
  }

  /**
   * Returns the error hook of a script. After a failure, the hook decides whether the engine runs
   * the script again. If the machine caused the failure, the hook reports the state of its server
   * in Nova.
   *
   * @param script name of the script
   */
  createScriptErrorHook(
    { machine, serverId, connection }: ScriptServer,
    script: string,
  ): pulumi.ErrorHook {
    const failures = new ScriptRetries(this, { machine, serverId, connection }, script);
    return createErrorHook(`examine-${machine}-${script}`, (failure) =>
      failures.shouldRetry(failure),
    );
  }

  /**
   * Returns the failure for a machine that does not answer. If Nova reports the server as stopped,
   * the failure contains the command that starts the server.
   *
   * @param first whether no script has ever finished on the server. If true, and if the server is
   *   not stopped, this method marks the server for replacement
   */
  async createUnreachableFailure(
    { machine, serverId }: UnreachableServer,
    first: boolean,
  ): Promise<Failure> {
    const { state, text } = await this.describeState(serverId);
    const command = state && getWakeServerCommand(state);
    if (state && command !== undefined)
      return new Failure(
        "SERVER_STOPPED",
        `The machine ${machine} does not run: Nova says ${state.status}. Start it with \`${command}\`.`,
      );
    if (!first) return createSilentFailure(machine, state, text);
    const never = `The machine ${machine} never answered on SSH;`;
    const next = await this.decideNextStep(serverId, state);
    return new Failure("SERVER_NEVER_BOOTED", `${never} ${next}. ${text}`);
  }

  /**
   * Returns whether a machine that does not answer may still be booting: the time limit is not
   * exceeded, and neither its server nor the server of its proxy is stopped or failed in Nova.
   *
   * @param waited seconds since the first failed connection
   * @param bears time limit in seconds. Default: the limit for a machine that never answered
   */
  async mayBoot(
    [serverId, proxy]: readonly [string, { readonly server: string } | undefined],
    waited: number,
    bears = this.getConnectionTimeout(true),
  ): Promise<boolean> {
    if (longestDialSeconds + waited >= bears) return false;
    const servers = [serverId, ...(proxy ? [proxy.server] : [])];
    const states = await Promise.all(servers.map((id) => this.stateOf(id)));
    return !states.some((state) => state && isInterventionNeeded(state));
  }

  /**
   * Returns the failure of a machine whose server does not run in Nova. Returns undefined if the
   * server runs.
   */
  async findStoppedFailure(hop: { readonly machine: string; readonly server: string }) {
    const state = await this.stateOf(hop.server);
    return state && isInterventionNeeded(state)
      ? this.createUnreachableFailure({ machine: hop.machine, serverId: hop.server }, false)
      : undefined;
  }

  /**
   * Returns the time limit for connections in seconds. If `first` is true, the machine has never
   * answered and may still be booting.
   */
  getConnectionTimeout(first: boolean): number {
    const { bootMinutes = 0, timeoutFactor = 1 } = this.patience;
    return first ? 60 * bootMinutes : longestDialSeconds * timeoutFactor;
  }

  /** Returns the server's state. Returns undefined if Nova does not answer. */
  private async stateOf(serverId: string): Promise<ServerState | undefined> {
    try {
      const cloud = await this.operator?.connect();
      return cloud && (await readServerState(cloud, serverId));
    } catch {
      return undefined;
    }
  }

  /**
   * Marks the server of a machine that never answered for replacement, if possible. Returns what
   * happens next, as text for the user.
   */
  private async decideNextStep(serverId: string, state: ServerState | undefined): Promise<string> {
    if (state?.status === "DELETED") return "`up --refresh` creates it again";
    return (await this.mark(serverId, state))
      ? "the next `up` replaces it"
      : "raise its generation to have it replaced";
  }

  /**
   * Marks a server for replacement. Returns whether the next run will know that the server never
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
   * Tests a login on the SSH route of a script whose error does not show the cause. Returns "again"
   * (run the script again) if the machine answers. Also returns "again" if only the proxy answers:
   * the error of the next attempt then shows whether the machine or the proxy fails.
   */
  async probeRoute(
    connection: pulumi.Unwrap<SshConnection>,
  ): Promise<"again" | "wrong host key" | "other"> {
    const agentSocket = this.operator?.agentSocket;
    if (agentSocket === undefined) return "other";
    const answer = await probeLogin(connection, { agentSocket });
    if (answer === "wrong host key") return answer;
    return answer === "no answer" ? "other" : "again";
  }

  private async describeState(serverId: string): Promise<{ state?: ServerState; text: string }> {
    if (!this.operator) return { text: "The program has no access to Nova." };
    try {
      const cloud = await this.operator.connect();
      const state = await readServerState(cloud, serverId);
      return { state, text: await describeServer(cloud, serverId, state) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { text: `Nova does not report the server ${serverId}: ${reason}` };
    }
  }
}

/**
 * Returns an error hook that runs in the asynchronous context of the program. The engine calls
 * hooks in another context, in which `pulumi.log` does not work.
 */
export const createErrorHook = (
  name: string,
  callback: pulumi.ErrorHookFunction,
): pulumi.ErrorHook => new pulumi.ErrorHook(name, AsyncResource.bind(callback));

/** Returns the failure for a machine that has answered before but does not answer now. */
function createSilentFailure(
  machine: string,
  state: ServerState | undefined,
  text: string,
): Failure {
  const hint = state?.status === "DELETED" ? "; `up --refresh` creates it again" : "";
  return new Failure(
    "SSH_UNREACHABLE",
    `The machine ${machine} does not answer on SSH${hint}. ${text}`,
  );
}

/**
 * Returns the ID of the server in an error message of OpenStack's provider. Returns undefined if
 * the message contains no ID.
 */
export function parseServerId(message: string): string | undefined {
  return /instance \(?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)?/i.exec(message)?.[1];
}
