import { createWarning, type Finding } from "../../openstack/checks/finding.js";
import { writeKubeconfig } from "../engine/local-cluster-files.js";
import type { StackOperation } from "../engine/operation-context.js";
import type { PreflightRunOptions, StatusResult } from "../engine/operation-options.js";
import { requireSameLocation } from "../guards/cloud-location.js";
import { askBackend, explainMissingStack, readStateHere } from "../guards/stack-elsewhere.js";
import { readClusterStatus } from "../health/cluster-status.js";
import { findDeprecatedSettings } from "../preflight/deprecated-settings.js";
import { findNewerVersion } from "../preflight/newer-version.js";
import { collectPreflightFindings } from "../preflight/preflight.js";
import { Failure } from "../../base/failures/failure.js";
import {
  isEmptyStack,
  readOutputs,
  readState,
  type SecretOutputForm,
  type StateExport,
} from "../pulumi/stack-state.js";
import { parseOutputs } from "../verify/cluster-outputs.js";

/*
 * Requests that only read. These requests run at once, even while an operation changes the stack.
 */

/** Returns the state of a stack. Throws if the stack does not exist. */
async function stateOf(run: StackOperation): Promise<StateExport> {
  const { stack } = run;
  const state = await readStateHere(run);
  if (state !== undefined) return state;
  throw new Failure(
    "STACK_NOT_FOUND",
    `The backend has no stack '${stack}'.`,
    `Create it with \`stackadm up --stack ${stack}\`, or set PULUMI_BACKEND_URL to the backend that has its state.`,
  );
}

export async function readOutputValues(
  run: StackOperation,
  secrets?: SecretOutputForm,
): Promise<Record<string, unknown>> {
  await stateOf(run);
  return readOutputs(run.access, secrets);
}

export const readKubeconfig = async (run: StackOperation): Promise<string> =>
  parseOutputs(await readOutputValues(run)).kubeconfig;

/** Writes the kubeconfig to a file that only its owner can read. Returns the path. */
export const writeKubeconfigFile = async (run: StackOperation): Promise<string> =>
  writeKubeconfig(run.access.workspace, await readKubeconfig(run));

export async function readStatus(run: StackOperation): Promise<StatusResult> {
  const state = await stateOf(run);
  await requireSameLocation({ run, state });
  return readClusterStatus(run, state, parseOutputs(await readOutputs(run.access)));
}

/** Returns what the cloud lacks for the cluster. The list is empty if nothing is missing. */
export async function runPreflight(
  run: StackOperation,
  options: PreflightRunOptions,
): Promise<Finding[]> {
  const state = await askBackend(run, () => readState(run.access));
  const spec = await run.spec({ files: true, state });
  await requireSameLocation({ run, state });
  const elsewhere = state === undefined ? await explainMissingStack(run) : undefined;
  return [
    ...(elsewhere ? [createWarning(`stack: ${elsewhere.sentence} ${elsewhere.hint}`)] : []),
    ...(await collectPreflightFindings(run, spec, state, options)),
    ...findDeprecatedSettings(spec),
    ...(isEmptyStack(state) ? [] : findNewerVersion(spec.kubernetes.version)),
  ];
}
