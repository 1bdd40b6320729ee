import { strict as assert } from "node:assert";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { changeEffects } from "../../../components/schema/fields.js";
import { parseClusterSpec } from "../../../components/config/cluster-spec.js";
import { jsonSchema, leaves, page } from "../../../docs/generate.js";
import { nonEmpty } from "../../support/non-empty.js";

const root = join(__dirname, "..", "..", "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

describe("the configuration's documentation", () => {
  const all = leaves(jsonSchema());

  it("says of every value what it is and what changing it does", () => {
    for (const leaf of nonEmpty(all)) {
      assert.match(leaf.description, /^[A-Z].*\.$/, leaf.path);
      assert.ok((changeEffects as readonly string[]).includes(leaf.change), leaf.path);
      assert.notEqual(leaf.default, "", leaf.path);
    }
  });

  it("requires five values, whatever there is besides", () => {
    const required = all.filter((leaf) => leaf.default === "**required**");
    assert.deepEqual(
      required.map(({ path }) => path),
      [
        ...["image", "allowedCidrs", "controlPlane.flavor"],
        ...["workers.<pool>.flavor", "workers.<pool>.count"],
      ],
    );
  });

  it("explains every kind of change that it names", () => {
    const text = page(all);
    for (const { change } of nonEmpty(all)) assert.ok(text.includes(`*${change}*: `), change);
  });

  it("is not the only place: the example stack is valid and has comments", () => {
    const text = read("Pulumi.dev.yaml");
    const stack = parse(text) as { config: { "stackadm:cluster": object } };
    const ssh = { publicKey: "ssh-ed25519 AAAA" };
    const result = parseClusterSpec({ name: "dev", ssh, ...stack.config["stackadm:cluster"] });
    assert.ok("spec" in result, JSON.stringify(result));
    assert.ok(text.split("\n").filter((line) => line.includes("#")).length > 10);
  });
});

describe("the project", () => {
  it("runs program.cjs, which Pulumi does not compile", () => {
    const project = parse(read("Pulumi.yaml")) as { runtime: { options: object }; main: string };
    assert.deepEqual(project.runtime.options, { typescript: false });
    assert.equal(project.main, "program.cjs");
  });

  it("installs the command plugin's SDK that knows host keys", () => {
    const { version } = JSON.parse(read("node_modules/@pulumi/command/package.json")) as {
      version: string;
    };
    assert.equal(version, "1.2.1");
  });
});

describe("what is promised", () => {
  it("names tests that are there", () => {
    const named = [
      ...read("docs/reliability.md").matchAll(/`(?:test\/)?([a-z0-9/-]+\.test\.ts)`/g),
    ];
    assert.ok(named.length > 50);
    for (const [, path = ""] of named) assert.ok(existsSync(join(root, "test", path)), path);
  });
});
