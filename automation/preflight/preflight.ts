import { warning, type Finding } from "../../openstack/checks/finding.js";
import type { CloudObject } from "../../openstack/inventory/inventory.js";
import {
  namedObjects,
  nameProblems,
  preflight,
  quotasFor,
  survey,
  type OwnedByStack,
  type Survey,
} from "../../openstack/checks/preflight-checks.js";
import type { ClusterSpec } from "../../components/config/cluster-spec.js";
import type { KnownFacts } from "../../components/lookup/lookup-cache.js";
import { cloudRequirementsOf, requiredLookups } from "../../components/cloud-requirements.js";
import { ClusterError } from "../pulumi/cluster-error.js";
import { listServersEarly, cachedFacts, isCacheValid, mayUseCache } from "./preflight-cache.js";
import { unrecordedAmong, deleteUnrecordedObjects } from "../repair/unrecorded-objects.js";
import type { PreflightRunOptions, UpOptions } from "../engine/operation-options.js";
import type { RepairResult } from "../repair/interrupted-run.js";
import type { StackOperation } from "../engine/operation-context.js";
import { stackHoldings, type StateExport } from "../pulumi/stack-state.js";
import { factsFromSurvey } from "./facts-from-survey.js";

/**
 * Answer of the cloud: the objects in the project, and a function that returns the problems and
 * warnings for a given state.
 */
interface Look {
  readonly objects: readonly CloudObject[];
  readonly findings: (held: OwnedByStack) => Finding[] | Promise<Finding[]>;
  /** Survey of the project. Absent if only names were checked (`namesOnly`). */
  readonly surveyed?: Survey;
}

async function look(
  run: StackOperation,
  spec: ClusterSpec,
  { namesOnly }: { readonly namesOnly: boolean },
): Promise<Look> {
  const [cloud, needs] = [await run.cloud(), cloudRequirementsOf(spec)];
  if (namesOnly) {
    const objects = await namedObjects(cloud, needs);
    return { objects, findings: (held) => nameProblems(objects, needs, held) };
  }
  const surveyed = await survey(cloud, needs);
  const findings = (held: OwnedByStack) => preflight(cloud, needs, { ...held, surveyed });
  return { objects: surveyed.objects, findings, surveyed };
}

/**
 * Starts to ask the cloud while the state is being read. Errors are thrown when the returned
 * promise is awaited.
 */
function beginLook(run: StackOperation, spec: ClusterSpec): Promise<Look> {
  const looking = look(run, spec, { namesOnly: false });
  looking.catch(() => undefined);
  return looking;
}

/** Returns the problems and warnings for this cluster in this cloud. Changes nothing. */
export async function findingsFor(
  run: StackOperation,
  spec: ClusterSpec,
  state: StateExport | undefined,
  { onQuotas }: PreflightRunOptions = {},
): Promise<Finding[]> {
  const { objects, findings, surveyed } = await look(run, spec, { namesOnly: false });
  const lost = await unrecordedAmong(run, state, objects);
  const held = { ...stackHoldings(state), going: new Set(lost.map(({ id }) => id)) };
  if (surveyed) onQuotas?.(quotasFor(surveyed, cloudRequirementsOf(spec), held));
  return [
    ...(await findings(held)),
    ...lost.map(({ kind, name, id }) =>
      warning(
        `${kind}: an earlier run left '${name}' (${id}) without a record; \`npx stackadm up\` deletes it first`,
      ),
    ),
  ];
}

/**
 * Takes facts from the survey, so the program need not look them up. Returns undefined for a custom
 * program, whose lookups are not known here.
 */
async function surveyedFacts(
  run: StackOperation,
  spec: ClusterSpec,
  { surveyed, held }: { readonly surveyed: Survey; readonly held: OwnedByStack },
): Promise<KnownFacts | undefined> {
  if (run.service.program !== undefined) return undefined;
  const wanted = requiredLookups(spec);
  const facts = factsFromSurvey(surveyed, wanted, (await run.cloud()).scope, held);
  return facts && { wanted: JSON.stringify(wanted), facts };
}

/** Reports warnings, and throws one error with all problems. */
function report(run: StackOperation, findings: readonly Finding[]): void {
  for (const { severity, text } of findings) if (severity === "warning") run.note(`! ${text}`);
  const problems = findings.filter(({ severity }) => severity === "problem");
  if (problems.length === 0) return;
  const lines = problems.map(({ text }) => `  ${text}`).join("\n");
  throw new ClusterError("PREFLIGHT_FAILED", `The cluster does not fit into this cloud:\n${lines}`);
}

/**
 * Starts to ask the cloud while the state is being read. Returns a function that finishes the
 * check. This function first deletes objects that failed runs created but did not record in the
 * state. With `expectNoChanges`, it throws if there are such objects. Then it throws if the cluster
 * does not fit into the cloud. It returns facts that the program need not look up. It does not
 * check the cloud if nothing has changed since the last successful run.
 */
export function startPreflight(
  run: StackOperation,
  spec: ClusterSpec | undefined,
  { preflight: fit = true, expectNoChanges = false }: UpOptions,
) {
  const namesOnly = fit === "names";
  const early = spec && !namesOnly && !mayUseCache(run) ? beginLook(run, spec) : undefined;
  const asking = spec && mayUseCache(run) ? listServersEarly(run, spec) : undefined;
  return async ({
    state,
    interrupted,
    hasRepaired = false,
  }: RepairResult): Promise<KnownFacts | undefined> => {
    if (!spec) return undefined;
    if (!interrupted && !hasRepaired && isCacheValid(run, spec, state))
      return cachedFacts(run, spec, { state, asking });
    run.stage("preflight");
    // After a repair, asks the cloud again: the early survey may contain objects that the repair
    // has deleted, with their names and their share of quotas.
    const asked = await ((interrupted || hasRepaired ? undefined : early) ??
      look(run, spec, { namesOnly }));
    const going = await deleteUnrecordedObjects(run, state, asked.objects, {
      interrupted,
      expectNoChanges,
    });
    if (going.size > 0) run.stage("preflight");
    const held = stackHoldings(state);
    const findings = await asked.findings({ ...held, going });
    report(run, findings);
    // After a deletion, the survey is out of date and provides no facts.
    const surveyed = going.size > 0 ? undefined : asked.surveyed;
    return surveyed && surveyedFacts(run, spec, { surveyed, held });
  };
}
