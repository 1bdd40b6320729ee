import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { preparationScripts } from "../../../../components/machine/preparation.js";
import { answering, freshDebian, workerValues } from "../../../support/machine/fresh-debian.js";
import { Sandbox } from "../../../support/machine/sandbox.js";

const [first, second] = [
  "94D38D71174DE2B46EF4BB45EDCD78F39342DEBD",
  "FBFFBC45122635F95C5B0C62113EFBF89B2431E8",
];
const file = join(__dirname, "../../../fixtures/keys/two-keys.asc");
const keyring = "etc/apt/keyrings/stackadm.asc";

describe("a file with two repository keys", () => {
  let machine: Sandbox;
  const run = (PACKAGES_KEY_FINGERPRINT: string) =>
    machine.run(preparationScripts, { ...workerValues(), PACKAGES_KEY_FINGERPRINT });
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
    machine.stub("gpg", '/usr/bin/gpg "$@"');
    machine.stub("curl", answering(`cat ${file}`));
  });
  afterEach(() => {
    machine.close();
  });
  const trusted = (): string[] => {
    const args = ["--homedir", machine.root, "--batch", "--show-keys", "--with-colons"];
    const listed = execFileSync("gpg", [...args, join(machine.root, keyring)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return [...listed.matchAll(/^fpr:+(\w+):/gm)].map(([, found = ""]) => found);
  };

  it("adds only the pinned key to the keyring", () => {
    for (const key of [first, second]) {
      rmSync(join(machine.root, "installed"), { force: true });
      const { code, stderr } = run(key);
      assert.equal(code, 0, stderr);
      assert.deepEqual(trusted(), [key]);
    }
  });

  it("is refused with the fingerprints of both keys if neither key is pinned", () => {
    const { code, stderr } = run("A".repeat(40));
    assert.equal(code, 1);
    assert.ok(stderr.includes(`is signed by ${first} and ${second}, not by AAAA`), stderr);
    assert.equal(machine.file(keyring), undefined);
  });

  it("loses a second key in the keyring, and is downloaded only in this case", () => {
    run(second);
    machine.put(keyring, readFileSync(file, "utf8"));
    run(second);
    assert.deepEqual(trusted(), [second]);
    const { calls } = run(second);
    assert.ok(!calls.some((call) => call.startsWith("curl")));
  });
});
