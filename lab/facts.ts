import { writePrivate } from "../base/files.js";
import { toYaml } from "../base/yaml.js";
import { identityUrl, regionOf, type Transport } from "./cloud/configuration/common.js";
import { externalNetworkName, servicesNetworkName, tenant } from "./cloud/offering.js";
import type { LabSecrets } from "./cloud/secrets.js";
import type { LabPaths, LabSettings } from "./settings.js";

/** What whoever uses the lab gets to know about it. */
export interface LabFacts {
  /** Name in `cloudsFile`: the unprivileged tenant. */
  readonly cloud: string;
  /** The same over TLS, to be known by the lab's own authority. */
  readonly tlsCloud: string;
  /** clouds.yaml, mode 0600. */
  readonly cloudsFile: string;
  /** The same for the cloud's administrator; for tests only. */
  readonly adminCloudsFile: string;
  /** Defaults of the site: repositories, kubelet and load balancer settings. */
  readonly siteFile: string;
  /** Name of the podman container that is the cloud. */
  readonly container: string;
}

const tlsCloudName = (cloud: string): string => `${cloud}-tls`;
export const adminCloudName = (settings: LabSettings): string => `${settings.name}-admin`;

export const labFacts = (settings: LabSettings, paths: LabPaths): LabFacts => ({
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

const entry = (settings: LabSettings, { name, password }: User, transport: Transport) => ({
  auth_type: "password",
  auth: {
    auth_url: identityUrl(settings, transport),
    username: name,
    password,
    project_name: name,
    user_domain_name: "Default",
    project_domain_name: "Default",
  },
  region_name: regionOf(settings, transport),
  interface: "public",
  identity_api_version: 3,
});

/** A clouds.yaml with one cloud in plain HTTP and over TLS, for a user in the project of the same name. */
export const renderClouds = (settings: LabSettings, user: User, authorityFile: string): string =>
  toYaml({
    clouds: {
      [user.cloud]: entry(settings, user, "http"),
      [tlsCloudName(user.cloud)]: { ...entry(settings, user, "https"), cacert: authorityFile },
    },
  });

/** Fingerprints of the keys that sign in upstream's place: its own keys only upstream has. */
export interface SiteKeys {
  readonly kubernetes: string;
  readonly containerd: string;
}

/** Settings that only machines in containers need: they show the host's kernel, memory and swap, and boot in seconds or never. */
const ofContainers = {
  kubernetes: {
    kubelet: { failCgroupV1: false, cgroupDriver: "cgroupfs" },
    kubeProxy: { mode: "iptables", conntrack: { maxPerCore: 0 } },
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

const inner = (value: object): string => toYaml(value).replace(/^.*\n/, "");

/**
 * Defaults of this site, merged under the stack's `cluster` object. `containers`: whether its machines are system containers, which
 * need settings of their own; those with a kernel have all other defaults of the program. Default: they are.
 */
export function renderSite(keys: SiteKeys, { containers = true } = {}): string {
  const { kubernetes, ...others } = ofContainers;
  const section =
    "# System containers only: machines with a kernel of their own need none of it.\n";
  return [
    "# Defaults of the lab, merged under the stack's `cluster` object.\n",
    `# External networks: ${externalNetworkName}; ${servicesNetworkName}, for loadBalancer.network.\n`,
    toYaml({
      kubernetes: {
        packages: {
          keyFingerprint: keys.kubernetes,
          containerd: { keyFingerprint: keys.containerd },
        },
      },
    }),
    ...(containers ? [`  ${section}`, inner({ kubernetes }), section, toYaml(others)] : []),
  ].join("");
}

export function writeFacts(settings: LabSettings, paths: LabPaths, secrets: LabSecrets): void {
  const user = { cloud: settings.name, name: tenant, password: secrets.demo };
  const admin = { cloud: adminCloudName(settings), name: "admin", password: secrets.admin };
  writePrivate(paths.authorityFile, secrets.tls.authority);
  writePrivate(paths.cloudsFile, renderClouds(settings, user, paths.authorityFile));
  writePrivate(paths.adminCloudsFile, renderClouds(settings, admin, paths.authorityFile));
}
