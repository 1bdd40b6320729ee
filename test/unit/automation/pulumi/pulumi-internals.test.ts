import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { LocalWorkspace, PulumiCommand, Stack } from "@pulumi/pulumi/automation/index.js";
import {
  parseDefaultProviderVersion,
  deleteEmptyAttributes,
  enablePreviewBeforeUpdate,
  disableOperationResults,
} from "../../../../automation/pulumi/pulumi-internals.js";

/** Stub of `pulumi` that records its arguments and succeeds. */
const stub = `#!/bin/sh
printf '%s\\n' "$*" >>"$0.calls"
case $1 in
  version) echo v3.250.0 ;;
  stack) case $2 in history) echo '[]' ;; *) echo '{}' ;; esac ;;
esac
`;

describe("pulumi-internals, with Pulumi's Node SDK", function () {
  this.timeout(60_000);
  let root: string;
  const command = (): string => join(root, "bin", "pulumi");
  /** Runs the operation, and returns the engine's command lines in the operation. */
  const calls = async (operation: (stack: Stack) => Promise<unknown>): Promise<string[]> => {
    const workspace = await LocalWorkspace.create({
      workDir: root,
      program: () => Promise.resolve(),
      pulumiCommand: await PulumiCommand.get({ root }),
    });
    const stack = await Stack.select("dev", workspace);
    rmSync(`${command()}.calls`);
    await operation(stack);
    return readFileSync(`${command()}.calls`, "utf8").trim().split("\n");
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "stackadm-sdk-"));
    mkdirSync(join(root, "bin"));
    writeFileSync(join(root, "Pulumi.yaml"), "name: it\nruntime: nodejs\n");
    writeFileSync(command(), stub, { mode: 0o755 });
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  it("enablePreviewBeforeUpdate adds an argument after the SDK's --skip-preview", async () => {
    const [up = ""] = await calls(async (stack) => {
      disableOperationResults(stack);
      enablePreviewBeforeUpdate(stack);
      await stack.up();
    });
    assert.match(up, /^up .*--skip-preview .*--skip-preview=false\b/);
  });

  it("disableOperationResults prevents the processes that the SDK starts after each operation", async () => {
    const operations = {
      up: (stack: Stack) => stack.up(),
      refresh: (stack: Stack) => stack.refresh(),
      destroy: (stack: Stack) => stack.destroy(),
    };
    for (const [name, operation] of Object.entries(operations)) {
      const all = await calls(operation);
      const few = await calls((stack) => {
        disableOperationResults(stack);
        return operation(stack);
      });
      assert.deepEqual(
        few.map((call) => call.split(" ")[0]),
        [name],
      );
      // With no process to spare, disableOperationResults must be deleted.
      assert.equal(all.length, name === "up" ? 4 : 2, all.join("\n"));
    }
  });
});

describe("deleteEmptyAttributes", () => {
  let root: string;
  const file = (name: string): string => join(root, ".pulumi", "stacks", "stackadm", name);
  const placeOf = (stack = "dev") => ({
    backend: pathToFileURL(root).href,
    project: "stackadm",
    stack,
  });
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "backend-"));
    mkdirSync(join(root, ".pulumi", "stacks", "stackadm"), { recursive: true });
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  it("deletes only the empty attributes files of the stack", () => {
    for (const name of ["dev.json", "dev.json.attrs", "dev.json.bak.attrs", "device.json.attrs"])
      writeFileSync(file(name), "");
    writeFileSync(file("dev.json.gz.attrs"), "{}");
    assert.equal(deleteEmptyAttributes(placeOf()), 2);
    const left = ["dev.json", "device.json.attrs", "dev.json.gz.attrs"];
    assert.ok(left.every((name) => existsSync(file(name))));
    assert.equal(deleteEmptyAttributes(placeOf()), 0);
  });

  it("deletes nothing in a backend that is not a directory or lacks the stack", () => {
    assert.equal(deleteEmptyAttributes({ ...placeOf(), backend: "s3://states" }), 0);
    assert.equal(deleteEmptyAttributes(placeOf("other")), 0);
    rmSync(join(root, ".pulumi"), { recursive: true });
    assert.equal(deleteEmptyAttributes(placeOf()), 0);
  });
});

describe("parseDefaultProviderVersion", () => {
  const of = (name: string) =>
    parseDefaultProviderVersion(
      `urn:pulumi:dev::it::pulumi:providers:openstack::${name}::0123-4567`,
    );

  it("returns the version in the name of a default provider", () => {
    assert.deepEqual(["default_3_15_2", "default", "mine", "default-of-mine"].map(of), [
      "3.15.2",
      "",
      undefined,
      undefined,
    ]);
  });
});
