import assert from "node:assert/strict";
import ts from "typescript";
import { isFailureCode } from "../../../../../base/failures/failure-codes.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";
import { sourcesIn, type Source } from "../../../../../test/support/sources.js";
import { environmentPage } from "../../../documentation/environment-page.js";
import {
  environmentVariables,
  type EnvironmentVariable,
  type VariableReader,
} from "../../../documentation/environment-variables.js";

const code = /\.(ts|mjs)$/;

/** Folders with the code of each reader. Readers without folders are other projects. */
const foldersOf: Readonly<Partial<Record<VariableReader, readonly string[]>>> = {
  stackadm: ["automation", "components", "openstack", "base"],
  "the toolchain": ["packages/toolchain"],
  "the lab": ["packages/lab", "base"],
  "the tests": ["test", "packages"],
};

/** Variables of the product and of its libraries. Failure codes can look like them. */
const isVariable = (text: string): boolean =>
  /^(OS|PULUMI|SSH|STACKADM|XDG)_[A-Z0-9_]+$/.test(text) && !isFailureCode(text);

/** Whether an expression is an environment: `env`, `process.env`, `this.service.env`. */
const isEnvironment = (node: ts.Expression): boolean =>
  (ts.isIdentifier(node) && node.text === "env") ||
  (ts.isPropertyAccessExpression(node) && node.name.text === "env") ||
  (ts.isParenthesizedExpression(node) && /\benv\)$/.test(node.getText()));

/** Returns the name of the variable that an expression reads or names. */
function variableIn(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return isVariable(node.text) ? node.text : undefined;
  if (ts.isPropertyAccessExpression(node) && isEnvironment(node.expression))
    return /^[A-Z][A-Z0-9_]*$/.test(node.name.text) ? node.name.text : undefined;
  if (!ts.isElementAccessExpression(node) || !isEnvironment(node.expression)) return undefined;
  return ts.isStringLiteralLike(node.argumentExpression) ? node.argumentExpression.text : undefined;
}

/** Returns the names of the variables that a source file reads or names in a string. */
function variablesIn({ path, text }: Source): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    const name = variableIn(node);
    if (name !== undefined) found.add(name);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return found;
}

/** Returns `<file>: <variable>` for each variable in the sources that the table lacks. */
const missingIn = (sources: readonly Source[], names: ReadonlySet<string>): readonly string[] =>
  sources.flatMap((source) =>
    [...variablesIn(source)]
      .filter((name) => !names.has(name))
      .map((name) => `${source.path}: ${name}`),
  );

describe("variablesIn", () => {
  it("finds reads of an environment, and names of variables in strings", () => {
    const text = `
      const a = env["TERM"] ?? process.env.HOME ?? (options.env ?? process.env)["PATH"];
      const b = valueOf(env, "OS_CACERT") + service.env["SSH_AUTH_SOCK"];
      throw new Failure("SSH_UNREACHABLE", "PULUMI_HOME is not set");`;
    assert.deepEqual([...variablesIn({ path: "a.ts", text })].sort(), [
      "HOME",
      "OS_CACERT",
      "PATH",
      "SSH_AUTH_SOCK",
      "TERM",
    ]);
  });
});

describe("environment variables", () => {
  const names = new Set(environmentVariables.map(({ name }) => name));

  it("are each in the table once", () => {
    assert.equal(names.size, environmentVariables.length);
  });

  it("contain every variable that the product reads", () => {
    const sources = nonEmpty(sourcesIn(nonEmpty(foldersOf.stackadm ?? []), code));
    // Variables that stackadm sets for the engine and never reads.
    const set = [
      "PULUMI_SKIP_UPDATE_CHECK",
      "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION",
      "PULUMI_K8S_ENABLE_PATCH_FORCE",
    ];
    assert.deepEqual(missingIn(sources, new Set([...names, ...set])), []);
  });

  it("contain every variable of the lab, the toolchain and the tests", () => {
    const sources = nonEmpty(sourcesIn(["packages", "test"], code)).filter(
      ({ path }) => !/\/(node_modules|dist|fixtures)\//.test(path),
    );
    // The last line of a here-document in a benchmark, not a variable.
    const missing = missingIn(sources, new Set([...names, "STACKADM_INPUT"]));
    assert.deepEqual(
      missing.filter((line) => / STACKADM_/.test(line)),
      [],
    );
  });

  it("are each named in the code of every reader in this repository", () => {
    const textOf = new Map<VariableReader, string>();
    for (const [reader, folders] of Object.entries(foldersOf))
      textOf.set(
        reader as VariableReader,
        sourcesIn(folders, code)
          .filter(({ path }) => !/node_modules|environment-(variables|page)/.test(path))
          .map(({ text }) => text)
          .join("\n"),
      );
    // A variable of an openrc file is found by the key of clouds.yaml, or by the end of the key:
    // the code puts `user` or `project` before `_domain_id`.
    const isNamed = (name: string, text: string): boolean => {
      const key = name.replace(/^OS_/, "").toLowerCase();
      const end = key.replace(/^(user|project)(?=_domain_)/, "");
      return new RegExp(`\\b(${name}|${key}|${end})\\b`).test(text);
    };
    const unread = ({ name, readBy }: EnvironmentVariable): readonly string[] =>
      readBy.flatMap((reader) => {
        const text = textOf.get(reader);
        return text === undefined || isNamed(name, text) ? [] : [`${name}: ${reader}`];
      });
    // Node.js reads the variable in `os.tmpdir()`.
    const others = environmentVariables.filter(({ name }) => name !== "TMPDIR");
    assert.deepEqual(others.flatMap(unread), []);
  });
});

describe("environmentPage", () => {
  it("has a line for each variable, with the default and the readers", () => {
    const lines = environmentPage().split("\n");
    const without = environmentVariables.filter(
      ({ name }) => !lines.some((line) => line.startsWith(`- \`${name}\`: `)),
    );
    assert.deepEqual(without, []);
    assert.ok(
      lines.includes(
        "- `PULUMI_HOME`: directory with Pulumi's programs and plugins, and with the login. Default: `~/.pulumi`. Read by stackadm and Pulumi.",
      ),
    );
  });
});
