import { strict as assert } from "node:assert";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getPackageRoot } from "../../../../base/paths.js";
import {
  createProgramReader,
  createScriptReader,
  removeComments,
} from "../../../../components/remote-scripts/script-texts.js";

const root = getPackageRoot();
const components = join(root, "components");
const scripts = execFileSync("git", ["ls-files", "components/*.sh"], { cwd: root })
  .toString()
  .trim()
  .split("\n");

/** Returns the script as bash parses it: bash prints a function with this body. */
function understood(script: string): string {
  const { stdout, stderr } = spawnSync("bash", ["-s"], {
    input: `whole() {\n${script}\n}\ndeclare -f whole`,
  });
  assert.equal(stderr.toString(), "");
  return stdout.toString();
}

describe("removeComments", () => {
  for (const file of scripts)
    it(`keeps the meaning of ${file}`, () => {
      const script = readFileSync(join(root, file), "utf8");
      const code = removeComments(script);
      assert.ok(code.length < script.length);
      assert.equal(understood(code), understood(script));
    });

  it("keeps lines with code, and the script's end", () => {
    assert.equal(removeComments("# a\n\t# b\necho '#' # c\n"), "echo '#' # c\n");
  });

  it("applies to scripts that run once; installed scripts keep their comments", () => {
    const path = "kubeadm/scripts/programs/set-labels-and-taints.sh";
    assert.match(createProgramReader(components)(path), /^#!\/bin\/bash\n# /);
    assert.doesNotMatch(createScriptReader(components)(path), /^#/m);
  });

  it("sources the machine's timeout factor first in installed scripts", () => {
    const text = createProgramReader(components)(
      "kubeadm/scripts/programs/set-labels-and-taints.sh",
    );
    assert.ok(text.indexOf("read -r factor") < text.indexOf("* factor"));
  });
});
