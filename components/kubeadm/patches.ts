import type { ClusterSpec } from "../spec/cluster-spec.js";
import { patchTargets } from "../spec/kubernetes-patches.js";

type Patches = ClusterSpec["kubernetes"]["patches"];

/** Directory on control planes for kubeadm's patches (scripts/configuration.sh). */
const directory = "/etc/kubernetes/stackadm-patches";

const fileOf = (name: string, patch: unknown): string =>
  `${name}.json ${Buffer.from(JSON.stringify(patch)).toString("base64")}`;

/** Failed probes, one every 10 s, after which kubelet restarts a component: kubeadm's default. */
const livenessFailures = 8;

/**
 * Returns patches that multiply that number by the factor: on a slow machine a restart takes longer
 * than the delay that caused it. kubeadm has no setting for it. etcd keeps kubeadm's number,
 * because the program does not patch a running etcd.
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
 * Returns kubeadm's patches for scripts/configuration.sh, one line `NAME BASE64` per file; empty
 * without patches. kubeadm reads target and type from a file's name, and applies the files in the
 * order of their names: the user's come last.
 *
 * @param timeoutFactor `timeoutFactor` of the cluster
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

/**
 * Returns the `patches` block of a kubeadm document; empty if there are none: the directory must
 * exist.
 */
export const patchesBlock = (
  patches: Patches,
  timeoutFactor: number,
): { readonly patches?: { readonly directory: string } } =>
  patchFiles(patches, timeoutFactor) === "" ? {} : { patches: { directory } };
