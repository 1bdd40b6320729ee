import { defaultOpenstackPlugin } from "./pulumi-openstack-versions.js";

/**
 * Version of the Pulumi engine that the toolchain builds. Older engines are not accepted, because
 * the program needs error hooks and `#initerror` in `replaceOnChanges`.
 */
export const engineVersion = "3.246.0";

/**
 * Plugin versions that the program requests from the engine by default. The engine accepts exactly
 * these versions from the Pulumi home.
 */
export const pluginVersions = {
  openstack: defaultOpenstackPlugin,
  kubernetes: "4.34.2",
  command: "1.2.1",
} as const;

export type PluginName = keyof typeof pluginVersions;

/** Host from which the official plugins are downloaded. */
export const pluginDownloadHost = "get.pulumi.com";

/**
 * Returns whether version `found` ("3.250.1", "v3.246.0-dev") is at least `wanted` and has the same
 * major version.
 */
export function isAcceptableVersion(found: string, wanted: string): boolean {
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
