import { strict as assert } from "node:assert";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { collectBackupScript, restoreScript } from "../../automation/backup/machine-programs.js";
import { packageRoot } from "../../base/paths.js";
import { etcdMachinePrograms } from "../../components/etcd/member-scripts.js";
import { controlPlanePrograms } from "../../components/kubeadm/node-scripts.js";
import { prepareStepOf } from "../../components/machine/preparation.js";
import { withoutComments } from "../../components/remote-scripts/script-texts.js";
import { steps } from "../support/graph/sent.js";

const read = (file: string): string => readFileSync(join(packageRoot(), file), "utf8");

/** Scripts of the program, each as one text in the form that a shell reads it. */
const assembled: Readonly<Record<string, string>> = {
  ...Object.fromEntries(steps.map(({ name, text }) => [name, text])),
  "prepare without IPv6": prepareStepOf({}).text,
  ...controlPlanePrograms,
  ETCD_MINT_SCRIPT: etcdMachinePrograms.MINT_SCRIPT,
  "collect-backup": collectBackupScript,
  restore: restoreScript,
  "second-interface": read("components/machine/scripts/second-interface.sh"),
  "write-and-read-back": read("components/addons/write-and-read-back.sh"),
};

/** Returns the variables that ShellCheck reports as never assigned. Directives do not count. */
function unassignedIn(script: string): string[] {
  const args = ["--norc", "--shell=bash", "--include=SC2154", "--format=json", "-"];
  const { stdout } = spawnSync("shellcheck", args, {
    input: withoutComments(script),
    encoding: "utf8",
  });
  const findings = JSON.parse(stdout) as readonly { readonly message: string }[];
  return [...new Set(findings.map(({ message }) => message.split(" ")[0] ?? ""))];
}

describe("a script as a machine runs it", () => {
  for (const [name, text] of Object.entries(assembled))
    it(`assigns every variable that it reads: ${name}`, () => {
      // The program calls no function of restart-with-rollback.sh that reads `state`.
      const uncalled = name === "RENEW_SCRIPT" ? ["state"] : [];
      assert.deepEqual(unassignedIn(text), uncalled);
    });

  it("contains every script file", () => {
    const files = execFileSync("git", ["ls-files", "components/*.sh", "automation/*.sh"], {
      cwd: packageRoot(),
      encoding: "utf8",
    });
    const texts = Object.values(assembled).map(withoutComments);
    const absent = files
      .trim()
      .split("\n")
      .filter((file) => !texts.some((text) => text.includes(withoutComments(read(file)).trim())));
    assert.deepEqual(absent, []);
  });

  it("is reported if it reads a variable that no part assigns", () => {
    assert.deepEqual(unassignedIn('a=1\n# shellcheck disable=SC2154\necho "$a $b"\n'), ["b"]);
  });
});
