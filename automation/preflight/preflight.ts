import { createWarning, type Finding } from "../../openstack/checks/finding.js";
import type { CloudObject } from "../../openstack/inventory/inventory.js";
import {
  listNamedObjects,
  checkObjectNames,
  runPreflightChecks,
  getClusterQuotas,
  completeSurvey,
  takeCloudSurvey,
  type StackOwnedObjects,
} from "../../openstack/checks/preflight-checks.js";
import type { QuotaRequirement } from "../../openstack/checks/quotas.js";
import type { ClusterSpec } from "../../components/config/cluster-spec.js";
import { differsFromRecorded } from "../../components/config/recorded-defaults.js";
import { getClusterRequirements } from "../../components/cloud-requirements.js";
import { Failure } from "../../base/failures/failure.js";
import {
  findUnrecordedObjects,
  type UnrecordedObjectsFacts,
} from "../repair/unrecorded-objects.js";
import type { PreflightRunOptions, PreviewOptions } from "../engine/operation-options.js";
import type { StackOperation } from "../engine/operation-context.js";
import type { PlannedChanges, OperationStep } from "../steps/step.js";
import { findRecordedValues, findStackOwnership, type StateExport } from "../pulumi/stack-state.js";

/** Answer of the cloud: the objects in the project, and a function for a given state. */
interface CloudSurveyResult {
  readonly objects: readonly CloudObject[];
  /** Returns the problems and warnings. May send further requests about what is missing. */
  readonly check: (ownership: StackOwnedObjects) => Promise<CheckedSurvey>;
}

interface CheckedSurvey {
  readonly findings: Finding[];
  /** Quotas that the complete cluster needs. Empty if only names were checked. */
  readonly quotas: QuotaRequirement[];
}

async function askCloud(
  run: StackOperation,
  spec: ClusterSpec,
  { namesOnly }: { readonly namesOnly: boolean },
): Promise<CloudSurveyResult> {
  const [cloud, needs] = [await run.cloud(), getClusterRequirements(spec)];
  if (namesOnly) {
    const objects = await listNamedObjects(cloud, needs);
    const check = (ownership: StackOwnedObjects) =>
      Promise.resolve({ findings: checkObjectNames(objects, needs, ownership), quotas: [] });
    return { objects, check };
  }
  const survey = await takeCloudSurvey(cloud, needs);
  const check = async (ownership: StackOwnedObjects) => {
    const surveyed = await completeSurvey(cloud, needs, survey, ownership);
    return {
      findings: await runPreflightChecks(cloud, needs, { ...ownership, surveyed }),
      quotas: getClusterQuotas(surveyed, needs, ownership),
    };
  };
  return { objects: survey.objects, check };
}

/** Returns the problems and warnings for this cluster in this cloud. Changes nothing. */
export async function collectPreflightFindings(
  run: StackOperation,
  spec: ClusterSpec,
  state: StateExport | undefined,
  { onQuotas }: PreflightRunOptions = {},
): Promise<Finding[]> {
  const { objects, check } = await askCloud(run, spec, { namesOnly: false });
  const lost = await findUnrecordedObjects(run, state, objects);
  const ownership = { ...findStackOwnership(state), going: new Set(lost.map(({ id }) => id)) };
  const { findings, quotas } = await check(ownership);
  onQuotas?.(quotas);
  return [
    ...findings,
    ...lost.map(({ kind, name, id }) =>
      createWarning(
        `${kind}: an earlier run left '${name}' (${id}) without a record; \`stackadm up\` deletes it first`,
      ),
    ),
  ];
}

/** Reports warnings. Throws one error with all problems. */
function report(run: StackOperation, findings: readonly Finding[]): void {
  for (const { severity, text } of findings) if (severity === "warning") run.warn(text);
  const problems = findings.filter(({ severity }) => severity === "problem");
  if (problems.length === 0) return;
  const lines = problems.map(({ text }) => `  ${text}`).join("\n");
  throw new Failure("PREFLIGHT_FAILED", `The cluster does not fit into this cloud:\n${lines}`);
}

/** Facts of the check whether the cluster fits into the cloud. */
export interface PreflightFacts extends UnrecordedObjectsFacts {
  readonly options: PreviewOptions;
  /** Specification from the settings. Absent: the cloud is not checked. */
  spec?: ClusterSpec | undefined;
  /** Answer of the cloud to requests that started before the state was known. */
  early?: Promise<CloudSurveyResult> | undefined;
  /** Answer that the preflight checks use: the answer in `early`, or a later answer. */
  look?: CloudSurveyResult | undefined;
}

/** Reads and checks the settings, and the files that the settings name. */
export async function readSettings(facts: PreflightFacts): Promise<void> {
  if (facts.options.preflight === false) return;
  facts.spec = await facts.run.spec({ files: true });
}

/**
 * Reads the settings again if the existing cluster keeps values that differ from this release's
 * defaults. The state was unknown when {@link readSettings} and {@link startSurvey} used the
 * defaults, so the cloud is then asked again.
 */
export async function applyRecordedDefaults(facts: PreflightFacts): Promise<void> {
  const { run, spec, state } = facts;
  const recorded = spec && findRecordedValues(state, spec.name);
  if (!recorded || !differsFromRecorded(spec, recorded)) return;
  facts.spec = await run.spec({ files: true, state });
  facts.early = undefined;
}

/**
 * Checks the settings, and the files that the settings name. For a run that does not ask the cloud.
 */
export async function checkSettings({ run, options }: PreflightFacts): Promise<void> {
  if (options.preflight !== false) await run.spec({ files: true });
}

/**
 * Starts to ask the cloud while the state is being read. {@link surveyCloud} waits for the answer
 * and reports its errors.
 */
export function startSurvey(facts: PreflightFacts): void {
  const { run, spec, options } = facts;
  if (!spec || options.preflight === "names") return;
  facts.early = askCloud(run, spec, { namesOnly: false });
  facts.early.catch(() => undefined);
}

/** Asks the cloud for the project's objects, quotas and names. */
async function ask(facts: PreflightFacts, spec: ClusterSpec): Promise<void> {
  const { run, options, repaired, early } = facts;
  // If a repair has deleted objects, the early answer still contains their names and quotas. The
  // cloud is then asked again.
  facts.look ??= await ((repaired === true ? undefined : early) ??
    askCloud(run, spec, { namesOnly: options.preflight === "names" }));
  facts.surveyed = facts.look.objects;
}

export const surveyCloud: OperationStep<PreflightFacts, PlannedChanges, ClusterSpec> = {
  title: "Ask the cloud for objects, quotas and names",
  expectedSeconds: 3,
  detect: ({ spec }) => spec,
  describe: async (facts, spec) => {
    await ask(facts, spec);
    return {};
  },
  apply: ask,
};

/** Throws if the cluster does not fit into the cloud. */
export const requireCloudFit: OperationStep<PreflightFacts, never, CloudSurveyResult> = {
  title: "Check whether the cluster fits into the cloud",
  detect: ({ look: asked }) => asked,
  apply: async ({ run, state, unrecorded: going }, { check }) => {
    report(run, (await check({ ...findStackOwnership(state), going })).findings);
  },
};
