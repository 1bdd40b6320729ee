// Prepares a checkout before any other code of the checkout runs: installs the npm packages of the
// lock file and compiles the sources. Uses only Node, because no package may be installed yet.
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
import { Refusal, say } from "../../automation/cli/run-on-supported-node.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

const ofPackage = (name) => {
  const folder = join("packages", name);
  return { folder, sources: ["base", folder] };
};
/**
 * Parts of the repository that are compiled separately. The folder of each part contains its
 * compiler settings. The compiled files are in `dist/` of this folder.
 */
const builds = [
  {
    folder: "",
    sources: ["index.ts", "config.ts", "automation", "base", "components", "openstack"],
  },
  ...["toolchain", "lab"].map(ofPackage),
];

/** Runs a command with its output on standard error, because standard output is for results. */
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

const ignored = new Set(["__pycache__", "node_modules", "dist", "test"]);

/** Returns every file below a folder, except tests and files that runs leave behind. */
function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (ignored.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
  });
}

const settingsOf = ({ folder }) => join(folder, "tsconfig.build.json");
const distOf = ({ folder }) => join(root, folder, "dist");

const present = (names) => names.map((name) => join(root, name)).filter((path) => existsSync(path));

/** Returns the files of a build: sources, and files that are read next to the compiled files. */
const sourcesOf = (build) =>
  present(build.sources).flatMap((path) =>
    statSync(path).isDirectory() ? filesBelow(path) : [path],
  );

/** Returns the files that determine the result of a build. */
const inputsOf = (build) => [...sourcesOf(build), ...present(["tsconfig.json", settingsOf(build)])];

/**
 * Returns a hash of the names, sizes and modification times of the sources. Does not read their
 * content.
 */
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

function installed() {
  const lock = join(root, "package-lock.json");
  if (!existsSync(modules)) return false;
  const stamp = read(installStamp);
  if (stamp !== undefined) return stamp === contentHash(lock);
  // If this script wrote no stamp, the lock file in node_modules shows which packages npm
  // installed.
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
 * Incremental state of the compiler, which is stored next to its output. In another directory, the
 * state would survive when dist/ is deleted, and the compiler would not write the output again.
 */
const compilerNotes = ".tsbuildinfo";

/** Deletes the output of sources that no longer exist, because a package contains all of dist/. */
function prune(dist, paths) {
  const made = (path) =>
    path.endsWith(".ts")
      ? [".js", ".js.map", ".d.ts"].map((ending) => path.replace(/\.ts$/, ending))
      : [path];
  const wanted = new Set([compilerNotes, ...paths.flatMap((path) => made(relative(root, path)))]);
  for (const path of filesBelow(dist)) if (!wanted.has(relative(dist, path))) rmSync(path);
}

const stampOf = (build) => join(distOf(build), ".stamp");
const isCompiled = (build) => read(stampOf(build)) === fingerprint(inputsOf(build));
const inThisCheckout = () => builds.filter((build) => existsSync(join(root, settingsOf(build))));
const compiled = () => inThisCheckout().every(isCompiled);

async function compile(build) {
  if (isCompiled(build)) return;
  const paths = sourcesOf(build);
  const wanted = fingerprint(inputsOf(build));
  const what = build.folder === "" ? "the sources" : build.folder;
  say(`Compiling ${what} (about 10 s) ...`);
  rmSync(stampOf(build), { force: true });
  const compiler = join(modules, "typescript", "bin", "tsc");
  await run(`Compiling ${what}`, process.execPath, [compiler, "-p", settingsOf(build)]);
  // Copies scripts, systemd units, drivers and other files that the compiled code reads.
  const isRead = (path) => !path.endsWith(".ts") && dirname(path) !== join(root, build.folder);
  for (const path of paths.filter(isRead)) {
    const target = join(distOf(build), relative(root, path));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(path, target);
  }
  prune(distOf(build), paths);
  writeFileSync(stampOf(build), wanted);
}

/**
 * Returns the start time of a process, in clock ticks after boot. The start time identifies the
 * process, because process numbers are reused. Returns undefined if there is no such process or no
 * /proc.
 */
const startOf = (pid) =>
  read(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, "")
    .split(" ")[19];

/**
 * Returns whether the process that holds the lock still runs.
 *
 * @param holder content of the lock file: `<process number> <start>`. Early releases wrote only the
 * number
 */
const alive = (holder) => {
  const [pid, began] = holder.split(" ");
  // An early release left an empty lock file if it was stopped while it wrote the file.
  if (!(Number(pid) > 0)) return false;
  if (began) return startOf(pid) === began;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
};

/**
 * Runs `work` while no other process runs it for this checkout. Ignores the lock of a process that
 * has ended.
 */
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
  // Writes to a temporary file and links it, so that no process reads an incomplete lock.
  const take = () => {
    writeFileSync(aside, [process.pid, startOf(process.pid) ?? ""].join(" "));
    return put();
  };
  // Two processes may find the lock of the same ended process. If the other process has made a new
  // lock in the meantime, this lock is put back.
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
    if (dist) for (const build of inThisCheckout()) await compile(build);
  });
}
