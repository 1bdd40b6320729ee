import type { ClusterSpec } from "../spec/cluster-spec.js";
import { patchTargets } from "../spec/kubernetes-patches.js";

type Patches = ClusterSpec["kubernetes"]["patches"];

/** Where control planes have kubeadm's patches (scripts/configuration.sh). */
const directory = "/etc/kubernetes/stackadm-patches";

const fileOf = (name: string, patch: unknown): string =>
  `${name}.json ${Buffer.from(JSON.stringify(patch)).toString("base64")}`;

/** Number of failed probes, one each 10 s, after which kubelet restarts a component: kubeadm's own number. */
const livenessFailures = 8;

/**
 * Returns patches that multiply that number by the factor: on a slow machine a restart costs more time than the component was late. kubeadm
 * has no such setting. etcd keeps kubeadm's number, because the program does not patch an etcd that runs.
 */
const slowProbes = (factor: number): string[] =>
  factor === 1
    ? []
    : ["kube-apiserver", "kube-controller-manager", "kube-scheduler"].map((name) => {
        const livenessProbe = { failureThreshold: livenessFailures * factor };
        return fileOf(`${name}-slow+strategic`, {
          spec: { containers: [{ name, livenessProbe }] },
        });
      });

/**
 * Returns the files of kubeadm's patches for scripts/configuration.sh, a line `NAME BASE64` each; nothing where nothing is patched. kubeadm
 * finds target and type in the name, and applies them in the names' order: the user's come last.
 *
 * @param timeoutFactor the cluster's
 */
export const patchFiles = (patches: Patches, timeoutFactor: number): string =>
  [
    ...slowProbes(timeoutFactor),
    ...patchTargets.flatMap((target) =>
      (patches[target] ?? []).map(({ type = "strategic", patch }, index) =>
        fileOf(`${target}${String(index).padStart(4, "0")}+${type}`, patch),
      ),
    ),
  ].join("\n");

/** Returns what a document of kubeadm says of the patches. A directory that does not exist would be an error. */
export const patchesBlock = (
  patches: Patches,
  timeoutFactor: number,
): { readonly patches?: { readonly directory: string } } =>
  patchFiles(patches, timeoutFactor) === "" ? {} : { patches: { directory } };
