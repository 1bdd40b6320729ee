import { getPodNetworkTraits } from "../../components/pod-network/pod-network-kinds.js";
import {
  findEntrySshTarget,
  parseOutputs,
  outputValues,
  type ClusterOutputs,
} from "../verify/cluster-outputs.js";
import { defaultCheckTimeout } from "../verify/check.js";
import {
  describeFailedChecks,
  verifyCluster,
  type Verification,
} from "../verify/verify-cluster.js";
import { findCertificateWarnings } from "./certificate-expiry.js";
import { Failure } from "../../base/failures/failure.js";
import { createTimelineRows } from "../timeline/critical-path.js";
import { writeKubeconfigAfterUp, writeTimeline } from "../engine/local-cluster-files.js";
import type { UpOptions, UpResult } from "../engine/operation-options.js";
import type { StackOperation } from "../engine/operation-context.js";
import { findCloudProblems, listComparedObjects } from "./cloud-problems.js";
import { findDeployedWorkloads } from "./deployed-workloads.js";
import { reportSharedHosts } from "./shared-hosts.js";
import {
  readStackOutputs,
  readState,
  type StackOutputs,
  type StateExport,
} from "../pulumi/stack-state.js";

/**
 * Error for a cluster that was created, but whose checks did not all succeed. `result` is the
 * result of `up`. It contains the administrator's kubeconfig, so loggers and `JSON.stringify` do not
 * see it.
 */
export class VerificationFailed extends Failure {
  declare readonly result: UpResult & { readonly verification: Verification };

  constructor(problems: readonly string[], result: VerificationFailed["result"]) {
    super(
      "VERIFY_FAILED",
      `The cluster was created, but not everything in it works:\n${problems.map((one) => `  ${one}`).join("\n")}`,
    );
    this.name = "VerificationFailed";
    Object.defineProperty(this, "result", { value: result, enumerable: false });
  }
}

interface OutsideOptions {
  readonly outputs: ClusterOutputs;
  /** State of the cluster, which contains its add-ons. Undefined: the add-ons are not checked. */
  readonly state: StateExport | undefined;
  /**
   * Time limit of each check in milliseconds.
   * @default a minute times `timeoutFactor`
   */
  readonly checkTimeout?: number | undefined;
  readonly onDetail?: (text: string) => void;
}

/** Checks the cluster from this computer. */
export async function verifyFromOutside(
  run: StackOperation,
  { outputs, state, checkTimeout, onDetail }: OutsideOptions,
): Promise<Verification> {
  // The cluster must be checked even if the settings are invalid or do not describe the cluster
  // (custom program). In these cases, the check uses defaults.
  const spec = await run.spec().catch(() => undefined);
  const { ssh, podNetwork, timeoutFactor = 1 } = spec ?? {};
  const agentSocket = run.service.env["SSH_AUTH_SOCK"] ?? "";
  return verifyCluster({
    outputs,
    entry: findEntrySshTarget(outputs, { user: ssh?.user ?? "debian", agentSocket }),
    ownPodNetwork:
      podNetwork !== undefined && getPodNetworkTraits(podNetwork).deployedByUser === true,
    workloads: state && findDeployedWorkloads(state, outputs),
    signal: run.options.signal,
    timeout: checkTimeout ?? defaultCheckTimeout * timeoutFactor,
    ...(onDetail && { onDetail }),
  });
}

/** Outputs and verification that are known before the engine has ended. */
export type EarlyVerificationResult = Pick<UpResult, "outputs" | "verification">;

/**
 * Returns whether outputs may have changed although the engine reports equal outputs. The engine
 * does not compare secret values. Returns false for the package's own program, because all its
 * outputs come from resources, and the engine reports changes of resources.
 */
const mayDiffer = ({ service: { program } }: StackOperation, outputs: StackOutputs): boolean =>
  program !== undefined && Object.values(outputs).some(({ secret }) => secret);

/**
 * Checks the existing cluster once, while the engine runs. The caller uses the result only if the
 * engine changes nothing. Returns undefined if the cluster cannot be checked, or if a check failed.
 */
export async function verifyEarly(
  run: StackOperation,
  state: StateExport,
  { verify = true }: UpOptions,
): Promise<EarlyVerificationResult | undefined> {
  try {
    const outputs = await readStackOutputs(run.access, state);
    if (mayDiffer(run, outputs)) return undefined;
    if (!verify) return { outputs };
    const verification = await verifyFromOutside(run, {
      outputs: parseOutputs(outputValues(outputs)),
      state,
      checkTimeout: 0,
    });
    return verification.ok ? { outputs, verification } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the timeline of a run. Also writes the timeline to an HTML page, if the kubeconfig was
 * written.
 *
 * @param after state after the run
 */
function tellTimeline(
  { access, spans }: StackOperation,
  after: StateExport | undefined,
  { kubeconfigPath }: Pick<UpResult, "kubeconfigPath">,
): Pick<UpResult, "timeline" | "timelinePath"> {
  const timeline = createTimelineRows(spans.all(), after);
  if (timeline.length === 0) return {};
  if (kubeconfigPath === undefined) return { timeline };
  return { timeline, ...writeTimeline(access.workspace, timeline) };
}

/** Results of {@link verifyEarly}, and the state after the run. */
type EarlyVerificationAndState = EarlyVerificationResult & {
  readonly after: StateExport | undefined;
};

/**
 * Writes the kubeconfig and the timeline of the run, and checks that the cluster works. Returns the
 * results of the checks.
 */
export async function verifyAndWriteFiles(
  run: StackOperation,
  seen: EarlyVerificationAndState | undefined,
  options: UpOptions,
): Promise<UpResult> {
  // Reads the state while the cluster is checked. An error here does not fail the `up`.
  const reading = seen ? Promise.resolve(seen.after) : readState(run.access);
  const known = reading.catch((error: unknown): undefined => {
    run.note(`The state cannot be read, so the timeline lacks dependencies: ${String(error)}`);
  });
  const outputs = seen?.outputs ?? (await readStackOutputs(run.access, reading));
  const kept = writeKubeconfigAfterUp(run.access.workspace, { outputs }, options);
  const rest = known.then((after) => tellTimeline(run, after, kept));
  const early = {
    outputs,
    ...kept,
    ...(seen?.verification && { verification: seen.verification }),
  };
  try {
    return await verifyAndThrow(run, early, { known, rest }, options);
  } finally {
    // Waits for the timeline, because no work may continue after this function has ended.
    await rest.catch(() => undefined);
  }
}

/**
 * Returns the problems of the cluster's objects in the cloud, which may explain failed checks.
 * Returns none if the cloud does not answer.
 */
async function findCauses(
  run: StackOperation,
  known: Promise<StateExport | undefined>,
  outputs: ClusterOutputs,
): Promise<readonly string[]> {
  const state = await known;
  if (state === undefined) return [];
  try {
    const { objects, unknown } = await listComparedObjects(await run.cloud(), state);
    return findCloudProblems(state, outputs, objects, unknown);
  } catch (error) {
    run.options.signal?.throwIfAborted();
    return [`the cloud was not checked: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** Work that runs while the cluster is checked. */
interface ConcurrentWork {
  /** State after the run. Undefined: the state cannot be read. */
  readonly known: Promise<StateExport | undefined>;
  readonly rest: Promise<ReturnType<typeof tellTimeline>>;
}

/** Checks the cluster while the timeline is written. Throws VerificationFailed if a check fails. */
async function verifyAndThrow(
  run: StackOperation,
  early: UpResult,
  { known, rest }: ConcurrentWork,
  { verify = true, patience }: UpOptions,
): Promise<UpResult> {
  if (!verify) return { ...early, ...(await rest) };
  const outputs = parseOutputs(outputValues(early.outputs));
  const looked = async (): Promise<Verification> => {
    const state = await known;
    const onDetail = (text: string): void => {
      run.progress(text);
    };
    const [found] = await Promise.all([
      verifyFromOutside(run, { outputs, state, checkTimeout: patience, onDetail }),
      reportSharedHosts(run, outputs),
    ]);
    return found;
  };
  const seen = early.verification?.ok === true ? early.verification : undefined;
  const verification = seen ?? (await looked());
  for (const text of findCertificateWarnings({ ...outputs, ...verification }, run)) run.warn(text);
  const result = { ...early, ...(await rest), verification };
  if (verification.ok) return result;
  const problems = describeFailedChecks(verification, outputs);
  throw new VerificationFailed([...problems, ...(await findCauses(run, known, outputs))], result);
}
