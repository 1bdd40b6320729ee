import { podNetworkTraits } from "../../components/pod-network/kinds.js";
import { entryTarget, parseOutputs, valuesOf, type ClusterOutputs } from "../verify/outputs.js";
import { usualPatience } from "../verify/check.js";
import { shortcomings, verifyCluster, type Verification } from "../verify/verify.js";
import { certificateWarnings } from "./certificate-end.js";
import { ClusterError } from "./cluster-error.js";
import { timelineOf } from "./critical-path.js";
import { keepKubeconfig, keepTimeline } from "./kubeconfig-file.js";
import type { UpOptions, UpResult } from "./options.js";
import type { Run } from "./run.js";
import { tellSharedHosts } from "./shared-hosts.js";
import { readStackOutputs, readState, type StackOutputs, type StateExport } from "./state.js";

/** The cluster was made, but not everything in it works. What `up` would have answered is in `result`. */
export class VerificationFailed extends ClusterError {
  constructor(
    problems: readonly string[],
    readonly result: UpResult & { readonly verification: Verification },
  ) {
    super(
      "VERIFY_FAILED",
      `The cluster was made, but not everything in it works:\n${problems.map((one) => `  ${one}`).join("\n")}`,
    );
    this.name = "VerificationFailed";
  }
}

/** Looks at the cluster from outside. Each check may take `patience` milliseconds; default: a minute times `timeoutFactor`. */
export async function look(
  run: Run,
  outputs: ClusterOutputs,
  patience?: number,
  onDetail?: (text: string) => void,
): Promise<Verification> {
  // The settings of a program of one's own say nothing of it, and wrong ones keep nobody from looking.
  const spec = await run.spec().catch(() => undefined);
  const { ssh, podNetwork, timeoutFactor = 1 } = spec ?? {};
  const agentSocket = run.service.env["SSH_AUTH_SOCK"] ?? "";
  return verifyCluster({
    outputs,
    entry: entryTarget(outputs, { user: ssh?.user ?? "debian", agentSocket }),
    ownPodNetwork: podNetwork !== undefined && podNetworkTraits(podNetwork).broughtAlong === true,
    signal: run.options.signal,
    timeout: patience ?? usualPatience * timeoutFactor,
    ...(onDetail && { onDetail }),
  });
}

/** What is known of a cluster before the engine has looked whether it is as it is to be. */
export type EarlyLook = Pick<UpResult, "outputs" | "verification">;

/**
 * Whether outputs may be others although the engine calls them the same: it compares secret ones by whether they are there. Those
 * of the package's own program are resources', whose changes it tells.
 */
const mayDiffer = ({ service: { program } }: Run, outputs: StackOutputs): boolean =>
  program !== undefined && Object.values(outputs).some(({ secret }) => secret);

/**
 * Looks at the cluster that the state describes, once, while the engine is at work: where that changes nothing, it is the cluster
 * that is to be proved. Nothing where it cannot be looked at or something of it does not work yet.
 */
export async function lookEarly(
  run: Run,
  state: StateExport,
  { verify = true }: UpOptions,
): Promise<EarlyLook | undefined> {
  try {
    const outputs = await readStackOutputs(run.access, state);
    if (mayDiffer(run, outputs)) return undefined;
    if (!verify) return { outputs };
    const verification = await look(run, parseOutputs(valuesOf(outputs)), 0);
    return verification.ok ? { outputs, verification } : undefined;
  } catch {
    return undefined;
  }
}

/** Where the time of a run went, given the state after it, on a page beside the kubeconfig where that is kept. */
function tellTimeline(
  { access, spans }: Run,
  after: StateExport | undefined,
  { kubeconfigPath }: Pick<UpResult, "kubeconfigPath">,
): Pick<UpResult, "timeline" | "timelinePath"> {
  const timeline = timelineOf(spans.all(), after);
  if (timeline.length === 0) return {};
  if (kubeconfigPath === undefined) return { timeline };
  return { timeline, ...keepTimeline(access.workspace, timeline) };
}

/** What was seen before, and the state that it was seen of. */
type Seen = EarlyLook & { readonly after: StateExport | undefined };

/** Proves that the cluster which was made works, and keeps what is to be known of it; answers the state after it, too. */
export async function proveMade(
  run: Run,
  seen: Seen | undefined,
  options: UpOptions,
): Promise<UpResult & Pick<Seen, "after">> {
  // Read while the cluster is looked at, which is made without it, too.
  const reading = seen ? Promise.resolve(seen.after) : readState(run.access);
  const known = reading.catch((error: unknown): undefined => {
    run.note(`The state cannot be read, so this run is not remembered: ${String(error)}`);
  });
  const outputs = seen?.outputs ?? run.made ?? (await readStackOutputs(run.access, reading));
  const kept = await keepKubeconfig(run.access.workspace, { outputs }, options);
  const rest = known.then((after) => tellTimeline(run, after, kept));
  const made = { outputs, ...kept, ...(seen?.verification && { verification: seen.verification }) };
  try {
    return { ...(await prove(run, made, rest, options)), after: await known };
  } finally {
    // Nothing goes on behind the request.
    await rest.catch(() => undefined);
  }
}

/** Looks while the rest of what is told of it is made. */
async function prove(
  run: Run,
  made: UpResult,
  rest: Promise<ReturnType<typeof tellTimeline>>,
  { verify = true, patience }: UpOptions,
): Promise<UpResult> {
  if (!verify) return { ...made, ...(await rest) };
  run.stage("verification");
  const outputs = parseOutputs(valuesOf(made.outputs));
  const looked = async (): Promise<Verification> => {
    const [found] = await Promise.all([
      look(run, outputs, patience, (text) => {
        run.stage("verification", text);
      }),
      tellSharedHosts(run, outputs),
    ]);
    return found;
  };
  const seen = made.verification?.ok === true ? made.verification : undefined;
  const verification = seen ?? (await looked());
  for (const text of certificateWarnings({ ...outputs, ...verification }, run))
    run.note(`! ${text}`);
  const result = { ...made, ...(await rest), verification };
  if (verification.ok) return result;
  throw new VerificationFailed(shortcomings(verification, outputs), result);
}
