import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { getCachePath } from "../../../base/paths.js";

/**
 * Returns a folder with the unpacked files of Debian packages, in the versions of this machine's
 * release. The first call downloads the packages. The packages are never installed, because tests
 * only run their programs.
 */
export function unpacked(...packages: readonly string[]): string {
  const all = getCachePath("unpacked");
  const folder = join(all, `${release()}-${packages.join("+")}`);
  if (existsSync(folder)) return folder;
  mkdirSync(all, { recursive: true });
  const work = mkdtempSync(join(all, "part-"));
  try {
    download(work, packages);
    const tree = join(work, "tree");
    for (const file of readdirSync(work).filter((name) => name.endsWith(".deb")))
      execFileSync("dpkg-deb", ["--extract", join(work, file), tree]);
    if (!existsSync(folder)) renameSync(tree, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

/** Returns the code name of this machine's release. */
const release = (): string =>
  /^VERSION_CODENAME=(.+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "";

function download(cwd: string, packages: readonly string[]): void {
  const run = (command: string, ...words: readonly string[]): void => {
    execFileSync(command, words, { cwd, stdio: "pipe", timeout: 300_000 });
  };
  const get = (): void => {
    // The folder is private to root, so apt's sandbox user cannot read it.
    run("apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", ...packages);
  };
  try {
    get();
  } catch {
    // The package lists may be missing or outdated, so they are updated. The lock prevents
    // concurrent updates, because apt does not wait for another update.
    run("flock", join(cwd, "..", "lock"), "apt-get", "-q", "update");
    get();
  }
}
