/** Tells whether a script is the first one on its server, whose failure shows that the server never booted. */
import * as pulumi from "@pulumi/pulumi";
import { historyOf } from "./existing-servers.js";
import { ownState } from "./own-state.js";
import { copyName, serverOfPath } from "./steps.js";

/** Returns whether a script runs for the first time on the present server. */
export const isFirst = (
  operation: string,
  servers: { readonly before?: string; readonly now: string },
): boolean =>
  operation === "create" || (servers.before !== undefined && servers.before !== servers.now);

/** Returns whether a script failed on a server on which no script has ever run. */
export async function neverReached(
  failure: pulumi.ErrorHookArgs,
  server: string,
  script: string,
): Promise<boolean> {
  if (script !== copyName) return false;
  const before = serverOfPath(await resolved(pulumi.output(failure.oldInputs?.["remotePath"])));
  if (!isFirst(failure.failedOperation, { before, now: server })) return false;
  return historyOf(server, (await ownState()) ?? []) !== "part of the cluster";
}

/** Returns the value of an output that the engine already knows. */
export const resolved = <T>(output: pulumi.Output<T>): Promise<pulumi.Unwrap<T>> =>
  new Promise((resolve) => {
    pulumi.output(output).apply(resolve);
  });
