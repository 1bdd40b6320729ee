import { strict as assert } from "node:assert";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { farewellValues, initValues, joinValues } from "../../components/kubeadm/node-scripts.js";
import { prepareValues } from "../../components/machine/preparation.js";

const root = join(__dirname, "..", "..");
const scripts = execFileSync("git", ["ls-files", "*.sh"], { cwd: root, encoding: "utf8" })
  .trim()
  .split("\n")
  .filter((file) => file.startsWith("components/"));

const check = (command: string, args: readonly string[]): string => {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
  });
  assert.equal(error, undefined, `${command} is not installed: apt-get install ${command}`);
  return status === 0 ? "" : stdout + stderr;
};

/** Names that a script uses but never sets: its values. */
const wanted = (file: string): string[] => {
  const text = readFileSync(join(root, file), "utf8");
  const used = [...text.matchAll(/\$\{?!?([A-Z][A-Z0-9_]+)/g)].map(([, name]) => name ?? "");
  const set = [...text.matchAll(/(?:^|[\s;])(?:local |readonly |export )?([A-Z][A-Z0-9_]+)=/gm)];
  const own = [
    "SECONDS",
    "KUBECONFIG",
    "SSH_ORIGINAL_COMMAND",
    ...set.map(([, name]) => name ?? ""),
  ];
  return [...new Set(used.filter((name) => !own.includes(name)))].sort();
};

describe("scripts for machines", () => {
  for (const file of scripts) {
    it(`${file} has nothing that ShellCheck minds`, () => {
      assert.equal(check("shellcheck", [file]), "");
    });

    it(`${file} is formatted`, () => {
      assert.equal(check("shfmt", ["-i", "2", "-ci", "-d", file]), "");
    });

    it(`${file} shows no secret: no trace, no environment, no unbounded wait`, () => {
      const text = readFileSync(join(root, file), "utf8");
      assert.doesNotMatch(text, /set -[a-z]*x|\bexport [A-Z_]*(TOKEN|KEY|SECRET)/);
      assert.doesNotMatch(text, /\bwhile (true|:)/);
    });
  }

  const contracts = [
    ["components/machine/scripts/prepare.sh", prepareValues],
    ["components/kubeadm/scripts/init.sh", initValues],
    ["components/kubeadm/scripts/join.sh", joinValues],
    ["components/kubeadm/scripts/farewell.sh", farewellValues],
  ] as const;
  for (const [file, values] of contracts) {
    it(`${basename(file)} reads exactly the values that the program gives it`, () => {
      const known: readonly string[] = values;
      assert.deepEqual(
        wanted(file).filter((name) => !known.includes(name)),
        [],
      );
      const text = readFileSync(join(root, file), "utf8");
      assert.deepEqual(
        known.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)),
        [],
      );
    });
  }
});
