import {
  getMinorVersion,
  getPackageSeries,
  supportedMinors,
} from "../../base/versions/pinned-versions.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import { createScriptReader } from "../remote-scripts/script-texts.js";

const read = createScriptReader(__dirname);

/** Scripts that install the packages of Kubernetes (scripts/prepare/kubernetes-packages.sh). */
export const packageScripts = [
  read("../remote-scripts/scripts/download-errors.sh"),
  read("../remote-scripts/scripts/apt-get.sh"),
  read("scripts/prepare/kubernetes-packages.sh"),
] as const;

/**
 * Scripts that change the Kubernetes version of a machine at its turn in a rolling upgrade. The
 * scripts restart-with-rollback.sh and configure-kubelet.sh must come before them.
 */
export const versionScripts = [
  ...packageScripts,
  read("scripts/change-version.sh"),
  read("scripts/change-containerd.sh"),
] as const;

/** Variables that {@link packageScripts} read. */
const packageVariables = [
  "KUBERNETES_VERSION",
  "PACKAGES_URL",
  "CRI_TOOLS_SERIES",
  "KUBERNETES_CNI_SERIES",
  "CONTAINERD_GENERATION",
  "IMAGE_REPOSITORY",
] as const;
export const versionVariables = [...packageVariables, "PAUSE"] as const;

type VersionSpec = Pick<ClusterSpec, "kubernetes">;

/** Returns the generation of containerd for scripts. The default, 0, is an empty text. */
const renderContainerdGeneration = ({
  generation,
}: VersionSpec["kubernetes"]["packages"]["containerd"]): string =>
  generation === 0 ? "" : String(generation);

export const getPackageValues = ({
  kubernetes: { version, packages, registry },
}: VersionSpec): Record<(typeof packageVariables)[number], string> => {
  const { criTools, kubernetesCni } = getPackageSeries(version);
  return {
    KUBERNETES_VERSION: version,
    PACKAGES_URL: packages.url.replaceAll("{minor}", getMinorVersion(version)),
    CRI_TOOLS_SERIES: criTools,
    KUBERNETES_CNI_SERIES: kubernetesCni,
    CONTAINERD_GENERATION: renderContainerdGeneration(packages.containerd),
    IMAGE_REPOSITORY: registry.prefix,
  };
};

/**
 * Returns the URL of the package repository for the newest supported minor version. Returns "" if
 * `version` already has this minor version, or if `url` has no `{minor}` placeholder.
 */
export function getNewestPackageRepository({
  version,
  packages: { url },
}: VersionSpec["kubernetes"]): string {
  const [newest = ""] = supportedMinors;
  return newest === getMinorVersion(version) || !url.includes("{minor}")
    ? ""
    : url.replaceAll("{minor}", newest);
}

export const getVersionValues = (
  spec: VersionSpec,
): Record<(typeof versionVariables)[number], string> => ({
  ...getPackageValues(spec),
  PAUSE: spec.kubernetes.images.pause ?? "",
});
