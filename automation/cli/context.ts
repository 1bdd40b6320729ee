import { connectCloud, type CloudClient } from "../../cloud/client.js";
import type { Finding } from "../../cloud/finding.js";
import { preflight } from "../../cloud/preflight.js";
import type { ClusterSpec } from "../../components/cluster-spec.js";
import { ClusterError } from "../cluster/cluster-error.js";
import { createClusterService, type ClusterService } from "../cluster/cluster-service.js";
import { needsOf } from "../../components/plan/needs.js";
import { clusterSpecOf } from "../cluster/spec.js";
import { identitiesOf, ownedIds } from "../cluster/state.js";
import { readStackFile } from "../cluster/workspace.js";
import { withStep } from "../../base/progress.js";
import { prepareSurroundings, type Surroundings } from "../setup/surroundings.js";
import type { Session } from "./session.js";
import { packageRoot } from "../../base/paths.js";

/** What a command about one stack works with. */
export interface StackContext {
  readonly stack: string;
  readonly session: Session;
  readonly surroundings: Surroundings;
  readonly service: ClusterService;
}

/** Prepares everything for a command about `stack`, runs it and cleans up. */
export async function withStack<T>(
  session: Session,
  stack: string,
  work: (context: StackContext) => Promise<T>,
): Promise<T> {
  readStackFile(packageRoot(), stack);
  const surroundings = await prepareSurroundings({
    progress: session.progress,
    signal: session.signal,
  });
  try {
    const service = createClusterService({ env: surroundings.env, backend: surroundings.backend });
    return await work({ stack, session, surroundings, service });
  } finally {
    await surroundings.close();
  }
}

/** The cluster that the stack file describes; all problems in one error, before any call to the cloud. */
export const specOf = ({ stack, surroundings }: StackContext): ClusterSpec =>
  clusterSpecOf({
    project: "stackadm",
    stack,
    settings: readStackFile(packageRoot(), stack),
    siteFile: surroundings.env["STACKADM_SITE"],
    agentKeys: surroundings.agent?.keys,
  });

export const cloudOf = ({ surroundings }: StackContext): Promise<CloudClient> =>
  connectCloud({ env: surroundings.env });

/** What the cloud lacks for this cluster. */
export async function findingsFor(context: StackContext, spec: ClusterSpec): Promise<Finding[]> {
  const cloud = await cloudOf(context);
  const state = await context.service.state(context.stack);
  return preflight(cloud, needsOf(spec), {
    owned: ownedIds(state),
    identities: identitiesOf(state),
  });
}

/** Refuses to begin what the cloud cannot carry: every problem in one error. */
export async function requireCloud(context: StackContext, spec: ClusterSpec): Promise<void> {
  const { progress } = context.session;
  await withStep(progress, "Ask the cloud whether the cluster fits", 3, async () => {
    const findings = await findingsFor(context, spec);
    const problems = findings.filter(({ severity }) => severity === "problem");
    for (const { severity, text } of findings)
      if (severity === "warning") progress.note(`! ${text}`);
    if (problems.length === 0) return;
    const lines = problems.map(({ text }) => `  ${text}`).join("\n");
    throw new ClusterError(
      "PREFLIGHT_FAILED",
      `The cluster does not fit into this cloud:\n${lines}`,
      "Nothing was changed. `npx stackadm doctor` asks again.",
    );
  });
}
