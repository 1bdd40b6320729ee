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
import { assignments } from "../../components/support/shell.js";

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Commands that the script called, with their arguments, in order. */
  readonly calls: readonly string[];
}

/** The server that a script in the sandbox is told that it runs on. */
export const sandboxServer = "0b1c2d3e-0000-4000-8000-000000000001";

/** Commands that a script may really run: they touch nothing but the files that they are told. */
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
  const path = ["/usr/bin", "/bin"].map((place) => join(place, name)).find(existsSync);
  return path === undefined ? [] : [{ name, path }];
});

/** What a function does first, to be as another process: the script's options and traps are not its own. */
const apart = "set +Eeu +o pipefail; trap - ERR EXIT";

/**
 * A script's time passes only while it sleeps, and at once: how busy the machine of the tests is does not matter, and no bound takes as
 * long as it says. Without its special meaning, SECONDS is a variable.
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

const places = /(?<![\w.}/])\/(etc|var|run|proc\/net|usr\/local|usr\/lib\/systemd|opt)\//g;

/**
 * A machine that is only a directory: a script's files go below it, and its commands are stubs that are recorded. Nothing
 * outside is touched.
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

  /** A command that is recorded and then does `body`, a shell script; `$root` is the sandbox. */
  stub(name: string, body: string): void {
    this.#bodies.set(name, body);
    const file = join(this.#bin, name);
    const text = `root=${this.root}\necho "${name} $*" >>${this.#calls}\n${this.#inside(body)}\n`;
    // What is harmless otherwise may be a stub: its link must not be followed.
    rmSync(file, { force: true });
    // -p: for what it calls itself, programs will do.
    writeFileSync(file, `#!/bin/bash -p\n${text}`);
    chmodSync(file, 0o755);
    // A script calls it as a function, in a process of its own but without the start of another shell.
    writeFileSync(this.#functions, `${name}() (${apart}\n${text})\n`, { flag: "a" });
  }

  /** What a stub does. */
  bodyOf(name: string): string {
    const body = this.#bodies.get(name);
    if (body === undefined) throw new RangeError(`${name} is no stub`);
    return body;
  }

  #inside(text: string): string {
    return text.replaceAll(places, `${this.root}/$1/`);
  }

  file(path: string): string | undefined {
    const file = join(this.root, path);
    return existsSync(file) ? readFileSync(file, "utf8") : undefined;
  }

  put(path: string, content = ""): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  /** Runs scripts as RemoteScript does: values and scripts by standard input of one shell. */
  run(
    scripts: readonly string[],
    values: Readonly<Record<string, string>>,
    occasion: "create" | "update" = "create",
  ): Outcome {
    return this.#spawn(["-s", occasion], this.#input(scripts, values));
  }

  /** The same while this process goes on, so that scripts can ask servers of it. */
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

  /** As `run`, but comes back while the scripts run, in real time. */
  start(scripts: readonly string[]): ChildProcessWithoutNullStreams {
    const env = { ...this.#environment, REAL_TIME: "yes" };
    const child = spawn("/bin/bash", ["-s"], { cwd: this.root, env });
    child.stdin.end(this.#input(scripts, {}));
    return child;
  }

  #input(scripts: readonly string[], values: Readonly<Record<string, string>>): string {
    const text = this.#inside(scripts.join("\n"));
    return assignments({ SERVER_ID: sandboxServer, SERVER_PATH: sandboxServer, ...values }) + text;
  }

  /** Runs one script as a program, with arguments. */
  execute(script: string, ...args: readonly string[]): Outcome {
    return this.feed("", script, ...args);
  }

  /** The same, with standard input. */
  feed(input: string, script: string, ...args: readonly string[]): Outcome {
    const file = join(this.root, "program");
    writeFileSync(file, this.#inside(script));
    return this.#spawn([file, ...args], input);
  }

  #spawn(args: readonly string[], input: string): Outcome {
    rmSync(this.#calls, { force: true });
    // Not by a pipe, from which the shell would read each byte by itself.
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

  /** Comes back with what makes the machine again what it is now, its stubs too. */
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
