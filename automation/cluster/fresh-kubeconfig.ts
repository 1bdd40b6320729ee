import { z } from "zod";
import { isOld } from "./certificate-end.js";
import type { Run } from "./run.js";
import type { StateExport } from "./state.js";
import { rememberUnfinished } from "./unfinished.js";

/*
 * Control planes sign their certificates anew by themselves, that of the administrator among them. The kubeconfig that the state has
 * is older by then: it is fetched while it is still good.
 */

const readiness = /\$stackadm:kubeadm:Readiness::/;
/** Hands the kubeconfig out. */
const handsOut = /\$stackadm:kubeadm:ControlPlane\$command:remote:Command::[^:]*-0-init$/;
const published = z.object({
  kubeconfigValidity: z.object({ from: z.iso.datetime(), to: z.iso.datetime() }),
});

/** The scripts that have to run again for a fresh kubeconfig; none as long as that in the state is good for long. */
export function scriptsForKubeconfig(
  { deployment }: StateExport,
  now = Date.now(),
): ReadonlySet<string> {
  const all = deployment.resources ?? [];
  const old = all.some(({ urn, outputs }) => {
    const { data } = published.safeParse(readiness.test(urn) ? outputs : undefined);
    return data !== undefined && isOld(data.kubeconfigValidity, now);
  });
  return new Set(old ? all.flatMap(({ urn }) => (handsOut.test(urn) ? [urn] : [])) : []);
}

/** Says where the kubeconfig is old; answers which scripts give another. */
export function tellOld(run: Run, state: StateExport | undefined): ReadonlySet<string> {
  const scripts = state ? scriptsForKubeconfig(state) : new Set<string>();
  if (scripts.size > 0)
    run.note(
      "The kubeconfig's certificate nears its end: `up` fetches the control plane's new one.",
    );
  return scripts;
}

/** Has the next run of the engine fetch it then. */
export async function fetchKubeconfig(run: Run, state: StateExport | undefined): Promise<void> {
  await rememberUnfinished(run.access, tellOld(run, state));
}
