import { entryTarget, parseOutputs } from "../../../automation/verify/outputs.js";
import { shortcomings, verifyCluster } from "../../../automation/verify/verify.js";
import { BareCluster } from "./cluster.js";
import type { BareOutputs } from "./run.js";

/** Milliseconds in which all of it has to work after everything was asked for. */
const patience = 300_000;

/** Looks until it is where `up` ends: nodes Ready, the services answer, the claim's data was read back. */
export async function untilWorking(
  outputs: BareOutputs,
  login: { readonly user: string; readonly agentSocket: string },
): Promise<void> {
  const { samples, kubeconfig } = outputs;
  const inside = new BareCluster(kubeconfig);
  const addressOf = (name: string): Promise<string> =>
    inside.addressOf(samples?.namespace ?? "", name);
  const [external, internal] = samples
    ? await Promise.all([addressOf("web-external"), addressOf("web-internal")])
    : ["", ""];
  const known = parseOutputs({
    ...outputs,
    samples: samples && { ...samples, external, internal },
  });
  const entry = entryTarget(known, login);
  const verification = await verifyCluster({ outputs: known, entry, timeout: patience });
  if (!verification.ok) throw new Error(shortcomings(verification, known).join("\n"));
}
