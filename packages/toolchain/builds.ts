import { join } from "node:path";
import type { MissingProgram } from "../../base/substitute-programs.js";
import {
  defaultOpenstackPlugin,
  openstackPluginVersions,
  type PulumiOpenstackVersion,
} from "../../base/versions/pulumi-openstack-versions.js";
import { Failure } from "../../base/failures/failure.js";
import type { GoBuild } from "./make.js";
import { engineVersion, pluginVersions } from "../../base/versions/pulumi-versions.js";

/** Build of the Pulumi engine, for machines on which Pulumi is not installed. */
export const engineBuild: GoBuild = {
  name: "pulumi",
  version: engineVersion,
  sources: [join(__dirname, "pulumi")],
  package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
  ldflags: `-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=${engineVersion}`,
  expectedSeconds: 240,
};

/**
 * Returns the build of an OpenStack plugin, for machines that cannot download the official plugin.
 */
export const getOpenstackPluginBuild = (
  version: PulumiOpenstackVersion = defaultOpenstackPlugin,
): GoBuild => ({
  name: "pulumi-resource-openstack",
  version,
  sources: [
    join(__dirname, "openstack"),
    join(__dirname, "openstack", `v${version.split(".")[0] ?? ""}`),
  ],
  package: ".",
  ldflags: "-s -w",
  expectedSeconds: 120,
});

/**
 * Version of the Kubernetes plugin that is built from source. It is the only version whose Go
 * module can be downloaded without access to the upstream repository.
 */
const builtKubernetesPlugin = "4.25.0";

const kubernetesModule = "github.com/pulumi/pulumi-kubernetes/provider/v4";
const kubernetesFiles = "cmd/pulumi-resource-kubernetes";

/**
 * Build of the Kubernetes plugin. The engine warns in every run about a plugin that is older than
 * the SDK. So the built plugin reports the version that the SDK requires. The build metadata of the
 * reported version contains the real version.
 */
export const kubernetesBuild: GoBuild = {
  name: "pulumi-resource-kubernetes",
  version: builtKubernetesPlugin,
  sources: [join(__dirname, "kubernetes")],
  package: ".",
  ldflags: `-s -w -X ${kubernetesModule}/pkg/version.Version=${pluginVersions.kubernetes}+built.${builtKubernetesPlugin}`,
  // Compiling the plugin's typed Go SDK is more than half of the work. Only ConfigFile, ConfigGroup
  // and Chart use this SDK, so it is compiled without inlining and debug information.
  gcflags: "github.com/pulumi/pulumi-kubernetes/sdk/v4/...=-dwarf=false -l",
  embedded: {
    module: kubernetesModule,
    files: [`${kubernetesFiles}/schema.json`, `${kubernetesFiles}/terraform-mapping.json`],
  },
  expectedSeconds: 420,
};

/** Substitutes for the official Kubernetes plugin, if it cannot be downloaded. */
const kubernetesPlugins = ["stand-in", "built"] as const;
export type KubernetesPluginSubstitute = (typeof kubernetesPlugins)[number];

/**
 * Returns which Kubernetes plugin STACKADM_KUBERNETES_PLUGIN selects in place of the official one.
 * Default: the stand-in.
 */
export function selectKubernetesPlugin(env: NodeJS.ProcessEnv): KubernetesPluginSubstitute {
  const named = env["STACKADM_KUBERNETES_PLUGIN"] ?? "stand-in";
  const chosen = kubernetesPlugins.find((plugin) => plugin === named);
  if (chosen) return chosen;
  throw new Failure(
    "INVALID_USAGE",
    `STACKADM_KUBERNETES_PLUGIN: '${named}' cannot be used.`,
    `Write ${kubernetesPlugins.join(" or ")}, or unset it.`,
  );
}

/** Returns the Go build of a program, or undefined if a stand-in replaces the program. */
export function findGoBuild(
  { name, version }: MissingProgram,
  env: NodeJS.ProcessEnv,
): GoBuild | undefined {
  if (name === engineBuild.name) return engineBuild;
  if (name === kubernetesBuild.name)
    return selectKubernetesPlugin(env) === "built" ? kubernetesBuild : undefined;
  if (name !== "pulumi-resource-openstack") return undefined;
  return getOpenstackPluginBuild(openstackPluginVersions.find((one) => one === version));
}
