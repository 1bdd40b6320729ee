import type { ClusterSpec } from "../spec/cluster-spec.js";
import { patchTargets } from "../spec/kubernetes-patches.js";

type Patches = ClusterSpec["kubernetes"]["patches"];

/** Where control planes have kubeadm's patches (scripts/configuration.sh). */
const directory = "/etc/kubernetes/stackadm-patches";

/**
 * Files of kubeadm's patches for scripts/configuration.sh, a line `NAME BASE64` each; nothing where nothing is patched. kubeadm
 * finds target and type in the name, and applies them in the names' order.
 */
export const patchFiles = (patches: Patches): string =>
  patchTargets
    .flatMap((target) =>
      (patches[target] ?? []).map(({ type = "strategic", patch }, index) => {
        const name = `${target}${String(index).padStart(4, "0")}+${type}.json`;
        return `${name} ${Buffer.from(JSON.stringify(patch)).toString("base64")}`;
      }),
    )
    .join("\n");

/** What a document of kubeadm says of them. A directory that does not exist would be an error. */
export const patchesBlock = (
  patches: Patches,
): { readonly patches?: { readonly directory: string } } =>
  patchFiles(patches) === "" ? {} : { patches: { directory } };
