import type { OperationEnvironment } from "../../../automation/setup/operation-environment.js";
import { engineVersion, pluginVersions } from "../../../base/versions/pulumi-versions.js";

/** Versions of programs, by the names of the programs. */
export type ToolVersions = Readonly<Record<string, string>>;

/** Returns the versions of the programs of Pulumi that a cluster on the lab uses. */
export const getToolchainVersions = ({
  toolchain,
}: Pick<OperationEnvironment, "toolchain">): ToolVersions =>
  Object.fromEntries(toolchain.pieces.map(({ name, version }) => [name, version]));

/** Versions that the program of this checkout requests, for measurements against fakes. */
export const requestedVersions: ToolVersions = {
  pulumi: engineVersion,
  ...Object.fromEntries(
    Object.entries(pluginVersions).map(([name, version]) => [`pulumi-resource-${name}`, version]),
  ),
};
