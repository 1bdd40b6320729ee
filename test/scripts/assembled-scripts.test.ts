import { strict as assert } from "node:assert";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { backupScript, restoreScript } from "../../automation/backup/machine-programs.js";
import { getPackageRoot } from "../../base/paths.js";
import { etcdMachinePrograms } from "../../components/etcd/member-scripts.js";
import { controlPlanePrograms } from "../../components/kubeadm/node-scripts.js";
import { getPreparationStep } from "../../components/machine/preparation.js";
import { removeComments } from "../../components/remote-scripts/script-texts.js";
import { steps } from "../support/graph/sent.js";

const read = (file: string): string => readFileSync(join(getPackageRoot(), file), "utf8");

/** Assembled scripts by name, each as one text in the form that a shell reads. */
const assembled: Readonly<Record<string, string>> = {
  ...Object.fromEntries(steps.map(({ name, text }) => [name, text])),
  "prepare without IPv6": getPreparationStep({}).text,
  ...controlPlanePrograms,
  ETCD_MINT_SCRIPT: etcdMachinePrograms.MINT_SCRIPT,
  "collect-backup": backupScript,
  restore: restoreScript,
  "second-interface": read("components/machine/scripts/second-interface.sh"),
  "write-and-read-back": read("components/addons/write-and-read-back.sh"),
};

/** Returns the variables that ShellCheck reports as never assigned. Directives do not count. */
function unassignedIn(script: string): string[] {
  const args = ["--norc", "--shell=bash", "--include=SC2154", "--format=json", "-"];
  const { stdout } = spawnSync("shellcheck", args, {
    input: removeComments(script),
    encoding: "utf8",
  });
  const findings = JSON.parse(stdout) as readonly { readonly message: string }[];
  return [...new Set(findings.map(({ message }) => message.split(" ")[0] ?? ""))];
}

describe("the check of assembled scripts", () => {
  for (const [name, text] of Object.entries(assembled))
    it(`finds no unassigned variable in ${name}`, () => {
      // The program calls no function of restart-with-rollback.sh that reads `state`.
      const uncalled = name === "RENEW_SCRIPT" ? ["state"] : [];
      assert.deepEqual(unassignedIn(text), uncalled);
    });

  it("covers every script file", () => {
    const files = execFileSync("git", ["ls-files", "components/*.sh", "automation/*.sh"], {
      cwd: getPackageRoot(),
      encoding: "utf8",
    });
    const texts = Object.values(assembled).map(removeComments);
    const absent = files
      .trim()
      .split("\n")
      .filter((file) => !texts.some((text) => text.includes(removeComments(read(file)).trim())));
    assert.deepEqual(absent, []);
  });

  it("reports a variable that a script reads and no part assigns", () => {
    assert.deepEqual(unassignedIn('a=1\n# shellcheck disable=SC2154\necho "$a $b"\n'), ["b"]);
  });
});
