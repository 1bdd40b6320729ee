import type { UpResult } from "../../engine/operation-options.js";
import { VerificationFailed } from "../../health/cluster-health.js";
import { addKubeconfigSecrets } from "../../../base/terminal/redact-secrets.js";
import {
  renderNextCommands,
  renderVerificationTables,
  renderPhaseTimesTable,
  type TimedPhase,
} from "../../render/cluster-report.js";
import { checkKubectl } from "../../setup/kubectl.js";
import { parseOutputs, outputValues } from "../../verify/cluster-outputs.js";
import { createRunView, followOperation, type StackContext } from "../stack-context.js";

export interface RunUpOptions {
  readonly refresh?: boolean;
  /**
   * Whether to skip the checks in the cloud, except the check for other objects with the cluster's
   * names. Default: false.
   */
  readonly force?: boolean;
  /** Whether to fail if `up` would change anything. Default: false. */
  readonly expectNoChanges?: boolean;
}

interface Times {
  readonly phases: readonly TimedPhase[];
  /** Total time in milliseconds. */
  readonly total: number;
}

/** Prints the result of `up`: checks, nodes, times and suggested commands. */
async function report(context: StackContext, result: UpResult, times: Times): Promise<void> {
  const { session, stack, environment, service } = context;
  const { kubeconfigPath = "", timelinePath, verification } = result;
  const outputs = parseOutputs(outputValues(result.outputs));
  addKubeconfigSecrets(session.redactor, outputs.kubeconfig);
  const { kubernetes } = await service.spec(stack);
  const { advice } = await checkKubectl(kubernetes.version);
  const parts = [
    ...(verification ? renderVerificationTables(verification) : []),
    renderPhaseTimesTable(times.phases, times.total) +
      (timelinePath === undefined ? "" : `\nCritical path: ${timelinePath}`),
    renderNextCommands(stack, kubeconfigPath, { onLab: environment.onLab, advice }),
  ];
  session.print(`\n${parts.join("\n\n")}`);
  session.emit({
    type: "result",
    stack,
    kubeconfig: kubeconfigPath,
    apiEndpoint: outputs.apiEndpoint,
    ...verification,
    timeline: timelinePath,
    times: times.phases,
    milliseconds: times.total,
  });
}

/**
 * Runs `up` on a stack and prints the result. The result is printed even if a check of the finished
 * cluster fails.
 */
export async function runUp(context: StackContext, options: RunUpOptions): Promise<void> {
  const { refresh, force = false, expectNoChanges } = options;
  const view = createRunView(context, { direction: "up" });
  const say = (result: UpResult): Promise<void> =>
    report(context, result, {
      phases: view.times(),
      total: Date.now() - context.session.startedAt,
    });
  try {
    const operation = context.service.start("up", context.stack, {
      refresh,
      expectNoChanges,
      preflight: force ? "names" : true,
    });
    await say(await followOperation(context, operation, view));
  } catch (error) {
    if (error instanceof VerificationFailed) await say(error.result);
    throw error;
  }
}
