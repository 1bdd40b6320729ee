/**
 * Decides whether a script failed on a server on which no script has run before. Such a server has
 * probably never booted.
 */
import * as pulumi from "@pulumi/pulumi";
import { classifyRecordedServer } from "../lookup/existing-servers.js";
import { awaitKnownOutput } from "../pulumi/pulumi-internals.js";
import { readStateBeforeRun } from "../pulumi/recorded-resources.js";
import { findPathServerId, findScriptServerId } from "../remote-scripts/script-steps.js";

/** Returns whether a script runs for the first time on the current server. */
export const isFirstRunOnServer = (
  operation: string,
  servers: { readonly before?: string; readonly now: string },
): boolean =>
  operation === "create" || (servers.before !== undefined && servers.before !== servers.now);

/**
 * Returns whether no script had finished on the server before this run. `failure` is the failure of
 * a script or of the copy of the scripts to the server.
 */
export async function isServerNeverReached(
  failure: pulumi.ErrorHookArgs,
  server: string,
): Promise<boolean> {
  const inputs: Readonly<Record<string, unknown>> = await awaitKnownOutput(
    pulumi.output(failure.oldInputs ?? {}),
  );
  const before = findPathServerId(inputs["remotePath"]) ?? findScriptServerId(inputs);
  if (!isFirstRunOnServer(failure.failedOperation, { before, now: server })) return false;
  return (
    classifyRecordedServer(server, (await readStateBeforeRun()) ?? []) !== "part of the cluster"
  );
}
