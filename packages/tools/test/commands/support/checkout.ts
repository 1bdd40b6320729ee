import { spawn } from "node:child_process";
import { join } from "node:path";
import { ended, Repository, type Ended } from "./repository.js";

/**
 * Stub of npm. It records its call. It installs a fake compiler, which creates one file, and an
 * empty loader.
 */
const npm = `#!/bin/sh
echo "npm $*" >>"$CALLS"
[ -z "$NPM_FAILS" ] || exit 7
mkdir -p node_modules/typescript/bin node_modules/tsx
cp compiler.js node_modules/typescript/bin/tsc
echo '{ "exports": "./loader.mjs" }' >node_modules/tsx/package.json
echo >node_modules/tsx/loader.mjs
`;
export const compiler = `
const fs = require("node:fs");
fs.appendFileSync(process.env.CALLS, "tsc " + process.argv.slice(2).join(" ") + "\\n");
if (fs.readFileSync("index.ts", "utf8").includes("broken")) { console.error("index.ts: broken"); process.exit(2); }
fs.mkdirSync("dist/automation/cli", { recursive: true });
fs.copyFileSync("main.js", "dist/automation/cli/main.js");
`;
const main = `exports.main = async (args) => { process.stdout.write("ran " + args.join(" ") + "\\n"); };\n`;

/** New checkout with this project's entry points, and stubs of npm, compiler and command lines. */
export class Checkout extends Repository {
  constructor() {
    super();
    this.program("bin/npm", npm);
    this.put("compiler.js", compiler);
    this.put("main.js", main);
    this.put("packages/tools/main.ts", main);
    this.put("package-lock.json", "{}");
    this.put("tsconfig.build.json", "{}");
    this.put("index.ts", "export {};");
    this.put("automation/cli/main.ts", "export {};");
    this.put("components/machine/scripts/prepare/prepare.sh", "echo prepare");
    for (const name of ["run-on-supported-node", "stackadm"])
      this.take(`automation/cli/${name}.mjs`);
    for (const name of ["prepare-checkout", "run"]) this.take(`packages/tools/${name}.mjs`);
  }

  /** Runs one of the entry points. */
  run(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const child = spawn(process.execPath, [join(this.root, file), ...args], {
      cwd: "/",
      env: {
        ...process.env,
        NODE_OPTIONS: "",
        PATH: this.path,
        CALLS: join(this.root, "calls"),
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    return ended(child);
  }

  /** Returns the calls of npm and of the compiler. */
  calls(): string[] {
    return this.text("calls").split("\n").filter(Boolean);
  }
}
