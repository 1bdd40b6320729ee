import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { linkNew } from "../../base/files.js";
import { run } from "../../base/run.js";
import { Failure } from "../../base/failure.js";
import { UserError } from "../../base/user-error.js";

/** SSH agent that has the login key. */
export interface Agent {
  readonly socket: string;
  /** Public keys, one line each. */
  readonly keys: readonly string[];
  /** Whether the agent already ran before this command. */
  readonly foreign: boolean;
  /** Ends the agent if this command started it. */
  close(): Promise<void>;
}

/**
 * Milliseconds for an agent's answer. A local agent answers at once; a forwarded one may be slow.
 */
const answerMilliseconds = 15_000;

/** Returns the keys of a running agent; none if no agent listens on the socket. */
export async function agentKeys(socket: string, env = process.env): Promise<string[]> {
  // Exit code 1: no identities; 2: no agent.
  const { code, stdout } = await run("ssh-add", ["-L"], {
    env: { ...env, SSH_AUTH_SOCK: socket },
    accept: [0, 1, 2],
    signal: AbortSignal.timeout(answerMilliseconds),
  }).catch((error: unknown): never => {
    if (!(error instanceof Error && error.name === "AbortError")) throw error;
    throw new UserError(
      `SSH_AUTH_SOCK: the agent at ${socket} does not answer.`,
      "A forwarded agent hangs if its connection does: log in again, or unset SSH_AUTH_SOCK to use another key.",
    );
  });
  return code === 0 ? stdout.split("\n").filter((line) => /^(ssh|ecdsa|sk)-/.test(line)) : [];
}

/** Called with the path of a new key. */
type OnMade = (path: string) => void;

/** Returns a callback that reports a new key. */
export const madeKey =
  (note: (text: string) => void): OnMade =>
  (path) => {
    note(
      `Created ${path}, the login key for machines of clusters whose settings name no other key. Keep a copy: without it, you cannot log in to these machines.`,
    );
  };

/**
 * Creates the user's own key for the clusters if there is none: without a passphrase, readable by
 * its owner only.
 */
export async function ensureKey(path: string, onMade: OnMade = () => undefined): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path) && (await makeKey(path))) onMade(path);
  chmodSync(path, 0o600);
}

/**
 * Creates the key in a temporary directory, because ssh-keygen asks before it overwrites. Returns
 * false if another command has created one meanwhile.
 */
async function makeKey(path: string): Promise<boolean> {
  const aside = mkdtempSync(`${path}-`);
  const key = join(aside, "key");
  try {
    await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "stackadm", "-f", key]);
    if (!linkNew(key, path)) return false;
    renameSync(`${key}.pub`, `${path}.pub`);
    return true;
  } finally {
    rmSync(aside, { recursive: true });
  }
}

const startTimeout = 15_000;

/**
 * Returns whether an agent answers. The socket's file exists a moment before it accepts
 * connections.
 */
async function answers(socket: string): Promise<boolean> {
  const env = { ...process.env, SSH_AUTH_SOCK: socket };
  return (await run("ssh-add", ["-l"], { env, accept: [0, 1, 2] })).code !== 2;
}

async function waitForAgent(socket: string, child: ChildProcess): Promise<void> {
  const end = Date.now() + startTimeout;
  while (!existsSync(socket) || !(await answers(socket))) {
    if (child.exitCode !== null || Date.now() > end)
      throw new UserError("ssh-agent does not start.", "Install openssh-client.");
    await pause(20);
  }
}

/**
 * Shell program that ssh-agent runs. It waits until the pipe on its standard input closes, which
 * happens however this process ends; then it ends the agent and deletes its directory ($0). If the
 * program itself is killed, the agent notices this within 10 s and exits.
 */
const keeper = `read -r _
kill "$SSH_AGENT_PID"
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -S "$SSH_AUTH_SOCK" ] && sleep 0.01; done
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -S "$SSH_AUTH_SOCK" ] && sleep 0.1; done
rm -rf "$0"`;

async function startAgent(keyFile: string): Promise<Agent> {
  const directory = mkdtempSync(join(tmpdir(), "stackadm-agent-"));
  const socket = join(directory, "socket");
  // Detached: Ctrl-C at the terminal is for this process, which needs the agent to stop gracefully.
  const child = spawn("ssh-agent", ["-a", socket, "sh", "-c", keeper, directory], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => {
      resolve();
    });
  });
  child.unref();
  const failed = once(child, "error").then(() => {
    throw new Failure(
      "TOOL_MISSING",
      "The command 'ssh-agent' is not installed.",
      "Install openssh-client.",
    );
  });
  failed.catch(() => undefined);
  child.stdin.on("error", () => undefined);
  const forget = (): void => {
    rmSync(directory, { recursive: true, force: true });
  };
  process.once("exit", forget);
  const close = async (): Promise<void> => {
    process.off("exit", forget);
    if (child.pid !== undefined) {
      child.ref();
      child.stdin.end();
      await ended;
    }
    forget();
  };
  try {
    await Promise.race([waitForAgent(socket, child), failed]);
    await run("ssh-add", ["-q", keyFile], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
    return { socket, keys: await agentKeys(socket), foreign: false, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Returns the agent with the login key: the running one, if it has a key. Otherwise starts one for
 * the duration of the command, with the user's own key at `keyFile`.
 */
export async function ensureAgent(
  env: NodeJS.ProcessEnv,
  keyFile: string,
  onMade?: OnMade,
): Promise<Agent> {
  const socket = env["SSH_AUTH_SOCK"];
  if (socket !== undefined && existsSync(socket)) {
    const keys = await agentKeys(socket);
    if (keys.length > 0) return { socket, keys, foreign: true, close: () => Promise.resolve() };
  }
  await ensureKey(keyFile, onMade);
  return startAgent(keyFile);
}
