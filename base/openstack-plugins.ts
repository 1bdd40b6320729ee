/** Versions of Pulumi's OpenStack plugin with which the program works, the one that it chooses first. */
export const openstackPlugins = ["5.5.1", "3.15.2"] as const;

export type OpenstackPlugin = (typeof openstackPlugins)[number];

export const [defaultOpenstackPlugin] = openstackPlugins;

/** Whether a plugin of that version takes the policy of a server group as a list of one. Since version 4 it is text. */
export const takesPolicyList = (version: string): boolean => Number.parseInt(version, 10) < 4;
