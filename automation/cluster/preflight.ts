import type { Finding } from "../../cloud/finding.js";
import { nameProblems, preflight, survey, type Survey } from "../../cloud/preflight.js";
import type { ClusterSpec } from "../../components/cluster-spec.js";
import type { KnownFacts } from "../../components/support/known-facts.js";
import { needsOf, wantedOf } from "../../components/plan/needs.js";
import { ClusterError } from "./cluster-error.js";
import { beginServers, foundThen, hasFitted, mayHaveFitted } from "./fitted.js";
import type { Run } from "./run.js";
import { identitiesOf, ownedIds, type StateExport } from "./state.js";
import { factsIn } from "./surveyed-facts.js";

/** What the preflight asks the cloud, asked while the state is read. Who needs it hears of an error. */
function beginSurvey(run: Run, spec: ClusterSpec): Promise<Survey> {
  const surveyed = run.cloud().then((cloud) => survey(cloud, needsOf(spec)));
  surveyed.catch(() => undefined);
  return surveyed;
}

/** What the cloud lacks for this cluster, of which the stack holds `state`. Changes nothing. */
export async function findingsFor(
  run: Run,
  spec: ClusterSpec,
  {
    state,
    surveyed,
  }: { readonly state: StateExport | undefined; readonly surveyed?: Promise<Survey> },
): Promise<Finding[]> {
  const cloud = await run.cloud();
  return preflight(cloud, needsOf(spec), { ...heldBy(state), ...(surveyed && { surveyed }) });
}

const heldBy = (state: StateExport | undefined) => ({
  owned: ownedIds(state),
  identities: identitiesOf(state),
});

/** What the program need not look up. It knows its own cluster only where it is the package's. */
async function surveyedFacts(
  run: Run,
  spec: ClusterSpec,
  surveyed: Promise<Survey>,
): Promise<KnownFacts | undefined> {
  if (run.service.program !== undefined) return undefined;
  const wanted = wantedOf(spec);
  const facts = factsIn(await surveyed, wanted, (await run.cloud()).scope);
  return facts && { wanted: JSON.stringify(wanted), facts };
}

/**
 * Begins to ask the cloud, while the state is read. What it answers refuses to begin what the cloud cannot carry, every problem in one
 * error; of a cluster that is as it was when it came up, nothing is asked. Answered is what the program need not ask for.
 */
export function beginFit(
  run: Run,
  spec: ClusterSpec | undefined,
  { namesOnly }: { readonly namesOnly: boolean },
) {
  const early = spec && !namesOnly && !mayHaveFitted(run) ? beginSurvey(run, spec) : undefined;
  const servers = spec && mayHaveFitted(run) ? beginServers(run, spec) : undefined;
  return async (
    state: StateExport | undefined,
    { repaired }: { readonly repaired: boolean },
  ): Promise<KnownFacts | undefined> => {
    if (!spec) return undefined;
    if (!repaired && hasFitted(run, spec, state)) return foundThen(run, servers);
    run.stage("preflight");
    // What was half made and is gone now occupied names and quotas: the cloud is asked again.
    const asked = repaired ? undefined : early;
    const surveyed = namesOnly ? undefined : (asked ?? beginSurvey(run, spec));
    const findings = surveyed
      ? await findingsFor(run, spec, { state, surveyed })
      : await nameProblems(await run.cloud(), needsOf(spec), heldBy(state));
    for (const { severity, text } of findings) if (severity === "warning") run.note(`! ${text}`);
    const problems = findings.filter(({ severity }) => severity === "problem");
    if (problems.length === 0) return surveyed && surveyedFacts(run, spec, surveyed);
    const lines = problems.map(({ text }) => `  ${text}`).join("\n");
    throw new ClusterError(
      "PREFLIGHT_FAILED",
      `The cluster does not fit into this cloud:\n${lines}`,
    );
  };
}
