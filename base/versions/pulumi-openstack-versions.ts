/** Supported versions of Pulumi's OpenStack plugin. The first version is the default. */
export const openstackPluginVersions = ["5.5.1", "3.15.2"] as const;

export type PulumiOpenstackVersion = (typeof openstackPluginVersions)[number];

export const [defaultOpenstackPlugin] = openstackPluginVersions;

/**
 * Returns whether the plugin expects the `policies` of a server group as a list. Version 4 and
 * newer versions expect a string.
 */
export const takesPolicyList = (version: string): boolean => Number.parseInt(version, 10) < 4;

/**
 * Returns whether the plugin finds block storage in the catalog only under the name `volumev3`.
 * Version 4 and newer versions also accept its other names, such as `block-storage`.
 */
export const requiresVolumev3 = (version: string): boolean => Number.parseInt(version, 10) < 4;
