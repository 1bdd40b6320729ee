import { z } from "zod";
import { run, type RunCommandOptions, type RunCommandResult } from "../../../base/run-command.js";
import type { LabSettings } from "../settings.js";
import { getCgroupParent, raiseCpuWeight, removeCgroups } from "./cgroups.js";
import { isCommandInstalled } from "./packages.js";
import { removeWithRetries } from "./remove-with-retries.js";

/** Specification of the system container that runs the cloud. */
export interface ContainerSpec {
  readonly settings: LabSettings;
  /** Folder of the container's root file system. */
  readonly root: string;
  /** Read-only mounts. A map from a path on the host to a path in the container. */
  readonly mounts: Readonly<Record<string, string>>;
  /** Writable mounts. A map from a path on the host to a path in the container. @default none */
  readonly writableMounts?: Readonly<Record<string, string>>;
}

/**
 * Returns the arguments of `podman run`. The arguments name the runtime, so the host's podman
 * configuration needs no change. There is no process limit, because podman's default limit would
 * apply to the whole cloud.
 */
export function getPodmanRunArguments({
  settings,
  root,
  mounts,
  writableMounts = {},
}: ContainerSpec): string[] {
  const parent = getCgroupParent(settings.name);
  return [
    ...["--runtime", "runc", "run", "--detach", "--name", settings.name],
    ...["--hostname", settings.hostname, "--privileged", "--systemd=always"],
    ...(parent === undefined ? [] : ["--cgroup-parent", parent]),
    ...["--cgroupns=private", "--pids-limit", "-1", "--log-driver", "none"],
    ...["--ulimit", "nofile=20000:20000", "--ulimit", "nproc=16384:16384"],
    ...["--network", `ns:/run/netns/${settings.name}`, "--no-hosts"],
    ...["--tmpfs", "/run", "--tmpfs", "/tmp", "--label", "stackadm=lab"],
    ...Object.entries(mounts).flatMap(([from, to]) => ["--volume", `${from}:${to}:ro`]),
    ...Object.entries(writableMounts).flatMap(([from, to]) => ["--volume", `${from}:${to}`]),
    ...["--rootfs", root, "/sbin/init"],
  ];
}

export async function startContainer(spec: ContainerSpec): Promise<void> {
  await run("podman", getPodmanRunArguments(spec));
  await raiseCpuWeight(spec.settings.name);
}

/** Runs a command inside the cloud. */
export const runInContainer = (
  name: string,
  command: readonly string[],
  options: RunCommandOptions = {},
): Promise<RunCommandResult> =>
  run(
    "podman",
    [
      ...["--runtime", "runc", "exec"],
      ...(options.input === undefined ? [] : ["-i"]),
      name,
      ...command,
    ],
    options,
  );

/**
 * Returns the state ("running", "exited", ...), or undefined if podman or the container does not
 * exist. If podman's monitor process was killed, podman still reports "running". So this function
 * also asks runc.
 */
export async function getContainerState(name: string): Promise<string | undefined> {
  if (!isCommandInstalled("podman")) return undefined;
  const { code, stdout } = await run(
    "podman",
    ["container", "inspect", "--format", "{{.State.Status}} {{.Id}}", name],
    { accept: [0, 1, 125] },
  );
  if (code !== 0) return undefined;
  const [recorded, id = ""] = stdout.trim().split(" ");
  if (recorded !== "running") return recorded;
  const runtime = await run("runc", ["state", id], { accept: [0, 1] });
  return runtime.code === 0
    ? z.object({ status: z.string() }).parse(JSON.parse(runtime.stdout)).status
    : "stopped";
}

/** Returns the process ID, on the host, of the container's init. */
export async function getContainerPid(name: string): Promise<number> {
  const { stdout } = await run("podman", [
    ...["container", "inspect", "--format", "{{.State.Pid}}", name],
  ]);
  return Number(stdout.trim());
}

/**
 * Removes the container and its control groups. Kills all processes at once, so services with data
 * must have been stopped before.
 */
export async function removeContainer(name: string, boundMs?: number): Promise<void> {
  const container = {
    name: `The container ${name}`,
    isThere: async () => (await getContainerState(name)) !== undefined,
    remove: () => run("podman", ["--runtime", "runc", "rm", "--force", "--time", "0", name]),
  };
  await removeWithRetries(container, boundMs);
  await removeCgroups(name, { boundMs });
}
