import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../base/failures/failure.js";
import type {
  MissingProgram,
  SubstituteProgram,
  SubstituteOptions,
} from "../../base/substitute-programs.js";
import { findGoBuild, kubernetesBuild } from "./builds.js";
import { renderForwardScript, makeWithGo, renderStandInScript } from "./make.js";

/** Map from the name of a program to the directory of its stand-in. */
const standIns: Readonly<Record<string, string>> = {
  "pulumi-language-nodejs": "nodejs",
  "pulumi-resource-kubernetes": "kubernetes",
  "pulumi-resource-command": "command",
};

/**
 * Returns a substitute for a program that is not installed: built from Go modules, or a stand-in of
 * this package. The first call may build the program, which takes minutes. Throws a Failure if a
 * build needs Go and Go is not installed.
 */
export async function substitute(
  program: MissingProgram,
  { cache, env, progress, signal }: SubstituteOptions,
): Promise<SubstituteProgram> {
  const build = findGoBuild(program, env);
  if (!build) return standIn(program);
  const path = await makeWithGo(build, { cache, progress, ...(signal && { signal }) });
  // The Kubernetes plugin that is built here is older than the provider's setting
  // `enablePatchForce`. This environment variable replaces the setting.
  const environment: SubstituteProgram["environment"] =
    build === kubernetesBuild ? { PULUMI_K8S_ENABLE_PATCH_FORCE: "true" } : {};
  return {
    version: build.version,
    origin: "built",
    path,
    environment,
    script: renderForwardScript(path),
  };
}

/**
 * Returns the directory of the compiled stand-ins. If this file is TypeScript (not compiled),
 * returns the output directory of the compiler. Otherwise, returns the directory of this file.
 */
const compiled = (): string =>
  __filename.endsWith(".ts") ? join(__dirname, "dist", "packages", "toolchain") : __dirname;

function standIn({ name, version }: MissingProgram): SubstituteProgram {
  const main = join(compiled(), "stand-ins", standIns[name] ?? name, "main.js");
  if (!existsSync(main))
    throw new Failure(
      "FAILED",
      `${main} is missing: the stand-in for ${name} is not compiled.`,
      "Run `npm run build`.",
    );
  return {
    version,
    origin: "stand-in",
    path: main,
    script: renderStandInScript(main),
    environment: {},
  };
}
