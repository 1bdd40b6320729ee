import { lookup } from "node:dns/promises";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { run } from "../../automation/run.js";
import { UserError } from "../../automation/user-error.js";
import type { LabPaths, LabSettings } from "../settings.js";
import { raiseKernelSettings, restoreKernelSettings } from "./kernel-settings.js";
import {
  collisions,
  deletions,
  filterCommands,
  linkCommands,
  usedByInterfaces,
  usedByNameServers,
  usedByRoutes,
  type Command,
  type UsedAddresses,
} from "./network-plan.js";
import { mountsBelow } from "./kernel-lists.js";
import { isInstalled } from "./packages.js";

async function usedByNames(hosts: readonly string[]): Promise<UsedAddresses[]> {
  const found = await Promise.allSettled(hosts.map((host) => lookup(host, { family: 4 })));
  return found.flatMap((result, index) =>
    result.status === "fulfilled"
      ? [{ cidr: `${result.value.address}/32`, what: `address of ${hosts[index] ?? ""}` }]
      : [],
  );
}

/** Refuses when one of the lab's networks shares addresses with something the host uses. */
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
  const problems = collisions(settings, [
    ...usedByRoutes(routes.stdout, settings.devices),
    ...usedByInterfaces(addresses.stdout, settings.devices),
    ...usedByNameServers(resolvConf),
    ...names,
  ]);
  if (problems.length > 0) {
    throw new UserError(
      `The lab's networks are in use on this host: ${[...new Set(problems)].join("; ")}.`,
      "Choose two free /24 networks, e.g. STACKADM_LAB_MANAGEMENT=10.213.0.0/24 STACKADM_LAB_EXTERNAL=10.213.1.0/24.",
    );
  }
}

type KernelPaths = Pick<LabPaths, "kernelSettings" | "sysctls">;

/**
 * Makes namespace, veth pairs and packet filter rules. The file `kernelSettings` remembers for `tearDownNetwork` which
 * settings of the host had to be raised.
 */
export async function setUpNetwork(settings: LabSettings, paths: KernelPaths): Promise<void> {
  await raiseKernelSettings(paths.kernelSettings, paths.sysctls);
  for (const [command, ...args] of [...linkCommands(settings), ...filterCommands(settings)]) {
    await run(command, args);
  }
}

/** Commands that delete our rules; none where the host has no packet filter. */
async function ruleDeletions(comment: string): Promise<Command[]> {
  if (!isInstalled("iptables")) return [];
  const found: Command[] = [];
  for (const table of ["nat", "filter"]) {
    const { stdout, code } = await run("iptables", ["-w", "-t", table, "-S"], {
      accept: [0, 1, 2, 3, 4],
    });
    if (code === 0) found.push(...deletions(table, stdout, comment));
  }
  return found;
}

/** `ip netns` mounts its folder on itself the first time it is used, and never takes that away. */
async function unmountNamespaceFolder(): Promise<void> {
  const folder = "/run/netns";
  if (!existsSync(folder) || (await readdir(folder)).length > 0) return;
  const mounts = mountsBelow(await readFile("/proc/self/mountinfo", "utf8"), folder);
  for (const point of mounts) await run("umount", [point]);
}

/** Takes namespace, veth pairs and rules away, whatever is left of them, and puts the host's settings back. */
export async function tearDownNetwork(settings: LabSettings, paths: KernelPaths): Promise<void> {
  for (const device of Object.values(settings.devices)) {
    if (existsSync(`/sys/class/net/${device}`)) await run("ip", ["link", "del", device]);
  }
  if (existsSync(`/run/netns/${settings.name}`)) await run("ip", ["netns", "del", settings.name]);
  await unmountNamespaceFolder();
  for (const [command, ...args] of await ruleDeletions(settings.name)) await run(command, args);
  await restoreKernelSettings(paths.kernelSettings, paths.sysctls);
}

/** What of the lab's network is there, for `lab status` and for the proof that `lab down` left nothing. */
export async function networkRemains(settings: LabSettings): Promise<string[]> {
  const devices = Object.values(settings.devices)
    .filter((device) => existsSync(`/sys/class/net/${device}`))
    .map((device) => `interface ${device}`);
  const namespace = existsSync(`/run/netns/${settings.name}`)
    ? [`network namespace ${settings.name}`]
    : [];
  const rules = (await ruleDeletions(settings.name)).length;
  return [...devices, ...namespace, ...(rules > 0 ? [`${rules} iptables rules`] : [])];
}
