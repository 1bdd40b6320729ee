import * as pulumi from "@pulumi/pulumi";
import { awaitSettledOutput } from "../pulumi/pulumi-internals.js";
import {
  parseResourceName,
  readStateBeforeRun,
  type RecordedResource,
} from "../pulumi/recorded-resources.js";
import { scriptType, unfinishedCommandMarker } from "./script-type.js";
import { findScriptServerId } from "./script-steps.js";

interface Script {
  readonly urn: pulumi.Output<string>;
  readonly stdout: pulumi.Output<string>;
}

/**
 * Returns the standard output of a script, for a preview. If the script would run again, returns
 * the output in the state. If the script ran on another server or did not finish, the output
 * remains unknown.
 */
export const getLastScriptOutput = (
  script: Script,
  server: pulumi.Input<string>,
): pulumi.Output<string> =>
  pulumi
    .output(outputBefore(script, server))
    .apply((before) => pulumi.output(before ?? script.stdout));

/** Returns the output in the state if the script would run again. Otherwise returns undefined. */
const outputBefore = (
  { urn, stdout }: Script,
  server: pulumi.Input<string>,
): pulumi.Output<string | undefined> =>
  pulumi
    .all([urn, server])
    .apply(async ([script, id]) =>
      (await awaitSettledOutput(stdout)) !== undefined
        ? undefined
        : outputIn((await readStateBeforeRun()) ?? [], parseResourceName(script), id),
    );

/** Returns the output in the state of a script that finished on this server. */
function outputIn(
  state: readonly RecordedResource[],
  script: string,
  server: string,
): string | undefined {
  const { outputs = {} } =
    state.find(({ name, type }) => name === script && type === scriptType) ?? {};
  const { update, stdout } = outputs;
  if (update === unfinishedCommandMarker || findScriptServerId(outputs) !== server)
    return undefined;
  return typeof stdout === "string" ? stdout : undefined;
}
