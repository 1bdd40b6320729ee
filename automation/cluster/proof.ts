import { podNetworkTraits } from "../../components/pod-network/kinds.js";
import { entryTarget, parseOutputs, valuesOf, type ClusterOutputs } from "../verify/outputs.js";
import { shortcomings, verifyCluster, type Verification } from "../verify/verify.js";
import { certificateWarnings } from "./certificate-end.js";
import { ClusterError } from "./cluster-error.js";
import { timelineOf } from "./critical-path.js";
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

/** Looks at the cluster from outside. Each check may take `patience` milliseconds. */
export async function look(
  run: Run,
  outputs: ClusterOutputs,
  patience?: number,
  onDetail?: (text: string) => void,
): Promise<Verification> {
  // The settings of a program of one's own say nothing of it, and wrong ones keep nobody from looking.
  const { ssh, podNetwork } = (await run.spec().catch(() => undefined)) ?? {};
  const agentSocket = run.service.env["SSH_AUTH_SOCK"] ?? "";
  return verifyCluster({
    outputs,
    entry: entryTarget(outputs, { user: ssh?.user ?? "debian", agentSocket }),
    ownPodNetwork: podNetwork !== undefined && podNetworkTraits(podNetwork).broughtAlong === true,
    signal: run.options.signal,
    timeout: patience,
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

/** What comes out of a run that changed something, where its time went, and the state after it. */
export async function whatWasMade({
  access,
  spans,
}: Run): Promise<UpResult & { readonly after: StateExport | undefined }> {
  const reading = readState(access);
  const outputs = await readStackOutputs(access, reading);
  const after = await reading;
  const timeline = timelineOf(spans.all(), after);
  return { outputs, after, ...(timeline.length > 0 && { timeline }) };
}

/** Proves that the cluster which was made works. */
export async function prove(
  run: Run,
  made: UpResult,
  { verify = true, patience }: UpOptions,
): Promise<UpResult> {
  if (!verify) return made;
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
  const result = { ...made, verification };
  if (verification.ok) return result;
  throw new VerificationFailed(shortcomings(verification, outputs), result);
}
