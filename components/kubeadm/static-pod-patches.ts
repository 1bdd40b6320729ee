import type { ClusterSpec } from "../config/cluster-spec.js";
import { patchTargets } from "../config/kubernetes/static-pod-patches.js";

type Patches = ClusterSpec["kubernetes"]["patches"];

/** Directory on control planes for kubeadm's patches (scripts/control-plane-configuration.sh). */
const directory = "/etc/kubernetes/stackadm-patches";

const fileOf = (name: string, patch: unknown): string =>
  `${name}.json ${Buffer.from(JSON.stringify(patch)).toString("base64")}`;

/**
 * Number of failed liveness probes after which kubelet restarts a component. There is one probe
 * every 10 s. The number is kubeadm's default.
 */
const livenessFailures = 8;

/**
 * Returns patches that multiply {@link livenessFailures} by the factor. On a slow machine, a
 * restart would take longer than the delay that caused it. kubeadm has no setting for this number.
 * There is no patch for etcd, because the program does not change a running etcd.
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
 * Returns kubeadm's patches for scripts/control-plane-configuration.sh. Each patch is a line
 * `NAME BASE64`. kubeadm reads the target and the type of a patch from the name, and applies the
 * patches in the order of their names. The user's patches come last. Returns "" without patches.
 *
 * @param timeoutFactor `timeoutFactor` of the cluster
 */
export const renderPatchFiles = (patches: Patches, timeoutFactor: number): string =>
  [
    ...slowProbes(timeoutFactor),
    ...patchTargets.flatMap((target) =>
      (patches[target] ?? []).map(({ type = "strategic", patch }, index) =>
        fileOf(`${target}${String(index).padStart(4, "0")}+${type}`, patch),
      ),
    ),
  ].join("\n");

/**
 * Returns the `patches` block of a kubeadm document. Returns no block if there are no patches,
 * because then the directory does not exist.
 */
export const buildPatchesBlock = (
  patches: Patches,
  timeoutFactor: number,
): { readonly patches?: { readonly directory: string } } =>
  renderPatchFiles(patches, timeoutFactor) === "" ? {} : { patches: { directory } };
