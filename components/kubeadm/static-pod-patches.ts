import type { ClusterSpec } from "../config/cluster-spec.js";
import { patchTargets } from "../config/kubernetes/static-pod-patches.js";

type Patches = ClusterSpec["kubernetes"]["patches"];

/** Directory on control planes for kubeadm's patches (scripts/component-configuration.sh). */
const directory = "/etc/kubernetes/stackadm-patches";

const fileOf = (name: string, patch: unknown): string =>
  `${name}.json ${Buffer.from(JSON.stringify(patch)).toString("base64")}`;

/**
 * Number of failed probes, one every 10 s, after which kubelet restarts a component. This is
 * kubeadm's default.
 */
const livenessFailures = 8;

/**
 * Returns patches that multiply {@link livenessFailures} by the factor. On a slow machine, a
 * restart takes longer than the delay that caused the restart. kubeadm has no setting for this
 * number. The program does not patch a running etcd, so etcd keeps kubeadm's number.
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
 * Returns kubeadm's patches for scripts/component-configuration.sh: a line `NAME BASE64` for each
 * file; "" without patches. kubeadm reads target and type from the file's name, and applies the
 * files in the order of their names. The user's files come last.
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
 * Returns the `patches` block of a kubeadm document. Returns no block without patches, because the
 * directory of a block must exist.
 */
export const patchesBlock = (
  patches: Patches,
  timeoutFactor: number,
): { readonly patches?: { readonly directory: string } } =>
  patchFiles(patches, timeoutFactor) === "" ? {} : { patches: { directory } };
