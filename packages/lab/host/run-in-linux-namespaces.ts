import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Failure } from "../../../base/failures/failure.js";

export interface LinuxNamespaceOptions {
  readonly onLine?: (line: string) => void;
  /**
   * Signal that kills the command with all of its processes. The call waits for the end of the
   * processes.
   */
  readonly signal?: AbortSignal;
}

/**
 * Returns arguments that run a command in separate process and mount namespaces. When the command
 * or this process ends, the kernel kills all processes of the command and removes its mounts.
 * Needed for commands that may survive SIGTERM, like mmdebstrap.
 */
export const getUnshareArguments = (command: string, args: readonly string[]): string[] => [
  ...["--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child=KILL"],
  ...["--mount-proc", command, ...args],
];

/**
 * Runs a command in separate namespaces until it ends. If the command fails, throws a Failure with
 * its last lines.
 */
export async function runInLinuxNamespaces(
  command: string,
  args: readonly string[],
  { onLine, signal }: LinuxNamespaceOptions = {},
): Promise<void> {
  signal?.throwIfAborted();
  const child = spawn("setpriv", getUnshareArguments(command, args), {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      said.push(line);
      if (said.length > 12) said.shift();
      onLine?.(line);
    });
  }
  const kill = () => child.kill("SIGKILL");
  signal?.addEventListener("abort", kill, { once: true });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  }).finally(() => {
    signal?.removeEventListener("abort", kill);
  });
  signal?.throwIfAborted();
  if (code !== 0) {
    throw new Failure("FAILED", `'${command}' ended with code ${code ?? "?"}: ${said.join("\n")}`);
  }
}
