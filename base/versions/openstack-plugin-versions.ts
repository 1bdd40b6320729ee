/** Versions of Pulumi's OpenStack plugin that the program supports, the default first. */
export const openstackPlugins = ["5.5.1", "3.15.2"] as const;

export type OpenstackPlugin = (typeof openstackPlugins)[number];

export const [defaultOpenstackPlugin] = openstackPlugins;

/**
 * Returns whether the plugin takes `policies` of a server group as a list. Plugins since version 4
 * take one string.
 */
export const takesPolicyList = (version: string): boolean => Number.parseInt(version, 10) < 4;
