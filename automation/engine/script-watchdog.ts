import { connectCloud, type CloudClient } from "../../openstack/client/cloud-client.js";
import {
  readServerState,
  isInterventionNeeded,
  getWakeServerCommand,
  type ServerState,
} from "../../openstack/inventory/server-diagnostics.js";
import { Failure } from "../../base/failures/failure.js";
import { getScriptMachineName, type DecodedEngineEvent } from "../pulumi/events.js";
import { parseUrn } from "../pulumi/urn.js";

/*
 * If the machine of a script stops, the command plugin waits forever for the script, and the engine
 * waits for the plugin. Therefore each script prints a heartbeat line every 5 s
 * (components/remote-scripts/scripts/common.sh). If a script prints nothing for 15 s, the watch
 * asks Nova about the script's server. If the server does not run, the watch ends the engine.
 *
 * Longest time from the stop of a machine to the end of the engine, 60 s:
 *     16 s  without output of the script; the watch checks once a second
 *   + 18 s  for Nova's answer, including the sign-in
 *   + 16 s  for the work on other resources; 0 s if no other resource is in progress
 *   + 10 s  from SIGINT to SIGKILL for the engine (run-engine.ts)
 *
 * Nova may notice the stop late. While Nova answers ACTIVE, the watch asks again every 20 s.
 *
 * The plugin limits the time for a TCP connection, but not for the SSH handshake and for the copy of
 * the scripts. So the watch also knows scripts that have printed nothing yet.
 */

/** Time limits of the watch, in milliseconds. */
export interface ScriptWatchLimits {
  /**
   * Time without output of a script, after which the watch asks Nova. Three heartbeat lines are
   * missing then.
   */
  readonly silence: number;
  /**
   * Time without a failed connection attempt, after which the watch asks Nova about a script that
   * has printed nothing yet. All attempts of the plugin take less time (`longestDialSeconds`).
   */
  readonly connect: number;
  /** Time between two requests to Nova about the same silent script. */
  readonly again: number;
  /** Time without output after which the watch gives up a script, even if Nova answers ACTIVE. */
  readonly longest: number;
  /** Time for other resources to finish after the watch has given up a script. */
  readonly others: number;
  /**
   * Shortest time between the cancel signal and the kill signal. The engine's process may receive
   * two signals as one if the second signal follows at once.
   */
  readonly apart: number;
  /**
   * Longest normal time between two checks. A longer time means that this process was suspended,
   * for example with the laptop. The watch then restarts the time measurement of every script.
   */
  readonly gap: number;
}

export const scriptWatchLimits: ScriptWatchLimits = {
  silence: 15_000,
  connect: 240_000,
  again: 20_000,
  longest: 300_000,
  others: 15_000,
  apart: 1_000,
  gap: 10_000,
};

/**
 * Matches the status that the command plugin prints for each failed connection attempt. Source:
 * pulumi-command, provider/pkg/provider/remote/connection.go.
 */
const failedDial = /^Dial (?:proxy |from proxy )?\d+\/\S+ failed: retrying$/;

/** Time between two checks of the watch, in milliseconds. */
const tickMilliseconds = 1000;

/** Script that the watch has given up, and the reason. */
export interface ScriptTimeout {
  readonly why: "stopped" | "silent" | "unanswered";
  readonly urn: string;
  readonly step: string;
  readonly serverId: string;
  /** Last answer of Nova. Undefined if Nova did not answer. */
  readonly state: ServerState | undefined;
}

export interface ScriptWatchOptions {
  /** Returns the time of a monotonic clock, in milliseconds. */
  readonly now: () => number;
  readonly ask: (serverId: string) => Promise<ServerState>;
  /** Stops the engine gracefully: no more work starts. */
  readonly cancel: () => void;
  /** Kills the engine at once. */
  readonly kill: () => void;
  readonly times?: Partial<ScriptWatchLimits>;
}

/** Script that is running on a machine. */
interface Script {
  readonly urn: string;
  readonly step: string;
  readonly serverId: string;
  /**
   * IDs or names of the servers that may have stopped: the script's server, and the servers on the
   * SSH route to this server.
   */
  readonly servers: readonly string[];
  /** Whether the script has printed no sign of life yet. */
  readonly isConnecting: boolean;
  heardAt: number;
  /** Time of the command plugin's last failed attempt to connect to the script's machine. */
  dialledAt: number;
  /** Time of the next request to Nova, unless the script prints a line before. */
  askAt: number;
  state: ServerState | undefined;
}

/**
 * Watches the scripts of one operation. If the machine of a script has stopped, gives up the script
 * and ends the engine. Never gives up a script that prints lines.
 */
export class ScriptWatch {
  private readonly times: ScriptWatchLimits;
  private readonly running = new Set<string>();
  private readonly scripts = new Map<string, Script>();
  private lastTick: number | undefined;
  private given: (ScriptTimeout & { readonly at: number }) | undefined;
  private killed = false;

  constructor(private readonly options: ScriptWatchOptions) {
    this.times = { ...scriptWatchLimits, ...options.times };
  }

  get scriptTimeout(): ScriptTimeout | undefined {
    return this.given;
  }

  processEvent(event: DecodedEngineEvent): void {
    switch (event.type) {
      case "started":
        this.running.add(event.change.urn);
        this.connecting(event);
        return;
      case "finished":
      case "failed":
        this.running.delete(event.change.urn);
        this.scripts.delete(event.change.urn);
        return;
      case "alive":
        this.alive(event);
        return;
      case "log":
        if (failedDial.test(event.text)) this.dialled(this.scripts.get(event.urn));
        else this.heard(this.scripts.get(event.urn));
        return;
      case "message":
        this.heard(this.scripts.get(event.urn));
        return;
      default:
    }
  }

  /** Checks all scripts. The caller calls this method about once a second. */
  checkScripts(): void {
    const now = this.options.now();
    const gap = now - (this.lastTick ?? now);
    this.lastTick = now;
    if (gap > this.times.gap) for (const script of this.scripts.values()) this.heard(script);
    if (this.given) this.end(now - this.given.at);
    else for (const script of this.scripts.values()) this.checkScript(script, now);
  }

  /** Watches a script from its start, because its connection may hang. */
  private connecting({ change, serverId }: Extract<DecodedEngineEvent, { type: "started" }>): void {
    if (serverId === undefined) return;
    const { urn } = change;
    const step = parseUrn(urn).name.split("-").at(-1) ?? "";
    this.watchScript({ urn, step, serverId, servers: [serverId], isConnecting: true });
  }

  private watchScript(
    script: Pick<Script, "urn" | "step" | "serverId" | "servers" | "isConnecting">,
  ): void {
    this.scripts.set(script.urn, {
      ...script,
      heardAt: 0,
      dialledAt: 0,
      askAt: 0,
      state: undefined,
    });
    this.heard(this.scripts.get(script.urn));
  }

  private alive({
    urn,
    step,
    serverId,
    through,
  }: Extract<DecodedEngineEvent, { type: "alive" }>): void {
    if (!this.running.has(urn) || parseUrn(urn).type !== "command:remote:Command") return;
    const known = this.scripts.get(urn);
    if (known?.serverId === serverId && !known.isConnecting) this.heard(known);
    else {
      const servers = [serverId, ...through];
      this.watchScript({ urn, step, serverId, servers, isConnecting: false });
    }
  }

  private heard(script: Script | undefined): void {
    if (!script) return;
    script.heardAt = this.options.now();
    script.askAt = script.heardAt + (script.isConnecting ? this.times.connect : this.times.silence);
    script.state = undefined;
  }

  /**
   * Records that the plugin failed to connect to the script's machine. The machine may be
   * restarting. So the attempt restarts the limit `longest`, but the watch still asks Nova.
   */
  private dialled(script: Script | undefined): void {
    if (!script) return;
    script.dialledAt = this.options.now();
    if (script.isConnecting) script.askAt = script.dialledAt + this.times.connect;
  }

  private checkScript(script: Script, now: number): void {
    if (now - Math.max(script.heardAt, script.dialledAt) >= this.times.longest)
      this.giveUp(script, script.isConnecting ? "unanswered" : "silent");
    if (this.given || now < script.askAt) return;
    script.askAt = now + this.times.again;
    void this.question(script);
  }

  /**
   * Asks Nova about the script's servers. Ignores the answer if the script has ended or printed a
   * line after the request.
   */
  private async question(script: Script): Promise<void> {
    const { heardAt, serverId } = script;
    const ask = async (id: string): Promise<void> => {
      const state = await this.options.ask(id).catch(() => undefined);
      if (this.scripts.get(script.urn) !== script || script.heardAt !== heardAt) return;
      if (id === serverId) script.state = state ?? script.state;
      if (state && isInterventionNeeded(state))
        this.giveUp({ ...script, serverId: id, state }, "stopped");
    };
    await Promise.all(script.servers.map(ask));
  }

  private giveUp({ urn, step, serverId, state }: Script, why: ScriptTimeout["why"]): void {
    if (this.given) return;
    this.given = { why, urn, step, serverId, state, at: this.options.now() };
    this.options.cancel();
  }

  private end(waited: number): void {
    const timeLimit = this.onlySilenceIsLeft() ? this.times.apart : this.times.others;
    if (this.killed || waited < timeLimit) return;
    this.killed = true;
    this.options.kill();
  }

  private onlySilenceIsLeft(): boolean {
    const silentSince = this.options.now() - this.times.silence;
    return [...this.running].every((urn) => {
      const script = this.scripts.get(urn);
      return script?.isConnecting === false && script.heardAt <= silentSince;
    });
  }
}

/** Returns the error for a script that the watch has given up. */
export function createScriptTimeoutError({
  why,
  urn,
  step,
  serverId,
  state,
}: ScriptTimeout): Failure {
  const name = state?.name ?? getScriptMachineName(urn, step);
  const subject = { urn, resource: parseUrn(urn).name };
  const again = "then run the same command again: it continues where it stopped.";
  const lastWords = `\`openstack console log show ${name}\` shows its last output.`;
  const says = state === undefined ? "Nova cannot be asked" : `Nova says ${state.status}`;
  const minutes = `${scriptWatchLimits.longest / 60_000} minutes`;
  if (why !== "stopped")
    return new Failure(
      "SERVER_SILENT",
      why === "silent"
        ? `The machine ${name} was silent for ${minutes} while its script '${step}' ran: ${says}.`
        : `The machine ${name} accepted a connection for its step '${step}', but sent nothing for ${minutes}: ${says}.`,
      `The machine hangs, or no connection reaches it (SSH connects to a worker through a control plane). ${lastWords} Repair it, ${again}`,
      subject,
    );
  const command = state && getWakeServerCommand(state);
  return new Failure(
    "SERVER_STOPPED",
    `The machine ${name} stopped while its script '${step}' ran: ${says}.`,
    command === undefined
      ? `\`openstack server event list ${serverId}\` shows what happened to it. If it was deleted, run \`stackadm up --refresh\`, which recreates it; otherwise start it, ${again}`
      : `${lastWords} Start it with \`${command}\`, ${again}`,
    subject,
  );
}

/**
 * Returns a function that asks Nova for a server's state. The function signs in at the first call,
 * and again after a failed request.
 */
function askNova(env: NodeJS.ProcessEnv): (serverId: string) => Promise<ServerState> {
  let cloud: Promise<CloudClient> | undefined;
  return async (serverId) => {
    cloud ??= connectCloud({ env });
    try {
      return await readServerState(await cloud, serverId);
    } catch (error) {
      cloud = undefined;
      throw error;
    }
  };
}

/** Watches the scripts of one operation until `stop` is called. */
export function watchScripts({
  env,
  ...options
}: Omit<ScriptWatchOptions, "now" | "ask"> & { readonly env: NodeJS.ProcessEnv }): {
  readonly watch: ScriptWatch;
  readonly stop: () => void;
} {
  const watch = new ScriptWatch({ ...options, now: () => performance.now(), ask: askNova(env) });
  const timer = setInterval(() => {
    watch.checkScripts();
  }, tickMilliseconds);
  return {
    watch,
    stop: () => {
      clearInterval(timer);
    },
  };
}
