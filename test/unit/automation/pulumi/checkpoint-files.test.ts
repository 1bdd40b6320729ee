import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { dropEmptyAttributes } from "../../../../automation/pulumi/checkpoint-files.js";

describe("the files of a checkpoint", () => {
  let root: string;
  const file = (name: string): string => join(root, ".pulumi", "stacks", "stackadm", name);
  const placeOf = (stack = "dev") => ({
    backend: pathToFileURL(root).href,
    project: "stackadm",
    stack,
  });
  const drop = (stack?: string): number => dropEmptyAttributes(placeOf(stack));
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "backend-"));
    mkdirSync(join(root, ".pulumi", "stacks", "stackadm"), { recursive: true });
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  it("lose attributes that are empty, and nothing else", () => {
    for (const name of ["dev.json", "dev.json.attrs", "dev.json.bak.attrs", "device.json.attrs"])
      writeFileSync(file(name), "");
    writeFileSync(file("dev.json.gz.attrs"), "{}");
    assert.equal(drop(), 2);
    const left = ["dev.json", "device.json.attrs", "dev.json.gz.attrs"];
    assert.ok(left.every((name) => existsSync(file(name))));
    assert.equal(drop(), 0);
  });

  it("are nobody's business where the backend is no directory, or has no such stack", () => {
    assert.equal(dropEmptyAttributes({ ...placeOf(), backend: "s3://states" }), 0);
    assert.equal(drop("other"), 0);
    rmSync(join(root, ".pulumi"), { recursive: true });
    assert.equal(drop(), 0);
  });
});
