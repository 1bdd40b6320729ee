import * as pulumi from "@pulumi/pulumi";
import { run } from "../../base/run-command.js";
import { ProgramError } from "../pulumi/errors.js";
import { parseResourceName } from "../pulumi/recorded-resources.js";
import { findUnfinishedCreates } from "./unfinished-creates.js";

/** Time in milliseconds in which the backend must return the state. */
const exportMilliseconds = 60_000;

/**
 * Returns the state as `pulumi stack export` prints it. Returns undefined if the state cannot be
 * read, because the engine then reports the error. The engine does not show pending operations to
 * the program in another way.
 */
async function exportState(env: NodeJS.ProcessEnv): Promise<unknown> {
  try {
    const stack = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack()].join("/");
    const { stdout } = await run(
      "pulumi",
      ["stack", "export", "--non-interactive", "--stack", stack],
      { cwd: pulumi.getRootDirectory(), env, timeout: exportMilliseconds },
    );
    return JSON.parse(stdout) as unknown;
  } catch {
    return undefined;
  }
}

const namesOf = (urns: readonly string[]): string => urns.map(parseResourceName).join(", ");

/**
 * Throws if an earlier run left resources with which this run would fail or would create objects
 * twice. Call it before the program registers a resource. stackadm repairs these resources before
 * it starts the engine, so only programs that plain Pulumi runs need this check.
 *
 * @param env environment with the backend, for `pulumi stack export`
 */
export async function refuseUnfinishedCreates(env: NodeJS.ProcessEnv): Promise<void> {
  const state = await exportState(env);
  if (state === undefined) return;
  const { pending, partial } = findUnfinishedCreates(state);
  if (pending.length > 0)
    throw new ProgramError(
      "FAILED",
      `An earlier run was interrupted while it created ${namesOf(pending)}. The cloud may have created them, and this run would create them a second time. Nothing was changed. Run \`stackadm up --stack ${pulumi.getStack()}\`, which repairs this and continues.`,
    );
  if (partial.length > 0) {
    const targets = partial.map((urn) => ` --target '${urn}'`).join("");
    throw new ProgramError(
      "FAILED",
      `An earlier run created ${namesOf(partial)}, but could not read them, and this run would try in vain to update them. Nothing was changed. Run \`pulumi refresh --stack ${pulumi.getStack()}${targets}\`, then the same command again.`,
    );
  }
}
