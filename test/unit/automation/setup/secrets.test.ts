import assert from "node:assert/strict";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../../../base/run.js";
import { ensurePassphraseFile } from "../../../../automation/setup/secrets.js";

describe("the passphrase of the stacks", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "passphrase-"));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });
  const mode = (path: string): number => statSync(path).mode & 0o777;

  it("is 256 bits in one line of letters that no shell or YAML looks at twice", () => {
    const text = readFileSync(ensurePassphraseFile(join(directory, "p")), "utf8");
    assert.match(text, /^[A-Za-z0-9_-]{43}\n$/);
    assert.equal(Buffer.from(text.trim(), "base64url").length, 32);
  });

  it("lies in a directory that nobody else can enter", () => {
    const path = ensurePassphraseFile(join(directory, "new", "p"));
    assert.deepEqual([mode(join(directory, "new")), mode(path)], [0o700, 0o600]);
  });

  it("is one for all commands that start at the same time on a new machine", async () => {
    const path = join(directory, "p");
    const module = require.resolve("../../../../automation/setup/secrets.js");
    const script = `
      const { ensurePassphraseFile } = require(${JSON.stringify(module)});
      while (Date.now() < Number(process.argv[1]));
      process.stdout.write(require("node:fs").readFileSync(ensurePassphraseFile(process.argv[2]), "utf8"));`;
    const together = String(Date.now() + 1_500);
    const args = ["--import", "tsx", "-e", script, "--", together, path];
    const answers = await Promise.all([1, 2, 3, 4].map(() => run(process.execPath, args)));
    assert.deepEqual(
      answers.map(({ stdout }) => stdout),
      Array(4).fill(readFileSync(path, "utf8")),
    );
    assert.deepEqual(readdirSync(directory), ["p"]);
  });

  it("that a person wrote is kept to the byte, even empty, and made private", () => {
    for (const text of ["their own words\n", "", "no newline"]) {
      const path = join(directory, "p");
      writeFileSync(path, text);
      chmodSync(path, 0o644);
      ensurePassphraseFile(path);
      assert.equal(readFileSync(path, "utf8"), text);
      assert.equal(mode(path), 0o600);
    }
  });
});
