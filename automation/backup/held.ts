import type { Run } from "../cluster/run.js";
import type { StateExport } from "../cluster/state.js";
import { rememberUnfinished } from "../cluster/unfinished.js";
import { sentenceOf } from "./machines.js";

/** What holds the stack, and whom it tells. */
interface Holder {
  readonly run: Pick<Run, "hold" | "note">;
}

/** The work's own end, whatever becomes of the engine that holds the stack meanwhile. */
export async function heldToItsEnd(
  { run }: Holder,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  let ended: { readonly error?: unknown } | undefined;
  try {
    await run.hold(async (signal) => {
      try {
        await work(signal);
        ended = {};
      } catch (error) {
        ended = { error };
        throw error;
      }
    });
  } catch (error) {
    if (ended === undefined) throw error;
    if ("error" in ended) throw ended.error;
    run.note(
      `! The stack was not held to the end, so that somebody else's \`up\` may have worked on the machines meanwhile: ${sentenceOf(error)}`,
    );
  }
}

/**
 * What control planes do with the cluster, again with the next `up`: what they remember is newer than the cluster. It is back by now:
 * whoever took a failure of this for its own would bring it back once more.
 */
export async function rememberControlPlanes({
  run,
  state,
}: {
  readonly run: Pick<Run, "access" | "note">;
  readonly state: StateExport;
}): Promise<void> {
  const scripts = (state.deployment.resources ?? []).filter(
    ({ urn, inputs }) =>
      urn.includes("stackadm:kubeadm:ControlPlane$") && typeof inputs?.["create"] === "string",
  );
  const urns = new Set(scripts.map(({ urn }) => urn));
  const why = await rememberUnfinished(run.access, urns).then(
    (said) => (said ? undefined : "an operation of an earlier run is pending in it"),
    sentenceOf,
  );
  if (why !== undefined)
    run.note(
      `! The cluster is back, but its state could not be told that the control planes are to look at it again (${why.replace(/\.$/, "")}): versions, flags and fields that came after the backup are given once more only where the settings of them change. Do not restore again for that.`,
    );
}
