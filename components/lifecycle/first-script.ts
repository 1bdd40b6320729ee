/**
 * Tells whether a script failed on a server on which none has run, which shows that it never
 * booted.
 */
import * as pulumi from "@pulumi/pulumi";
import { serverHistoryOf } from "../lookup/marked-servers.js";
import { ownState } from "../pulumi/recorded-resources.js";
import { serverOfPath, serverOfScript } from "../remote-scripts/script-steps.js";

/** Returns whether a script runs for the first time on the present server. */
export const isFirstRunOnServer = (
  operation: string,
  servers: { readonly before?: string; readonly now: string },
): boolean =>
  operation === "create" || (servers.before !== undefined && servers.before !== servers.now);

/**
 * Returns whether a script, or the copy of scripts, failed on a server on which no script came to
 * its end before this run.
 */
export async function isServerNeverReached(
  failure: pulumi.ErrorHookArgs,
  server: string,
): Promise<boolean> {
  const inputs: Readonly<Record<string, unknown>> = await resolveKnownOutput(
    pulumi.output(failure.oldInputs ?? {}),
  );
  const before = serverOfPath(inputs["remotePath"]) ?? serverOfScript(inputs);
  if (!isFirstRunOnServer(failure.failedOperation, { before, now: server })) return false;
  return serverHistoryOf(server, (await ownState()) ?? []) !== "part of the cluster";
}

/** Returns the value of an output that the engine already knows. */
export const resolveKnownOutput = <T>(output: pulumi.Output<T>): Promise<pulumi.Unwrap<T>> =>
  new Promise((resolve) => {
    pulumi.output(output).apply(resolve);
  });
