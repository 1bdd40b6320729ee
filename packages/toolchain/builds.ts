import { join } from "node:path";
import type { MissingProgram } from "../../base/substitute-programs.js";
import {
  defaultOpenstackPlugin,
  openstackPlugins,
  type OpenstackPlugin,
} from "../../base/versions/openstack-plugin-versions.js";
import { Failure } from "../../base/failures/failure.js";
import type { GoBuild } from "./make.js";
import { engineVersion, pluginVersions } from "../../base/versions/pulumi-versions.js";

/** Build of the engine, for machines without Pulumi. */
export const engineBuild: GoBuild = {
  name: "pulumi",
  version: engineVersion,
  sources: [join(__dirname, "pulumi")],
  package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
  ldflags: `-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=${engineVersion}`,
  expectedSeconds: 240,
};

/** Returns the build of an OpenStack plugin, for machines that cannot download the official one. */
export const openstackBuild = (version: OpenstackPlugin = defaultOpenstackPlugin): GoBuild => ({
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
 * Version of the Kubernetes plugin that is built: the only one whose Go module was found to be
 * available without upstream's repository.
 */
const builtKubernetesPlugin = "4.25.0";

const kubernetesModule = "github.com/pulumi/pulumi-kubernetes/provider/v4";
const kubernetesFiles = "cmd/pulumi-resource-kubernetes";

/**
 * Build of the Kubernetes plugin. It reports the version that the SDK asks for, because the engine
 * warns of an older one in every run, and its own version as build metadata.
 */
export const kubernetesBuild: GoBuild = {
  name: "pulumi-resource-kubernetes",
  version: builtKubernetesPlugin,
  sources: [join(__dirname, "kubernetes")],
  package: ".",
  ldflags: `-s -w -X ${kubernetesModule}/pkg/version.Version=${pluginVersions.kubernetes}+built.${builtKubernetesPlugin}`,
  // The typed SDK is more than half of the work, and serves only ConfigFile, ConfigGroup and Chart.
  gcflags: "github.com/pulumi/pulumi-kubernetes/sdk/v4/...=-dwarf=false -l",
  embedded: {
    module: kubernetesModule,
    files: [`${kubernetesFiles}/schema.json`, `${kubernetesFiles}/terraform-mapping.json`],
  },
  expectedSeconds: 420,
};

/** What takes the place of the official Kubernetes plugin where it cannot be downloaded. */
const kubernetesPlugins = ["stand-in", "built"] as const;
export type KubernetesPlugin = (typeof kubernetesPlugins)[number];

/**
 * Returns the Kubernetes plugin that STACKADM_KUBERNETES_PLUGIN chooses: by default the stand-in.
 */
export function kubernetesPluginIn(env: NodeJS.ProcessEnv): KubernetesPlugin {
  const named = env["STACKADM_KUBERNETES_PLUGIN"] ?? "stand-in";
  const chosen = kubernetesPlugins.find((plugin) => plugin === named);
  if (chosen) return chosen;
  throw new Failure(
    "INVALID_USAGE",
    `STACKADM_KUBERNETES_PLUGIN: '${named}' cannot be used.`,
    `Write ${kubernetesPlugins.join(" or ")}, or unset it.`,
  );
}

/** Returns the build of a program; undefined if a stand-in takes its place. */
export function buildOf(
  { name, version }: MissingProgram,
  env: NodeJS.ProcessEnv,
): GoBuild | undefined {
  if (name === engineBuild.name) return engineBuild;
  if (name === kubernetesBuild.name)
    return kubernetesPluginIn(env) === "built" ? kubernetesBuild : undefined;
  if (name !== "pulumi-resource-openstack") return undefined;
  return openstackBuild(openstackPlugins.find((one) => one === version));
}
