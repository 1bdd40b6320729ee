import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import {
  hasStackSettings,
  parseProjectFile,
  readProjectFile,
  readStackSettings,
} from "../../../../automation/pulumi/project-files.js";

describe("files of a Pulumi project", () => {
  let directory: string;
  const write = (file: string, text: string): void => {
    writeFileSync(join(directory, file), text);
  };
  /** Writes Pulumi.yaml with more lines after the name. */
  const project = (more = ""): void => {
    write("Pulumi.yaml", `name: thing\nruntime: nodejs\n${more}`);
  };
  const configOf = (stack = "dev"): unknown =>
    (parse(readStackSettings(directory, stack)) as { config: unknown }).config;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "project-"));
    project();
    write("Pulumi.dev.yaml", "# comment\nconfig:\n  thing:cluster: { name: one }\n");
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it("returns the text of the stack's file unchanged if Pulumi.yaml has no values", () => {
    project("config: { other: { type: string } }\n");
    assert.match(readStackSettings(directory, "dev"), /^# comment\nconfig:/);
  });

  it("adds values of Pulumi.yaml that the stack's file does not contain", () => {
    project(
      [
        "config:",
        "  cluster: { default: { name: all } }",
        "  size: 3",
        "  thing:zone: a",
        "  openstack:maxRetries: { value: 5 }",
        "  list: [1, 2]",
        "  typed: { type: string }",
        "  nothing:",
      ].join("\n"),
    );
    assert.deepEqual(configOf(), {
      "thing:cluster": { name: "one" },
      "thing:size": 3,
      "thing:zone": "a",
      "openstack:maxRetries": 5,
      "thing:list": [1, 2],
    });
    write("Pulumi.empty.yaml", "");
    assert.deepEqual((configOf("empty") as Record<string, unknown>)["thing:cluster"], {
      name: "all",
    });
  });

  it("adds a nested value of Pulumi.yaml to an object in the stack's file", () => {
    project(
      "config: { cluster.protect: true, cluster.name: all, cluster.network.dns: [1.1.1.1] }\n",
    );
    assert.deepEqual(configOf(), {
      "thing:cluster": { name: "one", protect: true, network: { dns: ["1.1.1.1"] } },
    });
  });

  it("applies the values of Pulumi.yaml to settings that the caller passes as text", () => {
    project("config: { size: 3 }\n");
    const text = readStackSettings(directory, "none", "config:\n");
    assert.deepEqual(parse(text), { config: { "thing:size": 3 } });
    assert.equal(readStackSettings(directory, "none", text), text);
  });

  for (const [what, key, message] of [
    ["brackets in a key", "'list[0]': x", /Pulumi\.yaml: config: list\[0\]: .*brackets/],
    [
      "a nested value below a text",
      "size.of: x",
      /config: size\.of: 'thing:size' is not an object/,
    ],
  ] as const)
    it(`refuses ${what} in Pulumi.yaml`, () => {
      project(`config: { ${key} }\n`);
      assert.throws(
        () => readStackSettings(directory, "dev", "config: { thing:size: 1 }\n"),
        message,
      );
    });

  for (const key of ["stackConfigDir", "config"])
    it(`reads the stack's file in the directory that \`${key}\` names`, () => {
      mkdirSync(join(directory, "stacks"));
      project(`${key}: stacks\n`);
      assert.equal(hasStackSettings(directory, "dev"), false);
      assert.throws(() => readStackSettings(directory, "dev"), /There is no .*stacks/);
      write("stacks/Pulumi.dev.yaml", "config: { thing:size: 9 }\n");
      assert.equal(hasStackSettings(directory, "dev"), true);
      assert.deepEqual(configOf(), { "thing:size": 9 });
    });

  it("refuses an ESC environment, because these commands cannot read its values", () => {
    write("Pulumi.dev.yaml", "environment: [prod]\nconfig: {}\n");
    assert.throws(() => readStackSettings(directory, "dev"), /environment: only `pulumi` reads/);
  });

  it("refuses a stack name that is a path", () => {
    for (const stack of ["../x", "a/b", "", "a b"])
      assert.throws(() => readStackSettings(directory, stack), /is not the name of a stack/, stack);
  });

  it("refuses files that are not YAML, and a project without a name", () => {
    write("Pulumi.dev.yaml", "config: [\n");
    assert.throws(() => readStackSettings(directory, "dev"), /Pulumi\.dev\.yaml is not YAML/);
    write("Pulumi.dev.yaml", "config: { thing:password: *hidden-word }\n");
    assert.throws(
      () => readStackSettings(directory, "dev"),
      (error: Error) => {
        assert.match(error.message, /Pulumi\.dev\.yaml is not YAML: /);
        return !error.message.includes("hidden-word");
      },
    );
    write("Pulumi.yaml", "runtime: nodejs\n");
    assert.throws(() => readProjectFile(directory), /Pulumi\.yaml has no name/);
    write("Pulumi.yaml", "name: [\n");
    assert.throws(() => parseProjectFile(directory), /Pulumi\.yaml is not YAML/);
  });
});
