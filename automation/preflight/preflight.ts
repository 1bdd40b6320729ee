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
import { cloudRequirementsOf } from "../../components/cloud-requirements.js";
import { Failure } from "../../base/failures/failure.js";
import { listServersEarly, cachedFacts, isCacheValid, mayUseCache } from "./preflight-cache.js";
import { unrecordedAmong, deleteUnrecordedObjects } from "../repair/unrecorded-objects.js";
import type { PreflightRunOptions, UpOptions } from "../engine/operation-options.js";
import type { RepairResult } from "../repair/interrupted-run.js";
import type { StackOperation } from "../engine/operation-context.js";
import { stackHoldings, type StateExport } from "../pulumi/stack-state.js";

/**
 * Answer of the cloud: the project's objects, and a function that returns the problems and warnings
 * for a given state.
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

/** Starts the check while the state is being read. The returned promise rejects with the errors. */
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

/** Reports warnings, and throws one error with all problems. */
function report(run: StackOperation, findings: readonly Finding[]): void {
  for (const { severity, text } of findings) if (severity === "warning") run.note(`! ${text}`);
  const problems = findings.filter(({ severity }) => severity === "problem");
  if (problems.length === 0) return;
  const lines = problems.map(({ text }) => `  ${text}`).join("\n");
  throw new Failure("PREFLIGHT_FAILED", `The cluster does not fit into this cloud:\n${lines}`);
}

/**
 * Starts to ask the cloud while the state is being read. Returns a function that finishes the
 * check. This function deletes objects that failed runs created without recording them in the state
 * (with `expectNoChanges`, it throws instead), and throws if the cluster does not fit into the
 * cloud. If nothing has changed since the last successful run, it does not check the cloud, and
 * returns the facts of that run.
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
    // The early survey contains names and quotas of objects that the repair has deleted: ask again.
    const asked = await ((interrupted || hasRepaired ? undefined : early) ??
      look(run, spec, { namesOnly }));
    const going = await deleteUnrecordedObjects(run, state, asked.objects, {
      interrupted,
      expectNoChanges,
    });
    if (going.size > 0) run.stage("preflight");
    report(run, await asked.findings({ ...stackHoldings(state), going }));
    return undefined;
  };
}
