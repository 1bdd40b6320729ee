import { findEntrySshTarget, parseOutputs } from "../../../../automation/verify/cluster-outputs.js";
import {
  describeFailedChecks,
  verifyCluster,
} from "../../../../automation/verify/verify-cluster.js";
import { BareKubernetesClient } from "./kubernetes-client.js";
import type { BareOutputs } from "./run-without-engine.js";

/** Longest time in milliseconds from the last call until the cluster works. */
const patience = 300_000;

/**
 * Waits for the state in which `up` ends: the nodes are Ready, the Services answer, and the data in
 * the volume claim was read back.
 */
export async function waitUntilWorking(
  outputs: BareOutputs,
  login: { readonly user: string; readonly agentSocket: string },
): Promise<void> {
  const { samples, kubeconfig } = outputs;
  const inside = new BareKubernetesClient(kubeconfig);
  const addressOf = (name: string): Promise<string> =>
    inside.addressOf(samples?.namespace ?? "", name);
  const [external, internal] = samples
    ? await Promise.all([addressOf("web-external"), addressOf("web-internal")])
    : ["", ""];
  const known = parseOutputs({
    ...outputs,
    samples: samples && { ...samples, external, internal },
  });
  const entry = findEntrySshTarget(known, login);
  const verification = await verifyCluster({ outputs: known, entry, timeout: patience });
  if (!verification.ok) throw new Error(describeFailedChecks(verification, known).join("\n"));
}
