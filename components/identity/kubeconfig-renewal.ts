import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { readStateBeforeRun } from "../pulumi/recorded-resources.js";
import { isDueForRenewal } from "./kubeconfig.js";

/*
 * Control planes renew their certificates without `up`, including the certificate in the
 * administrator's kubeconfig. The kubeconfig in the state then has the old certificate. A changed
 * value of the script that outputs the kubeconfig makes the engine run the script again.
 */

/** Outputs of the component with the kubeconfig, as far as the next run reads them. */
const recorded = z.object({
  kubeconfigValidity: z.object({ from: z.iso.datetime(), to: z.iso.datetime() }),
  kubeconfigRenewal: z.string().default(""),
});

/**
 * Returns the value that makes the script run again. Returns the value of the last run unless the
 * kubeconfig in the state is close to its expiry.
 *
 * @param readiness name of the component whose outputs contain the kubeconfig's validity
 * @param now current time in milliseconds
 */
export async function readKubeconfigRenewal(readiness: string, now = Date.now()): Promise<string> {
  const state = (await readStateBeforeRun()) ?? [];
  const { data } = recorded.safeParse(state.find(({ name }) => name === readiness)?.outputs);
  if (!data) return "";
  const { kubeconfigValidity: validity, kubeconfigRenewal: last } = data;
  if (!isDueForRenewal(validity, now)) return last;
  await pulumi.log.info(
    `The kubeconfig's certificate ends at ${validity.to}: \`up\` fetches a new one from a control plane.`,
  );
  // The script ran, but the control plane had not renewed the certificate. Another value makes the
  // script run again.
  return last === validity.to ? `${validity.to} again` : validity.to;
}
