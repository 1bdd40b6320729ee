/*
 * Runs the contract tests of the files pulumi-internals.ts with the newest Pulumi. The SDK comes
 * from the npm registry, and the engine from the Go module proxy. Works in a temporary copy of the
 * repository. The copy is deleted if the tests pass. Needs Go and the toolchain. Takes some
 * minutes.
 *
 *   npm run test:newest [-- --sdk 3.248.0] [--engine v3.246.0]
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

const root = resolve(__dirname, "..", "..", "..");
const contracts = [
  "test/unit/automation/pulumi/pulumi-internals.test.ts",
  "test/graph/pulumi/pulumi-internals.test.ts",
  "test/engine/automation/pulumi-internals.test.ts",
  "test/engine/automation/with-stack-lock.test.ts",
  "test/engine/automation/plugin-conversion.test.ts",
];

type Variables = Readonly<Record<string, string>>;

/** Runs a command, and shows its output. */
function run(directory: string, command: string, args: readonly string[], more?: Variables): void {
  process.stderr.write(`${command} ${args.join(" ")}\n`);
  const env = { ...process.env, ...more };
  execFileSync(command, args, { cwd: directory, stdio: "inherit", env });
}

const read = (directory: string, command: string, args: readonly string[]): string =>
  execFileSync(command, args, { cwd: directory, encoding: "utf8", maxBuffer: 2 ** 26 }).trim();

/** Copies the files of the repository, and returns their paths. */
function copyRepository(copy: string): string[] {
  const listed = read(root, "git", ["ls-files", "--cached", "--others", "--exclude-standard"]);
  const files = listed.split("\n");
  for (const file of files) cpSync(join(root, file), join(copy, file), { recursive: true });
  return files;
}

/**
 * Installs the dependencies with another version of the SDK, and returns this version. Installs the
 * SDK even if it requires a newer Node, because the tests show whether it really needs this Node.
 */
function installSdk(copy: string, version: string): string {
  run(copy, "npm", [
    "install",
    "--no-audit",
    "--no-fund",
    "--engine-strict=false",
    "--save-exact",
    `@pulumi/pulumi@${version}`,
  ]);
  const file = join(copy, "node_modules", "@pulumi", "pulumi", "package.json");
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

/** Builds another version of the engine into `bin`, and returns this version. */
function buildEngine(module: string, bin: string, version: string): string {
  const [pkg, sdk] = ["pkg", "sdk"].map((part) => `github.com/pulumi/pulumi/${part}/v3`) as [
    string,
    string,
  ];
  run(module, "go", ["get", `${pkg}@${version}`, `${sdk}@${version}`]);
  const built = read(module, "go", ["list", "-m", "-f", "{{.Version}}", pkg]);
  const stamp = `-s -w -X ${sdk}/go/common/version.Version=${built}`;
  mkdirSync(bin);
  run(module, "go", ["build", "-mod=mod", "-ldflags", stamp, "-o", bin, `${pkg}/cmd/pulumi`]);
  return built;
}

/** Returns the environment variables through which tests find the repository's toolchain. */
function toolchainVariables(): Variables {
  const command = ["automation/cli/stackadm.mjs", "toolchain", "--json"];
  const last = read(root, process.execPath, command).split("\n").at(-1) ?? "";
  return (JSON.parse(last) as { environment: Variables }).environment;
}

function main(): void {
  const { values } = parseArgs({
    options: {
      sdk: { type: "string", default: "latest" },
      engine: { type: "string", default: "latest" },
    },
  });
  const copy = mkdtempSync(join(tmpdir(), "stackadm-newest-"));
  const files = copyRepository(copy);
  const [module = ""] = files.filter((file) => file.endsWith("packages/toolchain/pulumi/go.mod"));
  const bin = join(copy, "bin");
  const sdk = installSdk(copy, values.sdk);
  const engine = buildEngine(join(copy, dirname(module)), bin, values.engine);
  process.stderr.write(`Pulumi SDK ${sdk}, engine ${engine}, Node ${process.versions.node}\n`);
  const { PATH = "", ...variables } = toolchainVariables();
  run(copy, process.execPath, ["node_modules/mocha/bin/mocha.js", "--exit", ...contracts], {
    ...variables,
    PATH: [bin, PATH].join(delimiter),
    STACKADM_TOOLCHAIN_BIN: bin,
    STACKADM_STAND_INS: "1",
  });
  rmSync(copy, { recursive: true });
}

main();
