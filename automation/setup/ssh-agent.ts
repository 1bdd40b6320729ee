import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createHardLink } from "../../base/atomic-files.js";
import { run } from "../../base/run-command.js";
import { Failure } from "../../base/failures/failure.js";

/** SSH agent that has the login key. */
export interface SshAgent {
  readonly socket: string;
  /** Public keys in the agent, one line each. */
  readonly keys: readonly string[];
  /** Whether the agent ran before this command. Such an agent is never ended. */
  readonly foreign: boolean;
  /** Ends the agent, if this command has started it. */
  close(): Promise<void>;
}

/**
 * Time limit in milliseconds for an agent's answer. A local agent answers at once. A forwarded
 * agent may be slow.
 */
const answerMilliseconds = 15_000;

/**
 * Returns the public keys in a running agent. Returns no keys if no agent listens on the socket.
 */
export async function readAgentKeys(socket: string, env = process.env): Promise<string[]> {
  // Exit code 1 means that the agent has no keys, 2 that there is no agent.
  const { code, stdout } = await run("ssh-add", ["-L"], {
    env: { ...env, SSH_AUTH_SOCK: socket },
    accept: [0, 1, 2],
    signal: AbortSignal.timeout(answerMilliseconds),
  }).catch((error: unknown): never => {
    if (!(error instanceof Error && error.name === "AbortError")) throw error;
    throw new Failure(
      "FAILED",
      `SSH_AUTH_SOCK: the agent at ${socket} does not answer.`,
      "A forwarded agent hangs if its connection does: log in again, or unset SSH_AUTH_SOCK to use another key.",
    );
  });
  return code === 0 ? stdout.split("\n").filter((line) => /^(ssh|ecdsa|sk)-/.test(line)) : [];
}

/** Callback that receives the path of a new key. */
type OnMade = (path: string) => void;

/** Returns a callback that reports a new key. */
export const createNewKeyReporter =
  (note: (text: string) => void): OnMade =>
  (path) => {
    note(
      `Created ${path}, the login key for machines of clusters whose settings name no other key. Keep a copy: without it, you cannot log in to these machines.`,
    );
  };

/**
 * Creates the login key at `path` unless it exists. The key has no passphrase, and only its owner
 * can read it.
 */
export async function ensureKey(path: string, onMade: OnMade = () => undefined): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path) && (await makeKey(path))) onMade(path);
  chmodSync(path, 0o600);
}

/**
 * Creates the key. Returns false if another command has created a key in the meantime. ssh-keygen
 * asks before overwriting a file, so the key is created in a temporary directory.
 */
async function makeKey(path: string): Promise<boolean> {
  const aside = mkdtempSync(`${path}-`);
  const key = join(aside, "key");
  try {
    const words = ["-q", "-t", "ed25519", "-N", "", "-C", "stackadm", "-f", key];
    await run("ssh-keygen", words, { timeout: answerMilliseconds });
    if (!createHardLink(key, path)) return false;
    renameSync(`${key}.pub`, `${path}.pub`);
    return true;
  } finally {
    rmSync(aside, { recursive: true });
  }
}

const startTimeout = 15_000;

/**
 * Returns whether an agent answers on the socket. The socket's file exists a moment before the
 * agent accepts connections.
 */
async function answers(socket: string): Promise<boolean> {
  const env = { ...process.env, SSH_AUTH_SOCK: socket };
  const signal = AbortSignal.timeout(answerMilliseconds);
  return (await run("ssh-add", ["-l"], { env, accept: [0, 1, 2], signal })).code !== 2;
}

async function waitForAgent(socket: string, child: ChildProcess): Promise<void> {
  const end = performance.now() + startTimeout;
  while (!existsSync(socket) || !(await answers(socket))) {
    if (child.exitCode !== null || performance.now() > end)
      throw new Failure("FAILED", "ssh-agent does not start.", "Install openssh-client.");
    await pause(20);
  }
}

/**
 * Shell program that ssh-agent runs. The program waits until its standard input closes. The input
 * closes when this process ends, even if this process is killed. The program then ends the agent
 * and deletes the agent's directory ($0). If the program itself is killed, the agent exits within
 * 10 s.
 */
const agentProgram = `read -r _
kill "$SSH_AGENT_PID"
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -S "$SSH_AUTH_SOCK" ] && sleep 0.01; done
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -S "$SSH_AUTH_SOCK" ] && sleep 0.1; done
rm -rf "$0"`;

async function startAgent(keyFile: string): Promise<SshAgent> {
  const directory = mkdtempSync(join(tmpdir(), "stackadm-agent-"));
  const socket = join(directory, "socket");
  // Detaches the agent. Ctrl-C at the terminal must not end the agent, because this process needs
  // the agent for a graceful stop.
  const child = spawn("ssh-agent", ["-a", socket, "sh", "-c", agentProgram, directory], {
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
    await run("ssh-add", ["-q", keyFile], {
      env: { ...process.env, SSH_AUTH_SOCK: socket },
      signal: AbortSignal.timeout(answerMilliseconds),
    });
    return { socket, keys: await readAgentKeys(socket), foreign: false, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Returns the running agent if it has a key. Otherwise starts an agent with the key at `keyFile`,
 * and creates the key if needed. The caller closes the agent.
 */
export async function ensureAgent(
  env: NodeJS.ProcessEnv,
  keyFile: string,
  onMade?: OnMade,
): Promise<SshAgent> {
  const socket = env["SSH_AUTH_SOCK"];
  if (socket !== undefined && existsSync(socket)) {
    const keys = await readAgentKeys(socket);
    if (keys.length > 0) return { socket, keys, foreign: true, close: () => Promise.resolve() };
  }
  await ensureKey(keyFile, onMade);
  return startAgent(keyFile);
}
