import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type * as Main from "../../../automation/cli/main.js";
import type * as Failures from "../../../base/failures/failure.js";
import type * as Service from "../../../automation/cluster-service.js";
import type * as Operation from "../../../automation/engine/run-engine.js";
import type * as WorkerProcess from "../../../automation/engine/start-worker.js";

const root = resolve(__dirname, "..", "..", "..");

/**
 * Compiler esbuild, which is a dependency of tsx. It does not check types, because other checks do,
 * and takes a tenth of the time.
 */
const { buildSync } = createRequire(require.resolve("tsx"))("esbuild") as {
  buildSync: (options: Readonly<Record<string, unknown>>) => unknown;
};

let made: string | undefined;

/**
 * Builds the package in the form in which npm installs it. All tests of a process share one build.
 * Compiled code starts several times faster than sources. The Pulumi program of the package is
 * empty, so that no test can change a real cloud.
 */
export function installedPackage(): string {
  if (made !== undefined) return made;
  const directory = mkdtempSync(join(tmpdir(), "stackadm-installed-"));
  process.once("exit", () => {
    rmSync(directory, { recursive: true, force: true });
  });
  symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
  const home = join(directory, "package");
  const settings = readFileSync(join(root, "tsconfig.build.json"), "utf8");
  const { include } = JSON.parse(settings) as { include: string[] };
  buildSync({
    absWorkingDir: root,
    entryPoints: include,
    outbase: root,
    outdir: join(home, "dist"),
    format: "cjs",
    platform: "node",
    logLevel: "error",
  });
  // A restore also uses scripts of `remote-scripts`, which read the errors of image pulls on
  // machines.
  for (const scripts of [
    join("automation", "backup", "scripts"),
    join("components", "remote-scripts", "scripts"),
  ])
    cpSync(join(root, scripts), join(home, "dist", scripts), { recursive: true });
  for (const file of ["package.json", "Pulumi.yaml", "Pulumi.dev.yaml"])
    copyFileSync(join(root, file), join(home, file));
  writeFileSync(join(home, "dist", "index.js"), "module.exports = async () => ({});\n");
  return (made = home);
}

/**
 * Returns functions of the installed package for tests that call these functions in their own
 * process. The operations of the functions run compiled processes.
 */
export function installed() {
  const load = createRequire(join(installedPackage(), "dist", "automation", "index.js"));
  const failures = load("../base/failures/failure.js") as typeof Failures;
  const { prepareWorker, runOperation } = load("./engine/run-engine.js") as typeof Operation;
  const { startWorkerEarly } = load("./engine/start-worker.js") as typeof WorkerProcess;
  const { createClusterService } = load("./cluster-service.js") as typeof Service;
  const { main } = load("./cli/main.js") as typeof Main;
  return { failures, startWorkerEarly, prepareWorker, runOperation, createClusterService, main };
}
