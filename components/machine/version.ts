import { minorOf, packageSeries, supportedMinors } from "../../base/versions.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import { scriptsBeside } from "../support/static-scripts.js";

const read = scriptsBeside(__dirname);

/** What knows Kubernetes' packages (scripts/packages.sh). */
export const packageScripts = [
  read("../support/scripts/downloads.sh"),
  read("../support/scripts/apt.sh"),
  read("scripts/packages.sh"),
] as const;

/** What gives a machine another version in its turn: put after converge.sh and kubelet.sh. */
export const versionScripts = [...packageScripts, read("scripts/version.sh")] as const;

/** What they read. */
const packageValues = [
  "KUBERNETES_VERSION",
  "PACKAGES_URL",
  "CRI_TOOLS_SERIES",
  "KUBERNETES_CNI_SERIES",
  "IMAGE_REPOSITORY",
] as const;
export const versionValues = [...packageValues, "PAUSE"] as const;

type Of = Pick<ClusterSpec, "kubernetes">;

export const packageValuesOf = ({
  kubernetes: { version, packages, registry },
}: Of): Record<(typeof packageValues)[number], string> => {
  const { criTools, kubernetesCni } = packageSeries(version);
  return {
    KUBERNETES_VERSION: version,
    PACKAGES_URL: packages.url.replaceAll("{minor}", minorOf(version)),
    CRI_TOOLS_SERIES: criTools,
    KUBERNETES_CNI_SERIES: kubernetesCni,
    IMAGE_REPOSITORY: registry.prefix,
  };
};

/** Returns the address of the newest minor's repository, or nothing where that is no other one than the version's own. */
export function newestPackages({ version, packages: { url } }: Of["kubernetes"]): string {
  const [newest = ""] = supportedMinors;
  return newest === minorOf(version) || !url.includes("{minor}")
    ? ""
    : url.replaceAll("{minor}", newest);
}

export const versionValuesOf = (spec: Of): Record<(typeof versionValues)[number], string> => ({
  ...packageValuesOf(spec),
  PAUSE: spec.kubernetes.images.pause ?? "",
});
