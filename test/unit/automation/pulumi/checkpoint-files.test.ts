import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  dropEmptyAttributes,
  readCheckpoint,
} from "../../../../automation/pulumi/checkpoint-files.js";

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

  describe("that are read without the engine", () => {
    const resources = [{ urn: "a", type: "b", futureField: [1] }];
    const whole = { version: 3, checkpoint: { stack: "x", latest: { resources } } };
    const meta = (): string => join(root, ".pulumi", "meta.yaml");
    beforeEach(() => {
      writeFileSync(meta(), "version: 1\n");
    });
    const write = (name: string, content: unknown): void => {
      writeFileSync(file(name), typeof content === "string" ? content : JSON.stringify(content));
    };

    it("say what an export would, with what we know nothing of", () => {
      write("dev.json", whole);
      write("dev.json.attrs", "{}");
      write("device.json.gz", "");
      assert.deepEqual(readCheckpoint(placeOf()), { version: 3, deployment: { resources } });
      const newer = { version: 4, features: ["hooks"] };
      write("dev.json", { ...whole, ...newer });
      assert.deepEqual(readCheckpoint(placeOf()), { ...newer, deployment: { resources } });
    });

    it("say nothing where the engine has to be asked", () => {
      const asked = (stack?: string): void => {
        assert.equal(readCheckpoint(placeOf(stack)), undefined);
      };
      asked();
      for (const wrong of [
        "",
        "{",
        { ...whole, version: 5 },
        { ...whole, more: 1 },
        { ...whole, version: 4, features: ["unheard-of"] },
        { version: 3 },
        { version: 3, checkpoint: {} },
      ]) {
        write("dev.json", wrong);
        asked();
      }
      write("dev.json", whole);
      asked("other");
      assert.equal(readCheckpoint({ ...placeOf(), backend: "s3://states" }), undefined);
      for (const more of ["dev.json.gz", "dev.json.zst", "dev.json.attrs"]) {
        write(more, "");
        asked();
        rmSync(file(more));
      }
      mkdirSync(join(root, ".pulumi", "journal"));
      asked();
      rmSync(join(root, ".pulumi", "journal"), { recursive: true });
      write("dev.json.bak.attrs", "");
      assert.ok(readCheckpoint(placeOf()));
      writeFileSync(meta(), "version: 0\n");
      asked();
      rmSync(meta());
      asked();
      rmSync(join(root, ".pulumi"), { recursive: true });
      writeFileSync(join(root, ".pulumi"), "");
      asked();
    });
  });
});
