import { defaultOpenstackPlugin } from "../base/openstack-plugins.js";

/** What the toolchain is made of: every version it names, in one place. */

/** The engine that is made locally, and the oldest that is accepted when found (error hooks, `#initerror`). */
export const engineVersion = "3.246.0";

/** The plugins that the program asks the engine for; it takes exactly these from the Pulumi home. */
export const pluginVersions = {
  openstack: defaultOpenstackPlugin,
  kubernetes: "4.34.2",
  command: "1.2.1",
} as const;

export type PluginName = keyof typeof pluginVersions;

/** Where the official plugins are downloaded from; asked once whether it can be reached. */
export const downloadHost = "get.pulumi.com";

/** Is version `found` ("3.250.1", "v3.246.0-dev") at least `wanted`, with the same major? */
export function acceptable(found: string, wanted: string): boolean {
  const parse = (text: string): number[] =>
    (/(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1) ?? []).map(Number);
  const [major, minor, patch] = parse(found);
  const [wantedMajor, wantedMinor, wantedPatch] = parse(wanted);
  if (major === undefined || minor === undefined || patch === undefined) return false;
  if (wantedMajor === undefined || wantedMinor === undefined || wantedPatch === undefined)
    return false;
  if (major !== wantedMajor) return false;
  return minor > wantedMinor || (minor === wantedMinor && patch >= wantedPatch);
}
