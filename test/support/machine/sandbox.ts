import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { renderShellAssignments } from "../../../components/remote-scripts/shell-quoting.js";

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Commands that the script called, with their arguments, in order. */
  readonly calls: readonly string[];
}

/** Server ID that scripts in the sandbox get in SERVER_ID. */
export const sandboxServer = "0b1c2d3e-0000-4000-8000-000000000001";

/**
 * Directories in which the commands in `harmless` are searched. The first directory is the value of
 * `STACKADM_TEST_COREUTILS`, if this variable is set.
 */
const commandPlaces = [process.env["STACKADM_TEST_COREUTILS"] ?? [], "/usr/bin", "/bin"].flat();

/**
 * Commands that scripts in the sandbox run without a stub, because these commands change only the
 * files that their arguments name.
 */
const harmless = [
  ...[
    "awk",
    "base64",
    "bash",
    "cat",
    "chmod",
    "cmp",
    "cut",
    "date",
    "diff",
    "dirname",
    "env",
    "flock",
  ],
  ...[
    "grep",
    "head",
    "mkdir",
    "mktemp",
    "mv",
    "printf",
    "rm",
    "sed",
    "sh",
    "sha256sum",
    "sleep",
    "sort",
    "tail",
  ],
  ...["timeout", "touch", "tr", "true", "false", "wc"],
].flatMap((name) => {
  const path = commandPlaces.map((place) => join(place, name)).find(existsSync);
  return path === undefined ? [] : [{ name, path }];
});

/**
 * Shell code at the start of each stub function. Scripts call a stub as a function in a subshell,
 * which inherits the script's options and traps. This code resets the options and traps, so that
 * the stub behaves like a separate process.
 */
const apart = "set +Eeu +o pipefail; trap - ERR EXIT";

/**
 * Shell code that simulates the clock. Only `sleep` changes the time, and it returns at once. So
 * tests do not wait, and do not depend on the load of this computer. `unset` makes SECONDS a plain
 * variable.
 */
const ownTime = `if [[ -z \${REAL_TIME-} ]]; then
  unset SECONDS
  SECONDS=0 tenths=0
  sleep() {
    case $1 in *.*) tenths=$((tenths + 10#\${1/./})) ;; *) tenths=$((tenths + $1 * 10)) ;; esac
    SECONDS=$((tenths / 10))
  }
  timeout() (${apart}; shift; "$@")
fi
`;

/** Pattern of the absolute paths that the sandbox replaces by paths in its directory. */
const places = /(?<![\w.}/])\/(etc|var|run|proc\/net|usr\/local|usr\/lib\/systemd|opt)\//g;

/**
 * Temporary directory that simulates a machine. In the scripts, the sandbox replaces absolute paths
 * such as /etc by paths in this directory. Commands are stubs that record their calls. So scripts
 * change nothing outside of the directory.
 */
export class Sandbox {
  readonly root = mkdtempSync(join(tmpdir(), "stackadm-sandbox-"));
  readonly #bin = join(this.root, "bin");
  #bodies = new Map<string, string>();
  readonly #calls = join(this.root, "calls");
  readonly #functions = join(this.root, "functions");
  readonly #given = join(this.root, "given");

  readonly #environment = { PATH: this.#bin, BASH_ENV: this.#functions };

  constructor(stubs: Readonly<Record<string, string>>) {
    mkdirSync(this.#bin);
    for (const { name, path } of harmless) symlinkSync(path, join(this.#bin, name));
    writeFileSync(this.#functions, ownTime);
    for (const [name, body] of Object.entries(stubs)) this.stub(name, body);
  }

  /**
   * Adds a command that records its call and then runs `body`, a shell script. `$root` is the
   * directory of the sandbox.
   */
  stub(name: string, body: string): void {
    this.#bodies.set(name, body);
    const file = join(this.#bin, name);
    const text = `root=${this.root}\necho "${name} $*" >>${this.#calls}\n${this.#inside(body)}\n`;
    // Deletes the link to a command in `harmless`. Otherwise the write below would follow the link
    // and overwrite the command.
    rmSync(file, { force: true });
    // With `-p`, the shell does not read BASH_ENV. So the stub calls programs, not stub functions.
    writeFileSync(file, `#!/bin/bash -p\n${text}`);
    chmodSync(file, 0o755);
    // Adds the stub also as a function in BASH_ENV. A function in a subshell is faster than another
    // shell process.
    writeFileSync(this.#functions, `${name}() (${apart}\n${text})\n`, { flag: "a" });
  }

  /** Returns the script of a stub. */
  bodyOf(name: string): string {
    const body = this.#bodies.get(name);
    if (body === undefined) throw new RangeError(`${name} is no stub`);
    return body;
  }

  /** Replaces absolute paths by paths in the directory of the sandbox. */
  #inside(text: string): string {
    return text.replaceAll(places, `${this.root}/$1/`);
  }

  /** Returns the content of a file. Returns undefined if it does not exist. */
  file(path: string): string | undefined {
    const file = join(this.root, path);
    return existsSync(file) ? readFileSync(file, "utf8") : undefined;
  }

  /** Writes a file. */
  put(path: string, content = ""): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  /** Runs scripts like RemoteScript: one shell reads the values and scripts on standard input. */
  run(
    scripts: readonly string[],
    values: Readonly<Record<string, string>>,
    occasion: "create" | "update" = "create",
  ): Outcome {
    return this.#spawn(["-s", occasion], this.#input(scripts, values));
  }

  /**
   * Runs scripts like `run`, but without blocking this process, so that servers in this process can
   * answer requests of the scripts.
   */
  async runBeside(
    scripts: readonly string[],
    values: Readonly<Record<string, string>>,
  ): Promise<Outcome> {
    rmSync(this.#calls, { force: true });
    const child = spawn("/bin/bash", ["-s", "create"], { cwd: this.root, env: this.#environment });
    child.stdin.end(this.#input(scripts, values));
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close") as Promise<[number | null]>,
    ]);
    return { code: code ?? -1, stdout, stderr, calls: this.#called() };
  }

  /**
   * Starts scripts with the real clock, and returns their process without waiting for its end.
   *
   * @param shell program that reads the scripts on standard input, and its arguments
   */
  start(
    scripts: readonly string[],
    [program, ...args]: readonly [string, ...string[]] = ["/bin/bash", "-s"],
  ): ChildProcessWithoutNullStreams {
    const env = { ...this.#environment, REAL_TIME: "yes" };
    const child = spawn(program, args, { cwd: this.root, env });
    child.stdin.end(this.#input(scripts, {}));
    return child;
  }

  #input(scripts: readonly string[], values: Readonly<Record<string, string>>): string {
    const text = this.#inside(scripts.join("\n"));
    return (
      renderShellAssignments({ SERVER_ID: sandboxServer, SERVER_PATH: sandboxServer, ...values }) +
      text
    );
  }

  /** Runs one script as a program, with arguments. */
  execute(script: string, ...args: readonly string[]): Outcome {
    return this.feed("", script, ...args);
  }

  /** Runs one script as a program, with arguments and standard input. */
  feed(input: string, script: string, ...args: readonly string[]): Outcome {
    const file = join(this.root, "program");
    writeFileSync(file, this.#inside(script));
    return this.#spawn([file, ...args], input);
  }

  #spawn(args: readonly string[], input: string): Outcome {
    rmSync(this.#calls, { force: true });
    // Passes the input in a file, because bash reads a pipe byte by byte, which is slow.
    writeFileSync(this.#given, input);
    const stdin = openSync(this.#given, "r");
    const done = spawnSync("/bin/bash", args, {
      stdio: [stdin, "pipe", "pipe"],
      encoding: "utf8",
      cwd: this.root,
      timeout: 60_000,
      env: this.#environment,
    });
    closeSync(stdin);
    const { stdout, stderr } = done;
    return { code: done.status ?? -1, stdout, stderr, calls: this.#called() };
  }

  #called(): string[] {
    return existsSync(this.#calls) ? readFileSync(this.#calls, "utf8").trim().split("\n") : [];
  }

  /** Saves the sandbox's files and stubs. Returns a function that restores them. */
  keep(): () => void {
    const kept = `${this.root}.kept`;
    const how = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true };
    const bodies = new Map(this.#bodies);
    cpSync(this.root, kept, how);
    return () => {
      rmSync(this.root, { recursive: true });
      cpSync(kept, this.root, how);
      this.#bodies = new Map(bodies);
    };
  }

  close(): void {
    for (const path of [this.root, `${this.root}.kept`])
      rmSync(path, { recursive: true, force: true });
  }
}
