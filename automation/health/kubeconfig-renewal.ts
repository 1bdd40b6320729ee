import { z } from "zod";
import { isDueForRenewal } from "./certificate-expiry.js";
import type { StackOperation } from "../engine/operation-context.js";
import type { StateExport } from "../pulumi/stack-state.js";
import type { PlannedChanges, OperationFacts, OperationStep } from "../steps/step.js";
import { markInterruptedScripts } from "../engine/interrupted-scripts.js";

/*
 * Control planes renew their certificates without `up`, including the certificate in the
 * administrator's kubeconfig. The kubeconfig in the state then has the old certificate. `up`
 * fetches the new kubeconfig before the old certificate expires.
 */

const readiness = /\$stackadm:kubeadm:Readiness::/;
/** Matches the URN of the control planes' script that outputs the kubeconfig. */
const kubeconfigScriptPattern =
  /\$stackadm:kubeadm:ControlPlane\$command:remote:Command::[^:]*-0-init$/;
const published = z.object({
  kubeconfigValidity: z.object({ from: z.iso.datetime(), to: z.iso.datetime() }),
});

/**
 * Returns the URNs of the scripts that must run again to output a new kubeconfig. Returns an empty
 * set if the kubeconfig in the state is not close to its expiry.
 */
export function findKubeconfigRenewalScripts(
  { deployment }: StateExport,
  now = Date.now(),
): ReadonlySet<string> {
  const all = deployment.resources ?? [];
  const old = all.some(({ urn, outputs }) => {
    const { data } = published.safeParse(readiness.test(urn) ? outputs : undefined);
    return data !== undefined && isDueForRenewal(data.kubeconfigValidity, now);
  });
  return new Set(
    old ? all.flatMap(({ urn }) => (kubeconfigScriptPattern.test(urn) ? [urn] : [])) : [],
  );
}

const reportOldKubeconfig = (run: StackOperation): void => {
  run.note(
    "The kubeconfig's certificate expires soon: `up` fetches a new one from a control plane.",
  );
};

/**
 * Marks the scripts of {@link findKubeconfigRenewalScripts} in the state, so that the next run of
 * the engine runs these scripts again.
 */
export const markScriptsForKubeconfig: OperationStep<
  OperationFacts,
  PlannedChanges,
  ReadonlySet<string>
> = {
  title: "Fetch a new kubeconfig from a control plane",
  detect: ({ state }) => {
    const scripts = state ? findKubeconfigRenewalScripts(state) : new Set<string>();
    return scripts.size > 0 ? scripts : undefined;
  },
  describe: ({ run }) => {
    reportOldKubeconfig(run);
    return {};
  },
  apply: async ({ run }, scripts) => {
    reportOldKubeconfig(run);
    await markInterruptedScripts(run.access, scripts);
  },
};
