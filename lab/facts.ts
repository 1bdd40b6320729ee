import { writePrivate } from "../base/files.js";
import { toYaml } from "../base/yaml.js";
import { identityUrl, ports, regionOf, type Transport } from "./cloud/configuration/common.js";
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

/** The apt repository's signing key, as far as the site has one. */
export interface SiteKey {
  readonly keyFingerprint: string;
}

/** Defaults of this site, merged under the stack's `cluster` object. */
export function renderSite({ management }: LabSettings, key: SiteKey): string {
  const comment =
    "# Defaults of the lab, merged under the stack's `cluster` object.\n" +
    `# External networks: ${externalNetworkName}; ${servicesNetworkName}, for loadBalancer.network.\n`;
  return (
    comment +
    toYaml({
      kubernetes: {
        packages: {
          url: `http://${management.cloud}:${ports.packages}/v{minor}/deb/`,
          keyFingerprint: key.keyFingerprint,
        },
        registry: { prefix: `${management.cloud}:${ports.registry}`, plainHttp: true },
        kubelet: { failCgroupV1: false, cgroupDriver: "cgroupfs" },
        kubeProxy: { mode: "iptables", conntrack: { maxPerCore: 0 } },
        // The machines are containers: they show the host's kernel, memory and swap.
        ignorePreflightErrors: [
          "SystemVerification",
          "FileContent--proc-sys-net-bridge-bridge-nf-call-iptables",
          "Swap",
          "NumCPU",
          "Mem",
        ],
      },
      loadBalancer: { provider: "lab" },
      // They boot in seconds, or never.
      ssh: { bootMinutes: 3 },
    })
  );
}

export function writeFacts(settings: LabSettings, paths: LabPaths, secrets: LabSecrets): void {
  const user = { cloud: settings.name, name: tenant, password: secrets.demo };
  const admin = { cloud: adminCloudName(settings), name: "admin", password: secrets.admin };
  writePrivate(paths.authorityFile, secrets.tls.authority);
  writePrivate(paths.cloudsFile, renderClouds(settings, user, paths.authorityFile));
  writePrivate(paths.adminCloudsFile, renderClouds(settings, admin, paths.authorityFile));
}
