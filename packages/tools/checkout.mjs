// Prepares a checkout before anything of it runs: installs the npm packages of the lock file and
// compiles the sources. Uses only Node, because nothing may be installed yet.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Refusal, say } from "../../automation/cli/start.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const sourceFolders = ["automation", "base", "components", "openstack", "lab", "toolchain"];
const sourceFiles = ["index.ts", "config.ts", "tsconfig.json", "tsconfig.build.json"];

/** Runs a command with its output on standard error; standard output is for results. */
async function run(what, command, args) {
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
  const code = await new Promise((done, fail) => {
    child.once("error", (error) =>
      fail(new Refusal(`${what} failed: '${command}' cannot be started (${error.code}).`)),
    );
    child.once("close", (exit, signal) => done(exit ?? signal));
  });
  if (code === "SIGINT") process.exit(130);
  if (code !== 0) throw new Refusal(`${what} failed (exit code ${code}); see above.`);
}

/** Returns every file below a source folder, without what runs and tests leave behind. */
function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === "__pycache__" || entry.name === "node_modules") return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
  });
}

const sources = () => [
  ...sourceFiles.map((name) => join(root, name)).filter((path) => existsSync(path)),
  ...sourceFolders
    .map((name) => join(root, name))
    .flatMap((path) => (existsSync(path) ? filesBelow(path) : [])),
];

/** Returns a hash of names, sizes and times of the sources; no file is read. */
function fingerprint(paths) {
  const hash = createHash("sha256");
  for (const path of paths) {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${relative(root, path)} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

const contentHash = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");
const read = (path) => (existsSync(path) ? readFileSync(path, "utf8") : undefined);

const modules = join(root, "node_modules");
const installStamp = join(modules, ".stackadm-install");
const buildStamp = join(root, "dist", ".stamp");

function installed() {
  const lock = join(root, "package-lock.json");
  if (!existsSync(modules)) return false;
  const stamp = read(installStamp);
  if (stamp !== undefined) return stamp === contentHash(lock);
  // Without our stamp, npm's own note tells what was installed.
  const npmNote = join(modules, ".package-lock.json");
  return existsSync(npmNote) && statSync(npmNote).mtimeMs >= statSync(lock).mtimeMs;
}

async function install() {
  if (installed()) return;
  say("Installing the npm packages (about 30 s) ...");
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund"];
  await run("Installing the npm packages", "npm", args);
  writeFileSync(installStamp, contentHash(join(root, "package-lock.json")));
}

/**
 * State of the compiler, stored next to its output: it does not notice when the output is deleted.
 */
const compilerNotes = ".tsbuildinfo";

/** Deletes the output of sources that no longer exist: a package contains all of dist/. */
function prune(paths) {
  const made = (path) =>
    path.endsWith(".ts")
      ? [".js", ".js.map", ".d.ts"].map((ending) => path.replace(/\.ts$/, ending))
      : [path];
  const wanted = new Set([compilerNotes, ...paths.flatMap((path) => made(relative(root, path)))]);
  const dist = join(root, "dist");
  for (const path of filesBelow(dist)) if (!wanted.has(relative(dist, path))) rmSync(path);
}

const compiled = () => read(buildStamp) === fingerprint(sources());

async function compile() {
  const paths = sources();
  const wanted = fingerprint(paths);
  if (read(buildStamp) === wanted) return;
  say("Compiling the sources (about 10 s) ...");
  rmSync(buildStamp, { force: true });
  const compiler = join(modules, "typescript", "bin", "tsc");
  await run("Compiling the sources", process.execPath, [compiler, "-p", "tsconfig.build.json"]);
  // Scripts, systemd units, drivers and other files are read next to the compiled files.
  for (const path of paths.filter((one) => !one.endsWith(".ts"))) {
    const target = join(root, "dist", relative(root, path));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(path, target);
  }
  prune(paths);
  writeFileSync(buildStamp, wanted);
}

/**
 * Returns when a process started, in clock ticks after boot, because process numbers are reused.
 * Undefined without such a process or without /proc.
 */
const startOf = (pid) =>
  read(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, "")
    .split(" ")[19];

/**
 * Returns whether the holder of the lock still runs.
 *
 * @param holder `<number> <start>`; early releases wrote the number alone
 */
const alive = (holder) => {
  const [pid, began] = holder.split(" ");
  // An early release that was stopped while it wrote left no number.
  if (!(Number(pid) > 0)) return false;
  if (began) return startOf(pid) === began;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
};

/** Runs `work` in one process at a time. A lock of a dead process does not count. */
async function exclusively(work) {
  const name = createHash("sha256").update(root).digest("hex").slice(0, 16);
  const file = join(tmpdir(), `stackadm-${name}.lock`);
  const aside = `${file}.${process.pid}`;
  const put = () => {
    try {
      linkSync(aside, file);
      return true;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      return false;
    } finally {
      rmSync(aside, { force: true });
    }
  };
  // Written to a temporary file and linked, so that no process reads an incomplete lock.
  const take = () => {
    writeFileSync(aside, [process.pid, startOf(process.pid) ?? ""].join(" "));
    return put();
  };
  // Two processes may find the same dead holder: a new lock that the other one made meanwhile is
  // put back.
  const clear = (holder) => {
    try {
      renameSync(file, aside);
    } catch {
      return;
    }
    if (read(aside) === holder) rmSync(aside);
    else put();
  };
  for (let told = false; !take(); await pause(200)) {
    const holder = read(file);
    if (holder === undefined) continue;
    if (!alive(holder)) clear(holder);
    else if (!told) {
      say(`Waiting for process ${holder.split(" ")[0]}, which installs or compiles here ...`);
      told = true;
    }
  }
  const release = () => rmSync(file, { force: true });
  process.once("exit", release);
  try {
    await work();
  } finally {
    process.off("exit", release);
    release();
  }
}

/**
 * Installs the npm packages if the lock file changed. With `dist`, compiles if a source changed.
 */
export async function prepare({ dist }) {
  if (installed() && (!dist || compiled())) return;
  await exclusively(async () => {
    await install();
    if (dist) await compile();
  });
}
