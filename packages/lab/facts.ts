import { replacePrivateFile } from "../../base/atomic-files.js";
import { toYaml } from "../../base/yaml.js";
import { getIdentityUrl, getRegion, type ApiTransport } from "./cloud/configuration/common.js";
import { externalNetworkName, servicesExternalNetworkName, tenantName } from "./cloud/offering.js";
import type { LabSecrets } from "./cloud/secrets.js";
import type { LabPaths, LabSettings } from "./settings.js";

/** Names and files for users of the lab. */
export interface LabFacts {
  /** Name of the cloud in `cloudsFile`, for the unprivileged tenant. */
  readonly cloud: string;
  /** Name of the same cloud over TLS. The lab's own authority signed its certificate. */
  readonly tlsCloud: string;
  /** Path of clouds.yaml, mode 0600. */
  readonly cloudsFile: string;
  /** Path of clouds.yaml for the cloud's administrator; for tests only. */
  readonly adminCloudsFile: string;
  /**
   * Path of the default settings for stacks: key fingerprints, and settings for system containers.
   */
  readonly siteFile: string;
  /** Name of the podman container that runs the cloud. */
  readonly container: string;
}

const tlsCloudName = (cloud: string): string => `${cloud}-tls`;
export const getAdminCloudName = (settings: LabSettings): string => `${settings.name}-admin`;

export const getLabFacts = (settings: LabSettings, paths: LabPaths): LabFacts => ({
  cloud: settings.name,
  tlsCloud: tlsCloudName(settings.name),
  cloudsFile: paths.cloudsFile,
  adminCloudsFile: paths.adminCloudsFile,
  siteFile: paths.siteFile,
  container: settings.name,
});

interface User {
  readonly cloud: string;
  readonly name: string;
  readonly password: string;
}

const entry = (settings: LabSettings, { name, password }: User, transport: ApiTransport) => ({
  auth_type: "password",
  auth: {
    auth_url: getIdentityUrl(settings, transport),
    username: name,
    password,
    project_name: name,
    user_domain_name: "Default",
    project_domain_name: "Default",
  },
  region_name: getRegion(settings, transport),
  interface: "public",
  identity_api_version: 3,
});

/**
 * Renders a clouds.yaml with one cloud in two entries: plain HTTP and TLS. The user's project has
 * the same name as the user.
 */
export const renderClouds = (settings: LabSettings, user: User, authorityFile: string): string =>
  toYaml({
    clouds: {
      [user.cloud]: entry(settings, user, "http"),
      [tlsCloudName(user.cloud)]: { ...entry(settings, user, "https"), cacert: authorityFile },
    },
  });

/**
 * Fingerprints of the keys that sign the repositories. The lab's keys replace upstream's keys,
 * because the lab does not have upstream's private keys.
 */
export interface SiteKeys {
  readonly kubernetes: string;
  readonly containerd: string;
}

/**
 * Settings that only system containers need. System containers show the host's kernel, memory and
 * swap, and boot within seconds.
 */
const systemContainerSettings = {
  kubernetes: {
    kubelet: { failCgroupV1: false, cgroupDriver: "cgroupfs" },
    kubeProxy: { conntrack: { maxPerCore: 0 } },
    ignorePreflightErrors: [
      "SystemVerification",
      "FileContent--proc-sys-net-bridge-bridge-nf-call-iptables",
      "Swap",
      "NumCPU",
      "Mem",
    ],
  },
  ssh: { bootMinutes: 3 },
};

const renderYamlWithoutFirstLine = (value: object): string => toYaml(value).replace(/^.*\n/, "");

/**
 * Renders the default settings for stacks of this lab. The `cluster` object of a stack overrides
 * these settings.
 *
 * @param containers adds the settings that system containers need; virtual machines use the
 * program's defaults. @default true
 */
export function renderSiteFile(keys: SiteKeys, { containers = true } = {}): string {
  const { kubernetes, ...others } = systemContainerSettings;
  const section = "# System containers only: machines with their own kernel do not need this.\n";
  return [
    "# Defaults of the lab, merged under the stack's `cluster` object.\n",
    `# External networks: ${externalNetworkName}; ${servicesExternalNetworkName}, for loadBalancer.network.\n`,
    toYaml({
      kubernetes: {
        packages: {
          keyFingerprint: keys.kubernetes,
          containerd: { keyFingerprint: keys.containerd },
        },
      },
    }),
    ...(containers
      ? [`  ${section}`, renderYamlWithoutFirstLine({ kubernetes }), section, toYaml(others)]
      : []),
  ].join("");
}

export function writeCloudsFiles(
  settings: LabSettings,
  paths: LabPaths,
  secrets: LabSecrets,
): void {
  const user = { cloud: settings.name, name: tenantName, password: secrets.demo };
  const admin = { cloud: getAdminCloudName(settings), name: "admin", password: secrets.admin };
  replacePrivateFile(paths.authorityFile, secrets.tls.authority);
  replacePrivateFile(paths.cloudsFile, renderClouds(settings, user, paths.authorityFile));
  replacePrivateFile(paths.adminCloudsFile, renderClouds(settings, admin, paths.authorityFile));
}
