import { lookup } from "node:dns/promises";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../../base/run-command.js";
import { Failure } from "../../../base/failures/failure.js";
import type { LabPaths, LabSettings } from "../settings.js";
import {
  raiseKernelSettings,
  restoreKernelSettings,
  type SharedKernelSettings,
} from "./kernel-settings.js";
import {
  findCollisions,
  listRuleDeletions,
  listFirewallCommands,
  listLinkCommands,
  parseInterfaceAddresses,
  parseNameServerAddresses,
  parseRouteAddresses,
  type CommandWithArguments,
  type UsedAddresses,
} from "./network-plan.js";
import { listMountPoints, unmount } from "./mounts.js";
import { isCommandInstalled } from "./packages.js";
import { removeWithRetries } from "./remove-with-retries.js";

async function usedByNames(hosts: readonly string[]): Promise<UsedAddresses[]> {
  const found = await Promise.allSettled(hosts.map((host) => lookup(host, { family: 4 })));
  return found.flatMap((result, index) =>
    result.status === "fulfilled"
      ? [{ cidr: `${result.value.address}/32`, what: `address of ${hosts[index] ?? ""}` }]
      : [],
  );
}

/** Refuses networks of the lab that overlap with addresses in use on the host. */
export async function checkCollisions(
  settings: LabSettings,
  packageHosts: readonly string[],
): Promise<void> {
  const [routes, addresses, resolvConf, names] = await Promise.all([
    run("ip", ["-j", "-4", "route", "show", "table", "all"]),
    run("ip", ["-j", "-4", "addr"]),
    readFile("/etc/resolv.conf", "utf8").catch(() => ""),
    usedByNames(packageHosts),
  ]);
  const problems = findCollisions(settings, [
    ...parseRouteAddresses(routes.stdout, settings.devices),
    ...parseInterfaceAddresses(addresses.stdout, settings.devices),
    ...parseNameServerAddresses(resolvConf),
    ...names,
  ]);
  if (problems.length > 0) {
    throw new Failure(
      "FAILED",
      `The lab's networks are in use on this host: ${[...new Set(problems)].join("; ")}.`,
      "Choose free /24 networks, e.g. STACKADM_LAB_MANAGEMENT=10.213.0.0/24 STACKADM_LAB_EXTERNAL=10.213.1.0/24 STACKADM_LAB_SERVICES=10.213.2.0/24.",
    );
  }
}

type KernelPaths = Pick<LabPaths, "kernelSettings" | "sysctls" | "namespaces" | "interfaces">;

const sharedBy = (
  { name: lab }: LabSettings,
  { kernelSettings: folder, sysctls: root }: KernelPaths,
): SharedKernelSettings => ({ folder, lab, root });

/**
 * Creates namespace, veth pairs and packet filter rules. Raises kernel settings, and records their
 * original values in the folder `kernelSettings` for `tearDownNetwork`.
 */
export async function setUpNetwork(settings: LabSettings, paths: KernelPaths): Promise<void> {
  await raiseKernelSettings(sharedBy(settings, paths));
  for (const [command, ...args] of [
    ...listLinkCommands(settings),
    ...listFirewallCommands(settings),
  ]) {
    await run(command, args);
  }
}

/** Returns commands that delete the lab's rules. Returns none if the host has no iptables. */
async function ruleDeletions(comment: string): Promise<CommandWithArguments[]> {
  if (!isCommandInstalled("iptables")) return [];
  const found: CommandWithArguments[] = [];
  for (const table of ["nat", "filter"]) {
    const { stdout, code } = await run("iptables", ["-w", "-t", table, "-S"], {
      accept: [0, 1, 2, 3, 4],
    });
    if (code === 0) found.push(...listRuleDeletions(table, stdout, comment));
  }
  return found;
}

/** Deletes a network namespace if it exists. */
export const removeNetworkNamespace = (
  name: string,
  { namespaces }: Pick<LabPaths, "namespaces">,
): Promise<void> =>
  removeWithRetries({
    name: `The network namespace ${name}`,
    isThere: () => existsSync(join(namespaces, name)),
    remove: () => run("ip", ["netns", "del", name]),
  });

/**
 * Unmounts the folder of the network namespaces, if it is empty. `ip netns add` mounts the folder
 * on itself and never unmounts it.
 */
async function unmountNamespaceFolder(folder: string): Promise<void> {
  if (!existsSync(folder) || (await readdir(folder)).length > 0) return;
  for (const point of await listMountPoints(folder)) await unmount(point);
}

/**
 * Removes namespace, veth pairs and rules, if they exist, and restores the host's kernel settings.
 */
export async function tearDownNetwork(settings: LabSettings, paths: KernelPaths): Promise<void> {
  for (const device of Object.values(settings.devices)) {
    await removeWithRetries({
      name: `The interface ${device}`,
      isThere: () => existsSync(join(paths.interfaces, device)),
      remove: () => run("ip", ["link", "del", device]),
    });
  }
  await removeNetworkNamespace(settings.name, paths);
  await unmountNamespaceFolder(paths.namespaces);
  for (const [command, ...args] of await ruleDeletions(settings.name)) await run(command, args);
  await restoreKernelSettings(sharedBy(settings, paths));
}

/** Returns the names of the parts of the lab's network that are on the host. */
export async function listNetworkRemains(
  settings: LabSettings,
  paths: Pick<LabPaths, "namespaces" | "interfaces">,
): Promise<string[]> {
  const devices = Object.values(settings.devices)
    .filter((device) => existsSync(join(paths.interfaces, device)))
    .map((device) => `interface ${device}`);
  const namespace = existsSync(join(paths.namespaces, settings.name))
    ? [`network namespace ${settings.name}`]
    : [];
  const rules = (await ruleDeletions(settings.name)).length;
  return [...devices, ...namespace, ...(rules > 0 ? [`${rules} iptables rules`] : [])];
}
