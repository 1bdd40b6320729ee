import { join } from "node:path";
import { Address4 } from "ip-address";
import { Failure } from "../../base/failures/failure.js";
import {
  getCachePath,
  getLabFolderName,
  getLabName,
  getStatePath,
  defaultLabName,
} from "../../base/paths.js";

/** Network between the host and the cloud. */
export interface HostLabNetwork {
  readonly cidr: string;
  /** Address of the host in the network: the first address. */
  readonly host: string;
  readonly prefixLength: number;
}

/**
 * Network that is an external network of the cloud. Its floating IPs are between `first` and
 * `last`.
 */
export interface LabExternalNetwork extends HostLabNetwork {
  readonly first: string;
  readonly last: string;
}

export interface AvailabilityZone {
  readonly name: string;
  /** Name of the Nova host (service nova-compute) in this zone. */
  readonly host: string;
}

/** Settings of the cloud that are known before its build. A change leads to a new golden cloud. */
export interface LabSettings {
  /**
   * Name of the container, the network namespace and the control group, and the comment of the
   * packet filter rules.
   */
  readonly name: string;
  /** Names of the veth interfaces on the host. */
  readonly devices: Readonly<Record<keyof typeof cloudDevices, string>>;
  readonly hostname: string;
  readonly region: string;
  /**
   * Network of the APIs. `cloud`: address of the APIs. `front`: address of the public hosts that
   * the front answers for (`front/hosts.ts`).
   */
  readonly management: HostLabNetwork & { readonly cloud: string; readonly front: string };
  readonly external: LabExternalNetwork;
  /** Second external network, for the floating IPs of Services. */
  readonly services: LabExternalNetwork;
  /** MTU of all these networks in bytes, and so the maximum MTU of tenant networks. */
  readonly mtu: number;
  readonly zones: readonly AvailabilityZone[];
}

/** Names of the veth interfaces in the cloud. */
export const cloudDevices = { management: "eth0", external: "ext0", services: "ext1" } as const;

function network(
  cidr: string,
  setting: string,
): HostLabNetwork & { at: (index: number) => string } {
  if (!Address4.isValid(cidr))
    throw new Failure("FAILED", `${setting}: ${cidr} is not an IPv4 network.`);
  const parsed = new Address4(cidr);
  const base = parsed.startAddress();
  if (parsed.subnetMask !== 24 || base.correctForm() !== parsed.correctForm()) {
    throw new Failure("FAILED", `${setting}: ${cidr} must be a /24 given by its first address.`);
  }
  const at = (index: number) => Address4.fromBigInt(base.bigInt() + BigInt(index)).correctForm();
  return { cidr, prefixLength: 24, host: at(1), at };
}

/**
 * Returns an external network. Neutron uses the addresses 50 to 250 for floating IPs and router
 * gateways.
 */
function externalNetwork(cidr: string, setting: string): LabExternalNetwork {
  const { at, ...found } = network(cidr, setting);
  return { ...found, first: at(50), last: at(250) };
}

/**
 * Returns the lab's name and the names of its interfaces on the host. The kernel allows 15
 * characters for an interface name.
 */
function nameAndDevices(env: NodeJS.ProcessEnv): Pick<LabSettings, "name" | "devices"> {
  const name = getLabName(env);
  const usual = { management: "labmgmt", external: "labext", services: "labsvc" };
  if (name === defaultLabName) return { name, devices: usual };
  if (!/^[a-z][a-z0-9-]{0,9}$/.test(name)) {
    throw new Failure(
      "FAILED",
      `STACKADM_LAB_NAME: ${name} must be at most 10 lower case letters, digits and hyphens.`,
    );
  }
  const devices = {
    management: `${name}-mgmt`,
    external: `${name}-ext`,
    services: `${name}-svc`,
  };
  return { name, devices };
}

/**
 * Returns the lab's settings. The defaults may collide with networks of the host. Then set
 * `STACKADM_LAB_MANAGEMENT`, `STACKADM_LAB_EXTERNAL` and `STACKADM_LAB_SERVICES` to other /24
 * networks. With `STACKADM_LAB_NAME` and other networks, a second lab can run. Labs share only the
 * Kubernetes builds.
 */
export function readLabSettings(env: NodeJS.ProcessEnv = process.env): LabSettings {
  const { at: managementAt, ...management } = network(
    env["STACKADM_LAB_MANAGEMENT"] ?? "172.29.0.0/24",
    "STACKADM_LAB_MANAGEMENT",
  );
  const external = externalNetwork(
    env["STACKADM_LAB_EXTERNAL"] ?? "172.29.1.0/24",
    "STACKADM_LAB_EXTERNAL",
  );
  const services = externalNetwork(
    env["STACKADM_LAB_SERVICES"] ?? "172.29.2.0/24",
    "STACKADM_LAB_SERVICES",
  );
  const all = [management.cidr, external.cidr, services.cidr];
  const twice = all.find((cidr, index) => all.indexOf(cidr) !== index);
  if (twice !== undefined) {
    throw new Failure(
      "FAILED",
      `Two of the lab's networks are both ${twice}; give each of them another range.`,
    );
  }
  return {
    ...nameAndDevices(env),
    hostname: "labcloud",
    region: "lab",
    management: { ...management, cloud: managementAt(2), front: managementAt(3) },
    external,
    services,
    mtu: 1400,
    zones: [
      { name: "zone-a", host: "labcloud-a" },
      { name: "zone-b", host: "labcloud-b" },
      { name: "zone-c", host: "labcloud-c" },
    ],
  };
}

export interface LabPaths {
  /** Folder of the caches, which `lab down` does not delete. */
  readonly cache: string;
  /**
   * Sparse file with the btrfs that contains package trees, golden clouds and the running cloud.
   */
  readonly storeFile: string;
  /** Mount point of `storeFile` while the lab is used. */
  readonly store: string;
  /**
   * File with the paths of the store that this lab has mounted, which may be in another cache
   * folder. The file is deleted when the store is unmounted.
   */
  readonly mounted: string;
  readonly images: string;
  /** Folder with the front's authority and cache. */
  readonly front: string;
  /** Folder with the secrets and package versions of every golden cloud, one subfolder per key. */
  readonly goldens: string;
  readonly lock: string;
  /**
   * Folder with the host's kernel settings from before the first lab. All labs share this folder,
   * and the last lab deletes it.
   */
  readonly kernelSettings: string;
  /** Folder of the kernel's settings. */
  readonly sysctls: string;
  /** Folder of the named network namespaces. */
  readonly namespaces: string;
  /** Folder with an entry per network interface. */
  readonly interfaces: string;
  /** Folder of the Kubernetes packages and images, which the cloud serves. */
  readonly site: string;
  /** Folder with the facts of the running lab, which `lab down` deletes. */
  readonly state: string;
  readonly stateFile: string;
  readonly cloudsFile: string;
  readonly adminCloudsFile: string;
  readonly authorityFile: string;
  readonly siteFile: string;
}

export function getLabPaths(name: string = defaultLabName): LabPaths {
  const folder = getLabFolderName(name);
  const cache = getCachePath(folder);
  const state = getStatePath(folder);
  return {
    cache,
    storeFile: join(cache, "store.btrfs"),
    store: join(cache, "store"),
    mounted: `/run/stackadm/stores/${name}`,
    images: join(cache, "images"),
    front: join(cache, "front"),
    goldens: join(cache, "golden"),
    lock: join(cache, "lock"),
    kernelSettings: "/run/stackadm/kernel-settings",
    sysctls: "/proc/sys",
    namespaces: "/run/netns",
    interfaces: "/sys/class/net",
    site: getCachePath("lab", "kubernetes", "site"),
    state,
    stateFile: join(state, "lab.json"),
    cloudsFile: join(state, "clouds.yaml"),
    adminCloudsFile: join(state, "admin-clouds.yaml"),
    authorityFile: join(state, "ca.crt"),
    siteFile: join(state, "site.yaml"),
  };
}
