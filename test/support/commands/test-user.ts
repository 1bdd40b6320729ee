import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Engine } from "../engine/fake-engine.js";
import { inProcess, restoreProcess, type Ended } from "./in-process.js";
import { installedPackage } from "./installed-package.js";
import { requireContract } from "./json-contract.js";
import { kubeconfigFileOf } from "./kubeconfig.js";

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /**
   * Waits until the standard output or the standard error matches. Throws if the command ends
   * before.
   */
  says(pattern: RegExp): Promise<void>;
}

let made: Readonly<Record<string, string>> | undefined;

/** Returns the files of one SSH key. All operators of a process share this key. */
function loginKey(): Readonly<Record<string, string>> {
  if (made) return made;
  const directory = mkdtempSync(join(tmpdir(), "stackadm-key-"));
  const file = join(directory, "id_ed25519");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "stackadm", "-f", file]);
  const read = (name: string): [string, string] => [
    name,
    readFileSync(join(directory, name), "utf8"),
  ];
  made = Object.fromEntries(["id_ed25519", "id_ed25519.pub"].map(read));
  rmSync(directory, { recursive: true });
  return made;
}

/**
 * Simulated user on a separate machine. The user has a home directory, the installed package, a
 * fake engine, and access only to the given cloud.
 */
export class Operator {
  readonly home = mkdtempSync(join(tmpdir(), "stackadm-operator-"));
  readonly engine = new Engine(join(this.home, "engine"));
  readonly package = installedPackage();
  private readonly running = new Set<ChildProcess>();

  constructor(private readonly cloud: NodeJS.ProcessEnv = {}) {
    for (const name of ["tmp", "state", "cache"]) mkdirSync(join(this.home, name));
    this.kubectl("v1.36.3");
    this.keeps();
  }

  /**
   * Creates the files that earlier commands would have left on the machine: the passphrase and the
   * login key.
   */
  private keeps(): void {
    mkdirSync(this.state("ssh"), { recursive: true, mode: 0o700 });
    writeFileSync(this.state("passphrase"), "of-this-operator\n", { mode: 0o600 });
    for (const [name, text] of Object.entries(loginKey()))
      writeFileSync(this.state("ssh", name), text, { mode: 0o600 });
  }

  /** Deletes the passphrase and the login key, as on a new machine. */
  isNew(): void {
    rmSync(this.state("passphrase"));
    rmSync(this.state("ssh"), { recursive: true });
  }

  /** Adds a kubectl of this version to the machine. */
  kubectl(gitVersion: string): void {
    this.engine.command("kubectl", `echo '${JSON.stringify({ clientVersion: { gitVersion } })}'`);
  }

  /** Returns a path below the program's state directory. */
  state(...parts: string[]): string {
    return join(this.home, "state", "stackadm", ...parts);
  }

  /** Returns the first line that a command prints, if no setting names a backend. */
  backendLine(): string {
    return `State: ${pathToFileURL(this.state("pulumi")).href} (stackadm's directory)\n`;
  }

  /** Returns the path of the kubeconfig of the stack `dev`. */
  kubeconfig(): string {
    return kubeconfigFileOf({
      stateHome: join(this.home, "state"),
      backend: pathToFileURL(this.state("pulumi")).href,
      projectDirectory: this.package,
    });
  }

  /** Returns the names of files that commands left in the directory for temporary files. */
  leftovers(): string[] {
    return readdirSync(join(this.home, "tmp"));
  }

  environment(): NodeJS.ProcessEnv {
    return {
      ...this.engine.environment(),
      HOME: this.home,
      TMPDIR: join(this.home, "tmp"),
      XDG_STATE_HOME: join(this.home, "state"),
      XDG_CACHE_HOME: join(this.home, "cache"),
      // The user may be logged in with `pulumi login`, in the home directory of the system's user.
      PULUMI_CREDENTIALS_PATH: join(this.home, "login"),
      LANG: "C.UTF-8",
      ...this.cloud,
    };
  }

  /** Runs a command in this process. */
  run(...args: string[]): Promise<Ended> {
    return this.runWith({}, ...args);
  }

  /**
   * Runs a command with further environment variables. JSON output must match
   * docs/build/events.md.
   */
  async runWith(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> {
    const options = { env: { ...this.environment(), ...env }, cwd: this.home };
    const ended = await inProcess(args, options);
    if (args.includes("--json")) requireContract(args, ended.out);
    return ended;
  }

  /** Runs a command in this process, on a terminal where the user types `keys`. */
  type(keys: string, ...args: string[]): Promise<Ended> {
    return inProcess(args, { env: this.environment(), cwd: this.home, keys });
  }

  /** Starts a command as a separate process, which can receive signals. */
  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
    const main = join(this.package, "dist", "automation", "cli", "main.js");
    const child = spawn(process.execPath, [main, ...args], {
      cwd: this.home,
      env: { ...this.environment(), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.running.add(child);
    const text = { out: "", err: "" };
    const listeners = new Set<() => void>();
    const collect = (name: "out" | "err") => (part: string) => {
      text[name] += part;
      for (const listener of listeners) listener();
    };
    child.stdout.setEncoding("utf8").on("data", collect("out"));
    child.stderr.setEncoding("utf8").on("data", collect("err"));
    const ended = new Promise<Ended>((done, failed) => {
      child.once("error", failed);
      child.once("close", (code) => {
        this.running.delete(child);
        done({ code: code ?? -1, ...text });
      });
    });
    const says = (pattern: RegExp): Promise<void> =>
      new Promise((done, failed) => {
        const look = (): void => {
          if (pattern.test(text.out + text.err)) done();
        };
        listeners.add(look);
        look();
        void ended.then(({ out, err }) => {
          failed(new Error(`ended without saying ${String(pattern)}:\n${out}${err}`));
        });
      });
    return { child, ended, says };
  }

  remove(): void {
    restoreProcess();
    for (const child of this.running) child.kill("SIGKILL");
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Parses JSON lines. Throws if a line is not JSON. */
export const jsonLines = (text: string): Record<string, unknown>[] =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Returns the last JSON object of a command's output, which is its result or its error. */
export const lastLine = (text: string): Record<string, unknown> => jsonLines(text).at(-1) ?? {};
