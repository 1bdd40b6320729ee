/**
 * Handles failures of a script whose cause is the machine or the SSH connection, not the script
 * itself. {@link ScriptRetries} decides whether the engine runs the script again, and otherwise
 * reports the reason.
 */
import { setTimeout as delay } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import { Failure } from "../../base/failures/failure.js";
import { reportFailure } from "../pulumi/errors.js";
import type { UnreachableServers, ScriptServer } from "./unreachable-servers.js";
import { isServerNeverReached } from "./server-never-reached.js";
import { awaitKnownOutput } from "../pulumi/pulumi-internals.js";
import type { SshConnection } from "../remote-scripts/remote-script.js";
import { parseSshFailure } from "./ssh-failures.js";

type Way = pulumi.Unwrap<SshConnection>;

/** Counts the failures of one script in one run, and decides about the next attempt. */
export class ScriptRetries {
  private again = 0;
  private cuts = 0;
  private silentSince: number | undefined;

  constructor(
    private readonly machines: UnreachableServers,
    private readonly reached: ScriptServer,
    private readonly script: string,
  ) {}

  /**
   * Returns whether the engine runs the script again after a failure. If not, and if the machine or
   * the connection caused the failure, reports the reason. Errors of the script itself are reported
   * by the engine.
   */
  async shouldRetry(failure: pulumi.ErrorHookArgs): Promise<boolean> {
    const cause = parseSshFailure(failure.errors[0] ?? "");
    const connection: Way = await awaitKnownOutput(pulumi.output(this.reached.connection));
    const kind = cause === "unclear" ? await this.machines.probeRoute(connection) : cause;
    switch (kind) {
      case "again":
        return ++this.again <= retries;
      case "other":
        return false;
      case "wrong host key":
        await reportFailure(wrongHostKey(this.reached.machine));
        return false;
      case "cut off":
        return this.#afterCut(connection, await awaitKnownOutput(this.reached.serverId));
      default:
        return this.#afterSilence(failure, connection, kind);
    }
  }

  /**
   * Returns whether the engine runs the script again after its SSH connection ended. On the
   * machine, the new run waits until the old run has ended, and continues its work. If the machine
   * restarts, the program tries to connect until the machine answers.
   */
  async #afterCut(connection: Way, server: string): Promise<boolean> {
    this.cuts += 1;
    // The machine has answered, so the measured time without an answer is no longer valid.
    this.silentSince = undefined;
    await delay((this.machines.patience.pauseSeconds ?? 5) * 1000);
    const { machine } = this.reached;
    const hops = [{ machine, server }, ...(connection.proxy ? [connection.proxy] : [])];
    const failures = await Promise.all(hops.map((hop) => this.machines.findStoppedFailure(hop)));
    const stopped = failures.find((one) => one !== undefined);
    const ended = `The connection to the machine ${machine} ended`;
    if (!stopped && this.cuts <= retries) {
      await pulumi.log.info(`${ended}; its script '${this.script}' starts again.`);
      return true;
    }
    const sentence = `${ended} ${this.cuts.toString()} times while the script '${this.script}' ran on it.`;
    await reportFailure(stopped ?? new Failure("SSH_UNREACHABLE", sentence));
    return false;
  }

  /**
   * Returns whether the engine runs the script again although the machine does not answer: only if
   * the machine may still be booting. Otherwise reports the failure.
   */
  async #afterSilence(
    failure: pulumi.ErrorHookArgs,
    connection: Way,
    kind: "silent" | "silent proxy",
  ): Promise<boolean> {
    const { machine } = this.reached;
    const serverId = await awaitKnownOutput(this.reached.serverId);
    const first =
      this.cuts === 0 &&
      !this.machines.hasFinishedScript(serverId) &&
      (await isServerNeverReached(failure, serverId));
    this.silentSince ??= performance.now();
    const waited = (performance.now() - this.silentSince) / 1000;
    // If the connection ended before, the machine may be restarting. A restart may take as long as
    // the first boot.
    const bears = this.machines.getConnectionTimeout(first || this.cuts > 0);
    if (await this.machines.mayBoot([serverId, connection.proxy], waited, bears)) {
      await pulumi.log.info(
        `The machine ${machine} does not answer on SSH yet; it may still boot.`,
      );
      return true;
    }
    const failed =
      kind === "silent"
        ? await this.machines.createUnreachableFailure({ machine, serverId }, first)
        : connection.proxy && (await this.machines.findStoppedFailure(connection.proxy));
    if (failed) await reportFailure(failed);
    return false;
  }
}

const wrongHostKey = (machine: string): Failure =>
  new Failure(
    "HOST_KEY_MISMATCH",
    `The machine ${machine}, or the one through which it is reached, answers with another host key than it was given: refused. An attacker may intercept the connection; if the machine was rebuilt by hand, raise its generation.`,
  );

/** Number of times that a script starts again after its connection failed. */
const retries = 2;
