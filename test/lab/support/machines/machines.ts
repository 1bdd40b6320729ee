import { getLabName } from "../../../../base/paths.js";
import { run } from "../../../../base/run-command.js";
import { readLabSettings } from "../../../../packages/lab/settings.js";

/**
 * Functions that run commands in servers without SSH, so that a test does not change the SSH logins
 * that it counts.
 */

const container = getLabName();

/** Runs a shell line inside the cloud's container. */
export async function inCloud(line: string, input?: string): Promise<string> {
  const words = ["exec", ...(input === undefined ? [] : ["-i"]), container, "sh", "-c", line];
  const { stdout } = await run("podman", words, input === undefined ? {} : { input });
  return stdout;
}

/**
 * Function that runs a shell line as root, with `input` as standard input. Throws if the line
 * fails.
 */
export type Shell = (line: string, input?: string) => Promise<string>;

const shells = new Map<string, Shell>();

/** Registers a shell for a server that is not a container. */
export const reachBy = (serverId: string, shell: Shell): void => {
  shells.set(serverId, shell);
};

/** Runs a shell line inside a server, with `input` as standard input. */
export async function inServer(serverId: string, line: string, input?: string): Promise<string> {
  const shell = shells.get(serverId);
  if (shell) return shell(line, input);
  const quoted = `'${line.replaceAll("'", `'\\''`)}'`;
  return inCloud(`runc --root /run/lab-runc exec ${serverId} sh -c ${quoted}`, input);
}

/** Returns the number of SSH logins on a server since it booted. */
export async function sshLogins(serverId: string): Promise<number> {
  const lines = await inServer(
    serverId,
    "journalctl --no-pager -o cat -u ssh | grep -c ^Accepted || :",
  );
  return Number(lines.trim());
}

/**
 * Returns the number of scripts that ran on a server over SSH since it booted, according to the log
 * of sudo.
 */
export async function scriptRuns(serverId: string): Promise<number> {
  const lines = await inServer(
    serverId,
    "journalctl --no-pager -o cat -t sudo | grep -c 'COMMAND=.*bash --norc -c' || :",
  );
  return Number(lines.trim());
}

/**
 * Returns the writing requests that the cloud's APIs have answered until now, except requests for
 * tokens.
 */
export async function cloudWrites(): Promise<string[]> {
  const journal = await inCloud(
    "journalctl --no-pager -o cat -u 'os-*' | grep -E '\"(POST|PUT|PATCH|DELETE) ' || :",
  );
  return journal.split("\n").filter((line) => line !== "" && !line.includes("/v3/auth/tokens"));
}

/**
 * Returns the calls from this machine to the cloud's APIs until now. The log does not contain
 * authentication.
 */
export async function callsFromHere(): Promise<string[]> {
  const here = readLabSettings().management.host.replaceAll(".", "\\.");
  const journal = await inCloud(
    `journalctl --no-pager -o cat -u 'os-*' | grep -E '(^|[^0-9.])${here} .*"[A-Z]+ /' || :`,
  );
  return journal.split("\n").flatMap((line) => /"([A-Z]+ \S+)/.exec(line)?.[1] ?? []);
}

/** Returns the command lines and environments of all processes on the servers. */
export async function processLists(): Promise<string> {
  return inCloud("ps -eo args= axewww");
}

/**
 * Makes the lab's compute driver fail each start of a server with this name, until `clearFault` is
 * called.
 */
export async function injectFault(serverName: string, fault: "error" | "no-boot"): Promise<void> {
  await inCloud(`mkdir -p /srv/lab/faults && printf %s ${fault} > /srv/lab/faults/${serverName}`);
}

/** Ends the fault of servers with this name. */
export async function clearFault(serverName: string): Promise<void> {
  await inCloud(`rm -f /srv/lab/faults/${serverName}`);
}
