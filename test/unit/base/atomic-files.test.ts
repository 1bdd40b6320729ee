import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createHardLink,
  createPrivateFile,
  replacePrivateFile,
  replaceFile,
} from "../../../base/atomic-files.js";

describe("base/atomic-files", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-files-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const modeOf = (file: string): number => statSync(file).mode & 0o777;

  it("replaces a file atomically and keeps its mode private", () => {
    const file = join(folder, "new", "file");
    replacePrivateFile(file, "one");
    chmodSync(file, 0o644);
    replacePrivateFile(file, "two");
    assert.equal(readFileSync(file, "utf8"), "two");
    assert.deepEqual([modeOf(file), modeOf(join(folder, "new"))], [0o600, 0o700]);
  });

  it("keeps the earlier text, and leaves no other file, if the write fails", () => {
    const file = join(folder, "file");
    mkdirSync(file);
    assert.throws(() => {
      replaceFile(file, "text");
    });
    assert.deepEqual(readdirSync(folder), ["file"]);
  });

  it("creates a file only if it is missing, complete and private", () => {
    const file = join(folder, "new", "file");
    assert.deepEqual(
      [createPrivateFile(file, "one"), createPrivateFile(file, "two")],
      [true, false],
    );
    assert.equal(readFileSync(file, "utf8"), "one");
    assert.equal(modeOf(file), 0o600);
    assert.deepEqual(readdirSync(join(folder, "new")), ["file"]);
  });

  it("lets exactly one of several concurrent creators create the file", () => {
    const [one, other, file] = ["one", "other", "file"].map((name) => join(folder, name)) as [
      ...[string, string, string],
    ];
    replaceFile(one, "one");
    replaceFile(other, "other");
    assert.deepEqual([createHardLink(one, file), createHardLink(other, file)], [true, false]);
    assert.equal(readFileSync(file, "utf8"), "one");
  });
});
