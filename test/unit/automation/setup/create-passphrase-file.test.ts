import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
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
import { text } from "node:stream/consumers";
import { ensurePassphraseFile } from "../../../../automation/setup/create-passphrase-file.js";

describe("ensurePassphraseFile", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "passphrase-"));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });
  const mode = (path: string): number => statSync(path).mode & 0o777;

  it("creates 256 bits in one line without characters special to a shell or YAML", () => {
    const phrase = readFileSync(ensurePassphraseFile(join(directory, "p")), "utf8");
    assert.match(phrase, /^[A-Za-z0-9_-]{43}\n$/);
    assert.equal(Buffer.from(phrase.trim(), "base64url").length, 32);
  });

  it("creates a private directory", () => {
    const path = ensurePassphraseFile(join(directory, "new", "p"));
    assert.deepEqual([mode(join(directory, "new")), mode(path)], [0o700, 0o600]);
  });

  it("creates one passphrase for concurrent commands on a new machine", async () => {
    const path = join(directory, "p");
    const module = require.resolve("../../../../automation/setup/create-passphrase-file.js");
    const script = `
      const { ensurePassphraseFile } = require(${JSON.stringify(module)});
      console.log("ready");
      process.stdin.on("end", () => {
        process.stdout.write(require("node:fs").readFileSync(ensurePassphraseFile(process.argv[1]), "utf8"));
      }).resume();`;
    const args = ["--import", "tsx", "-e", script, "--", path];
    const commands = [1, 2, 3, 4].map(() => spawn(process.execPath, args));
    await Promise.all(commands.map(({ stdout }) => once(stdout, "data")));
    const answers = commands.map(({ stdout }) => text(stdout));
    for (const { stdin } of commands) stdin.end();
    assert.deepEqual(await Promise.all(answers), Array(4).fill(readFileSync(path, "utf8")));
    assert.deepEqual(readdirSync(directory), ["p"]);
  });

  it("keeps the user's file byte for byte, even if empty, and makes the file private", () => {
    for (const phrase of ["their own words\n", "", "no newline"]) {
      const path = join(directory, "p");
      writeFileSync(path, phrase);
      chmodSync(path, 0o644);
      ensurePassphraseFile(path);
      assert.equal(readFileSync(path, "utf8"), phrase);
      assert.equal(mode(path), 0o600);
    }
  });
});
