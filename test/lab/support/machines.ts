import { labName } from "../../../base/paths.js";
import { run } from "../../../base/run.js";
import { labSettings } from "../../../lab/settings.js";

/** Looks into the lab's servers from outside, without SSH: what a test counts must not be made by the test. */

const container = labName();

/** Runs a shell line inside the cloud's container. */
export async function inCloud(line: string, input?: string): Promise<string> {
  const words = ["exec", ...(input === undefined ? [] : ["-i"]), container, "sh", "-c", line];
  const { stdout } = await run("podman", words, input === undefined ? {} : { input });
  return stdout;
}

/** Runs a shell line as root, with `input` as what it reads; rejects when it fails. */
export type Shell = (line: string, input?: string) => Promise<string>;

const shells = new Map<string, Shell>();

/** Names the way into a server that is no container. */
export const reachBy = (serverId: string, shell: Shell): void => {
  shells.set(serverId, shell);
};

/** Runs a shell line inside a server, with `input` as what it reads. */
export async function inServer(serverId: string, line: string, input?: string): Promise<string> {
  const shell = shells.get(serverId);
  if (shell) return shell(line, input);
  const quoted = `'${line.replaceAll("'", `'\\''`)}'`;
  return inCloud(`runc --root /run/lab-runc exec ${serverId} sh -c ${quoted}`, input);
}

/** How many SSH logins a server has seen since it booted. */
export async function sshLogins(serverId: string): Promise<number> {
  const lines = await inServer(
    serverId,
    "journalctl --no-pager -o cat -u ssh | grep -c ^Accepted || :",
  );
  return Number(lines.trim());
}

/** How many scripts ran on a server over SSH since it booted: sudo notes each. */
export async function scriptRuns(serverId: string): Promise<number> {
  const lines = await inServer(
    serverId,
    "journalctl --no-pager -o cat -t sudo | grep -c 'COMMAND=.*bash -s' || :",
  );
  return Number(lines.trim());
}

/** The writing requests that the cloud's APIs have answered so far; getting a token is none. */
export async function cloudWrites(): Promise<string[]> {
  const journal = await inCloud(
    "journalctl --no-pager -o cat -u 'os-*' | grep -E '\"(POST|PUT|PATCH|DELETE) ' || :",
  );
  return journal.split("\n").filter((line) => line !== "" && !line.includes("/v3/auth/tokens"));
}

/** The calls that somebody on this machine made to the cloud's APIs so far, of those that note them: signing in is none of these. */
export async function callsFromHere(): Promise<string[]> {
  const here = labSettings().management.host.replaceAll(".", "\\.");
  const journal = await inCloud(
    `journalctl --no-pager -o cat -u 'os-*' | grep -E '(^|[^0-9.])${here} .*"[A-Z]+ /' || :`,
  );
  return journal.split("\n").flatMap((line) => /"([A-Z]+ \S+)/.exec(line)?.[1] ?? []);
}

/** Every command line and environment that is visible on the servers right now. */
export async function processLists(): Promise<string> {
  return inCloud("ps -eo args= axewww");
}

/** Asks the driver to fail each start of a server of that name until `clearFault`. */
export async function injectFault(serverName: string, fault: "error" | "no-boot"): Promise<void> {
  await inCloud(`mkdir -p /srv/lab/faults && printf %s ${fault} > /srv/lab/faults/${serverName}`);
}

/** Servers of that name start well from now on. */
export async function clearFault(serverName: string): Promise<void> {
  await inCloud(`rm -f /srv/lab/faults/${serverName}`);
}
