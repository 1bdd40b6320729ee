import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { run } from "../../../../base/run-command.js";
import { until } from "../../../engine/support/until.js";

const lines = (text: string): string[] => text.split("\n").filter((line) => line.trim() !== "");

async function output(command: string, ...args: string[]): Promise<string[]> {
  return lines((await run(command, args)).stdout);
}

/**
 * Returns all state of the host that a lab could leave behind. Leaves out values that change
 * without a lab.
 */
export async function hostTraces(): Promise<Record<string, string[]>> {
  const rules = (
    await Promise.all(
      ["filter", "nat", "mangle", "raw"].map((table) =>
        output("iptables", "-w", "-t", table, "-S"),
      ),
    )
  ).flat();
  return {
    mounts: lines(readFileSync("/proc/self/mounts", "utf8")).map((line) =>
      line.split(" ").slice(0, 2).join(" "),
    ),
    "loop devices": await output("losetup", "-n", "-O", "BACK-FILE"),
    namespaces: await output("ip", "netns", "list"),
    interfaces: (await output("ip", "-o", "link")).map((line) => line.split(":")[1]?.trim() ?? ""),
    addresses: (await output("ip", "-o", "addr")).map((line) =>
      line.trim().split(/\s+/).slice(1, 4).join(" "),
    ),
    rules,
    containers: await output("podman", "--runtime", "runc", "ps", "-a", "--format", "{{.Names}}"),
    forwarding: [readFileSync("/proc/sys/net/ipv4/ip_forward", "utf8").trim()],
  };
}

/** Returns the command lines of the lab's processes, inside and outside of its container. */
export async function labProcesses(): Promise<string[]> {
  const all = await output("ps", "-eo", "args=", "ww");
  return all.filter((line) =>
    /stackadm-lab|lab-runc|labdriver|\/srv\/lab|mariadbd|beam\.smp/.test(line),
  );
}

/**
 * Kills a container's monitor and then its init process, which ends all processes in the container.
 * Simulates a kill by a process outside of the lab.
 */
export async function killContainer(name: string): Promise<void> {
  const [pids = ""] = await output(
    "podman",
    ...["container", "inspect", "--format", "{{.State.ConmonPid}} {{.State.Pid}}", name],
  );
  for (const pid of pids.split(" ").map(Number)) {
    assert.ok(pid > 1, pids);
    process.kill(pid, "SIGKILL");
    await until(`process ${pid} ended`, () => !existsSync(`/proc/${pid}`), 15);
  }
}
