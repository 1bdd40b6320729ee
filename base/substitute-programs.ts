import type { Progress } from "./progress.js";

/** Program of Pulumi that is not installed on this machine. */
export interface MissingProgram {
  /** Name of the executable: `pulumi`, `pulumi-language-nodejs`, `pulumi-resource-openstack`. */
  readonly name: string;
  /** Version that the engine or the program requires. */
  readonly version: string;
}

export interface SubstituteOptions {
  /** Folder for the built programs. */
  readonly cache: string;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

/** Program that replaces a missing program. */
export interface SubstituteProgram {
  readonly version: string;
  /** Origin. `built`: built from Go modules. `stand-in`: this project's own replacement. */
  readonly origin: "built" | "stand-in";
  readonly path: string;
  /** Text of the script for PATH that starts the program. */
  readonly script: string;
  /** Variables that `pulumi` needs with this program. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Exports of the package `@stackadm/toolchain`. */
export interface ToolchainPackageExports {
  /**
   * Returns a program that replaces a missing program. The first call may build the program, which
   * takes minutes.
   */
  substitute(program: MissingProgram, options: SubstituteOptions): Promise<SubstituteProgram>;
}
