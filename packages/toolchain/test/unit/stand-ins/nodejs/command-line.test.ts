import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import {
  getConfigEnvironment,
  inspectWorkaroundArguments,
  getProgramArguments,
  parseRuntimeOptions,
  resolveSdkScript,
  getTypescriptEnvironment,
  splitWords,
} from "../../../../stand-ins/nodejs/command-line.js";

describe("getProgramArguments", () => {
  const run = {
    monitor: "127.0.0.1:1",
    engine: "127.0.0.1:2",
    project: "project",
    stack: "dev",
    organization: "organization",
    rootDirectory: "/program",
    directory: "/program",
    dryRun: true,
    queryMode: false,
    parallel: 8,
    entryPoint: "/program/index.ts",
    arguments: ["--own", "argument"],
  } as const;

  it("passes every option as a flag, and program and arguments last", () => {
    assert.equal(
      getProgramArguments(run).join(" "),
      "--monitor 127.0.0.1:1 --engine 127.0.0.1:2 --project project --root-directory /program --stack dev " +
        "--organization organization --pwd /program --dry-run --parallel 8 /program/index.ts --own argument",
    );
  });

  it("omits unset options", () => {
    const few = getProgramArguments({ ...run, dryRun: false, organization: "", parallel: 0 });
    for (const flag of ["--dry-run", "--organization", "--parallel", "--query-mode"])
      assert.ok(!few.includes(flag));
  });

  it("finds the SDK's scripts from the program's directory, or explains how to install the SDK", () => {
    assert.match(resolveSdkScript(__dirname, "run"), /@pulumi\/pulumi\/cmd\/run\/index\.js$/);
    assert.match(resolveSdkScript(__dirname, "run-plugin"), /cmd\/run-plugin\/index\.js$/);
    assert.throws(() => resolveSdkScript("/", "run"), /Pulumi SDK has not been installed/);
  });

  it("passes the configuration as JSON", () => {
    assert.deepEqual(getConfigEnvironment([["p:a", '{"x":1}']], ["p:b"]), {
      PULUMI_CONFIG: '{"p:a":"{\\"x\\":1}"}',
      PULUMI_CONFIG_SECRET_KEYS: '["p:b"]',
    });
  });
});

describe("runtime options", () => {
  it("enable the SDK's TypeScript by default", () => {
    assert.deepEqual(parseRuntimeOptions({}), {
      typescript: true,
      tsconfig: undefined,
      nodeArguments: [],
    });
    const project = parseRuntimeOptions({ typescript: false, nodeargs: "--import tsx" });
    assert.deepEqual(project.nodeArguments, ["--import", "tsx"]);
    assert.deepEqual(getTypescriptEnvironment(project), {});
    assert.deepEqual(getTypescriptEnvironment(parseRuntimeOptions({ tsconfig: "t.json" })), {
      PULUMI_NODEJS_TYPESCRIPT: "true",
      PULUMI_NODEJS_TSCONFIG_PATH: "t.json",
    });
  });

  it("are refused if unknown or of another type", () => {
    assert.throws(() => parseRuntimeOptions({ typescript: "no" }), /must be a boolean/);
    assert.throws(() => parseRuntimeOptions({ binary: "x" }), /does not handle binary/);
  });
});

describe("splitWords", () => {
  it("keeps quoted words together", () => {
    assert.deepEqual(splitWords(` --import  "a b" --x='c "d"' e\\ f "g\\"h" `), [
      "--import",
      "a b",
      '--x=c "d"',
      "e f",
      'g"h',
    ]);
    assert.deepEqual(splitWords(""), []);
  });

  it("is the inverse of quoting", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[^']+$/)), (list) => {
        assert.deepEqual(splitWords(list.map((word) => `'${word}'`).join(" ")), list);
      }),
    );
  });
});

describe("inspectWorkaroundArguments", () => {
  const script = (stack: string): string =>
    `const error = new Error(); error.stack = ${JSON.stringify(stack)};
     process.stdout.write(require("node:util").inspect(error, { colors: true }));`;
  const print = (stack: string): string =>
    spawnSync(process.execPath, [...inspectWorkaroundArguments, "-e", script(stack)], {
      timeout: 15_000,
    }).stdout.toString();

  it("let Node print an error whose stack names a file directly in a scope's directory", function () {
    this.timeout(60_000);
    const stack = "Error: x\n    at f (/p/node_modules/@pulumi/resource.ts:4:3)";
    assert.match(print(stack), /resource\.ts:4:3/);
  });

  it("keep the colours of other stacks", function () {
    this.timeout(60_000);
    const stack = "Error: x\n    at f (/p/node_modules/@pulumi/pulumi/resource.ts:4:3)";
    assert.ok(print(stack).includes("\u001b["));
  });
});
