import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { linkNew } from "../link.js";
import { run } from "../run.js";
import { UserError } from "../user-error.js";

/** An ssh-agent that holds the login key. */
export interface Agent {
  readonly socket: string;
  /** Public keys, one line each. */
  readonly keys: readonly string[];
  /** True when it was there before us. */
  readonly foreign: boolean;
  /** Ends it when it is ours. */
  close(): Promise<void>;
}

/** The keys of a running agent; none when there is no agent behind the socket. */
export async function agentKeys(socket: string): Promise<string[]> {
  // 1: no identities, 2: no agent answers.
  const { code, stdout } = await run("ssh-add", ["-L"], {
    env: { ...process.env, SSH_AUTH_SOCK: socket },
    accept: [0, 1, 2],
  });
  return code === 0 ? stdout.split("\n").filter((line) => /^(ssh|ecdsa|sk)-/.test(line)) : [];
}

/** The user's own key for the clusters: made once, without a passphrase, readable by its owner only. */
export async function ensureKey(path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path)) await makeKey(path);
  chmodSync(path, 0o600);
}

/** Made aside, since ssh-keygen asks before it overwrites: of two commands at once the first one's key counts. */
async function makeKey(path: string): Promise<void> {
  const aside = mkdtempSync(`${path}-`);
  const key = join(aside, "key");
  try {
    await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "stackadm", "-f", key]);
    if (linkNew(key, path)) renameSync(`${key}.pub`, `${path}.pub`);
  } finally {
    rmSync(aside, { recursive: true });
  }
}

const startTimeout = 15_000;

/** Does an agent answer? The socket's file is there a moment before it can be connected to. */
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

async function startAgent(keyFile: string): Promise<Agent> {
  const directory = mkdtempSync(join(tmpdir(), "stackadm-agent-"));
  const socket = join(directory, "socket");
  // -D: stays our child, so that it cannot outlive the command unnoticed.
  const child = spawn("ssh-agent", ["-D", "-a", socket], { stdio: "ignore", detached: true });
  child.unref();
  const failed = once(child, "error").then(() => {
    throw new UserError("The command 'ssh-agent' is not installed.", "Install openssh-client.");
  });
  failed.catch(() => undefined);
  // However this process ends, the agent goes with it.
  const end = (): void => {
    child.kill("SIGTERM");
    rmSync(directory, { recursive: true, force: true });
  };
  process.once("exit", end);
  const close = async (): Promise<void> => {
    process.off("exit", end);
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      child.ref();
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    }
    rmSync(directory, { recursive: true, force: true });
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
 * The agent with the login key: the one that runs, when it holds a key; else one of ours for as long as the
 * command lives, with a key of the user's own at `keyFile`.
 */
export async function ensureAgent(env: NodeJS.ProcessEnv, keyFile: string): Promise<Agent> {
  const socket = env["SSH_AUTH_SOCK"];
  if (socket !== undefined && existsSync(socket)) {
    const keys = await agentKeys(socket);
    if (keys.length > 0) return { socket, keys, foreign: true, close: () => Promise.resolve() };
  }
  await ensureKey(keyFile);
  return startAgent(keyFile);
}
