// What a checkout needs before anything of it runs: the npm packages of the lock file, and the compiled sources.
// Uses nothing but Node, because nothing may be there yet.
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
import { Refusal, say } from "../automation/cli/start.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const sourceFolders = ["automation", "base", "cloud", "components", "lab", "toolchain"];
const sourceFiles = ["index.ts", "config.ts", "tsconfig.json", "tsconfig.build.json"];

/** Runs a command with its output on our standard error; standard output is for results. */
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

/** Every file below a folder of sources; what only runs or tests leave behind is passed over. */
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

/** Changes when a source does: names, sizes and times, so that nothing has to be read. */
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
  // Installed by hand: npm notes there what it installed.
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

/** What the compiler remembers, beside what it made: it does not notice when that is deleted. */
const compilerNotes = ".tsbuildinfo";

/** Takes away what sources that are gone left behind: a package has all that is in dist/. */
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
  // Scripts, units, drivers and the like are read beside the compiled files.
  for (const path of paths.filter((one) => !one.endsWith(".ts"))) {
    const target = join(root, "dist", relative(root, path));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(path, target);
  }
  prune(paths);
  writeFileSync(buildStamp, wanted);
}

/** When a process began, in clock ticks after boot: numbers are used again. Undefined where there is none, or no /proc. */
const startOf = (pid) =>
  read(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, "")
    .split(" ")[19];

/** @param holder `<number> <when it began>`; of an earlier release the number alone */
const alive = (holder) => {
  const [pid, began] = holder.split(" ");
  // One without a number was left by an earlier release that was stopped while it wrote.
  if (!(Number(pid) > 0)) return false;
  if (began) return startOf(pid) === began;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
};

/** Installs and builds in one process at a time; a lock whose process is gone counts for nothing. */
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
  // Written aside and linked, so that nobody ever reads half a lock.
  const take = () => {
    writeFileSync(aside, [process.pid, startOf(process.pid) ?? ""].join(" "));
    return put();
  };
  // Two may find the same one gone: what the other has put there since is put back.
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

/** Installs the npm packages when the lock file changed and, where `dist` is wanted, compiles when a source did. */
export async function prepare({ dist }) {
  if (installed() && (!dist || compiled())) return;
  await exclusively(async () => {
    await install();
    if (dist) await compile();
  });
}
