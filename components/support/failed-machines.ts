import { AsyncResource } from "node:async_hooks";
import * as pulumi from "@pulumi/pulumi";
import { Failure } from "../../base/failure.js";
import {
  describeServer,
  serverState,
  standsStill,
  wakingCommand,
  type ServerState,
} from "../../cloud/diagnose.js";
import { whoAnswers, type SshRoute } from "../../cloud/ssh.js";
import type { CloudFacts } from "./catalog.js";
import { report } from "./errors.js";
import { markNeverAnswered } from "./existing-servers.js";
import type { Operator } from "./operator.js";
import { dialSeconds, type Connection } from "./remote-script.js";
import type { ExistingServers } from "./server-marks.js";
import { ScriptFailures } from "./script-failures.js";

/** A machine as far as a failure has to name it, and the way to it. */
export interface ReachedServer {
  readonly machine: string;
  readonly serverId: pulumi.Output<string>;
  readonly connection: Connection;
}

/** How long machines are dialled. */
export interface DialPatience {
  /** Minutes for one that never answered. @default one budget of dials */
  readonly bootMinutes?: number;
  /** How many budgets of dials one gets that answered before. @default 1 */
  readonly timeoutFactor?: number;
  /**
   * Seconds before a script whose connection ended starts again: sshd still accepts connections while its machine shuts down.
   * @default 5
   */
  readonly pauseSeconds?: number;
}

/** A machine that does not answer. */
export interface SilentServer {
  readonly machine: string;
  readonly serverId: string;
  /** On which it was tried, and is tried once more before it is replaced. @default it is not tried */
  readonly way?: SshRoute;
}

/**
 * Machines whose server runs but never answered. The engine takes such a server for a good one; a mark on the server itself,
 * which every operator sees, makes the next run replace it.
 */
export class FailedMachines {
  /**
   * @param operator without one nobody is asked why a machine fails
   * @param servers as Nova has them; without them nothing is marked, since no run would know of it
   * @param patience how long a machine is dialled
   */
  constructor(
    private readonly operator?: Operator,
    private readonly servers?: ExistingServers,
    readonly patience: DialPatience = {},
  ) {}

  /** Those of a run: whoever makes the cluster has to have waited for what is known of the cloud. */
  static of(
    operator?: Operator,
    cloud?: pulumi.Input<CloudFacts>,
    patience?: DialPatience,
  ): FailedMachines {
    const late = cloud instanceof Promise || pulumi.Output.isInstance(cloud);
    return new FailedMachines(operator, late ? undefined : cloud?.servers, patience);
  }

  /** ID of the machine's server, if it never answered. */
  serverOf(machine: string): string | undefined {
    const server = this.servers?.[machine];
    return server?.failed === true ? server.id : undefined;
  }

  /** Whether OpenStack's provider would refuse the power state of the machine's server if it was ignored. */
  refusesPower(machine: string): boolean {
    return this.servers?.[machine]?.powerRefused === true;
  }

  /** When the server cannot be made: says why, which Nova knows and the provider does not pass on. */
  explain(machine: string): pulumi.ErrorHook {
    return errorHook(`explain-${machine}`, async ({ errors }) => {
      const id = serverIn(errors.join("\n"));
      if (id !== undefined) {
        const sentence = `Nova could not make the machine ${machine}; the next \`up\` replaces it.`;
        const { text } = await this.evidence(id);
        await report(new Failure("SERVER_ERROR", `${sentence} ${text}`));
      }
      return false;
    });
  }

  /**
   * When a script on a machine fails because of the machine: says so, with what Nova knows.
   *
   * @param script its name
   */
  examine({ machine, serverId, connection }: ReachedServer, script: string): pulumi.ErrorHook {
    const failures = new ScriptFailures(this, { machine, serverId, connection }, script);
    return errorHook(`examine-${machine}-${script}`, (failure) => failures.startsAgain(failure));
  }

  /**
   * What there is to say about a machine that does not answer. One that did not even answer its first script is marked; one
   * that worked before is never replaced because it is out of reach for a while, nor one that somebody stopped.
   */
  async judge({ machine, serverId, way }: SilentServer, first: boolean): Promise<Failure> {
    const { state, text } = await this.evidence(serverId);
    const command = state && wakingCommand(state);
    if (state && command !== undefined)
      return new Failure(
        "SERVER_STOPPED",
        `The machine ${machine} does not run: Nova says ${state.status}. Bring it back with \`${command}\`.`,
      );
    if (!first) return silentNow(machine, state, text);
    const never = `The machine ${machine} never answered on SSH;`;
    const next = await this.nextFor({ serverId, way }, state);
    return new Failure("SERVER_NEVER_BOOTED", `${never} ${next}. ${text}`);
  }

  /**
   * Returns whether a machine that does not answer, or the one through which it is reached, may still come up.
   *
   * @param waited seconds since it was dialled in vain for the first time
   * @param bears seconds for which it may be dialled in all. Default: those of one that never answered
   */
  async mayBoot(
    [serverId, proxy]: readonly [string, { readonly server: string } | undefined],
    waited: number,
    bears = this.dialSeconds(true),
  ): Promise<boolean> {
    if (dialSeconds + waited >= bears) return false;
    const servers = [serverId, ...(proxy ? [proxy.server] : [])];
    const states = await Promise.all(servers.map((id) => this.stateOf(id)));
    return !states.some((state) => state && standsStill(state));
  }

  /** Returns why a machine does not answer, if Nova says that it does not run. */
  async stopped(hop: { readonly machine: string; readonly server: string }) {
    const state = await this.stateOf(hop.server);
    return state && standsStill(state)
      ? this.judge({ machine: hop.machine, serverId: hop.server }, false)
      : undefined;
  }

  /** Seconds for which a machine is dialled: one that never answered boots, one that did may be slow to boot again. */
  dialSeconds(first: boolean): number {
    const { bootMinutes = 0, timeoutFactor = 1 } = this.patience;
    return first ? 60 * bootMinutes : dialSeconds * timeoutFactor;
  }

  /** Undefined where Nova cannot be asked. */
  private async stateOf(serverId: string): Promise<ServerState | undefined> {
    try {
      const cloud = await this.operator?.connect();
      return cloud && (await serverState(cloud, serverId));
    } catch {
      return undefined;
    }
  }

  /** What replaces a machine that never answered. */
  private async nextFor(
    server: Pick<SilentServer, "serverId" | "way">,
    state: ServerState | undefined,
  ): Promise<string> {
    if (state?.status === "DELETED") return "`up --refresh` creates it again";
    if (!(await this.mark(server, state))) return "raise its generation to have it replaced";
    const tried = server.way && state?.status !== "ERROR";
    return `the next \`up\` replaces it${tried ? ", unless it answers by then" : ""}`;
  }

  /** Remembers a server that is to be replaced; answers whether the next run will know. */
  private async mark(
    { serverId, way }: Pick<SilentServer, "serverId" | "way">,
    state: ServerState | undefined,
  ): Promise<boolean> {
    if (!this.operator || !this.servers) return false;
    if (state?.status === "ERROR") return true;
    try {
      await markNeverAnswered(await this.operator.connect(), serverId, way);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Looks who answers on the way that the script took. A machine that does so by now gets its script again; so does one that is
   * silent behind a proxy that answers: only dialled anew does it say whether it is the machine that is silent.
   */
  async ask(connection: pulumi.Unwrap<Connection>): Promise<"again" | "wrong host key" | "other"> {
    const agentSocket = this.operator?.agentSocket;
    if (agentSocket === undefined) return "other";
    const answer = await whoAnswers(connection, { agentSocket });
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
 * The engine calls hooks from outside the program's asynchronous context. Bound to it, `pulumi.log` finds the engine; else
 * what it says would only stand on the screen, and not at all where the program runs inline.
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

/** ID of the server that an error of the OpenStack provider is about. */
export function serverIn(message: string): string | undefined {
  return /instance \(?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)?/i.exec(message)?.[1];
}
