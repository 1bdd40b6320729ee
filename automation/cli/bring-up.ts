import { addKubeconfig } from "../cluster/redact.js";
import { writeKubeconfig } from "../cluster/kubeconfig-file.js";
import type { ClusterSpec } from "../../components/cluster-spec.js";
import { ClusterError } from "../cluster/cluster-error.js";
import type { StackOutputs } from "../cluster/operation.js";
import { withStep } from "../../base/progress.js";
import {
  checksTable,
  nextCommands,
  nodesTable,
  timedPhases,
  timesTable,
  type TimedPhase,
} from "../render/report.js";
import { OperationView } from "../render/operation-view.js";
import { lookAtKubectl } from "../setup/kubectl.js";
import { controlPlaneTarget, parseOutputs, type ClusterOutputs } from "../verify/outputs.js";
import { verifyCluster, type Verification } from "../verify/verify.js";
import { requireCloud, specOf, type StackContext } from "./context.js";

export interface BringUpOptions {
  readonly refresh?: boolean;
  /** Skip the questions to the cloud. Default: false. */
  readonly force?: boolean;
  /** When the command began, and what it did before: shown in the table of times. */
  readonly startedAt: number;
  readonly before?: readonly TimedPhase[];
}

const plainValues = (outputs: StackOutputs): Record<string, unknown> =>
  Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));

async function runUp(
  { stack, session, service }: StackContext,
  options: BringUpOptions,
): Promise<{ outputs: ClusterOutputs; phases: TimedPhase[] }> {
  const { progress, redactor } = session;
  const view = new OperationView({ progress, direction: "up", redactor });
  const step = progress.step(`Bring up the cluster '${stack}'`, 150);
  try {
    const outputs = await service.up(stack, {
      refresh: options.refresh,
      signal: session.signal,
      killSignal: session.killSignal,
      onNote: (text) => {
        progress.note(redactor.clean(text));
      },
      onEvent: (event) => {
        session.emit({ type: "event", event });
        view.take(event);
      },
    });
    view.finish(false);
    step.done();
    const parsed = parseOutputs(plainValues(outputs));
    addKubeconfig(redactor, parsed.kubeconfig);
    return { outputs: parsed, phases: timedPhases(view.timeline.times()) };
  } catch (error) {
    view.finish(true);
    step.failed();
    throw error;
  }
}

async function verify(
  { session, surroundings }: StackContext,
  outputs: ClusterOutputs,
  spec: ClusterSpec,
): Promise<Verification> {
  const agentSocket = surroundings.agent?.socket ?? "";
  return withStep(session.progress, "Look at the cluster from outside", 10, (step) =>
    verifyCluster({
      outputs,
      controlPlane: controlPlaneTarget(outputs, { user: spec.ssh.user, agentSocket }),
      signal: session.signal,
      onDetail: (text) => {
        step.update(text);
      },
    }),
  );
}

/** Checks, makes and verifies the cluster of a stack, and says what came of it. */
export async function bringUp(context: StackContext, options: BringUpOptions): Promise<void> {
  const { session, stack } = context;
  const spec = specOf(context);
  if (options.force !== true) await requireCloud(context, spec);
  const { outputs, phases } = await runUp(context, options);
  const kubeconfig = writeKubeconfig(stack, outputs.kubeconfig);
  const verifyingSince = Date.now();
  const verification = await verify(context, outputs, spec);
  const times = [
    ...(options.before ?? []),
    ...phases,
    { title: "Verification", milliseconds: Date.now() - verifyingSince },
  ];
  const total = Date.now() - options.startedAt;
  const { onLab } = context.surroundings;
  const { advice } = await lookAtKubectl(spec.kubernetes.version);
  const parts = [
    nodesTable(verification),
    ...(verification.services.length + verification.claims.length > 0
      ? [checksTable(verification)]
      : []),
    timesTable(times, total),
    nextCommands(stack, kubeconfig, { onLab, advice }),
  ];
  session.print(`\n${parts.join("\n\n")}`);
  session.emit({
    type: "result",
    stack,
    kubeconfig,
    apiEndpoint: outputs.apiEndpoint,
    ...verification,
    times,
    milliseconds: total,
  });
  if (!verification.ok)
    throw new ClusterError(
      "VERIFY_FAILED",
      "The cluster was made, but not everything in it works: see the tables above.",
      "`npx stackadm status` looks again.",
    );
}
