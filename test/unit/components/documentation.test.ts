import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { changeEffects } from "../../../components/schema/fields.js";
import { parseClusterSpec } from "../../../components/config/cluster-spec.js";
import { jsonSchema } from "../../../components/config/json-schema.js";
import { leaves } from "../../../packages/tools/documentation/config-schema.js";
import {
  configurationPages,
  configurationSections,
  coreKeys,
} from "../../../packages/tools/documentation/configuration-pages.js";
import { nonEmpty } from "../../support/non-empty.js";

const root = join(__dirname, "..", "..", "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");

describe("configuration documentation", () => {
  const all = leaves(jsonSchema());

  it("describes each value and the effect of its change", () => {
    for (const leaf of nonEmpty(all)) {
      assert.match(leaf.description, /^[A-Z].*\.$/, leaf.path);
      assert.ok((changeEffects as readonly string[]).includes(leaf.change), leaf.path);
      assert.notEqual(leaf.default, "", leaf.path);
    }
  });

  it("requires exactly five values", () => {
    const required = all.filter((leaf) => leaf.default === "**required**");
    assert.deepEqual(
      required.map(({ path }) => path),
      [
        ...["image", "allowedCidrs", "controlPlane.flavor"],
        ...["workers.<pool>.flavor", "workers.<pool>.count"],
      ],
    );
  });

  it("explains every change effect on the overview page", () => {
    const [, overview = ""] = configurationPages(all).find(([file]) => file === "README.md") ?? [];
    for (const { change } of nonEmpty(all)) assert.ok(overview.includes(`### ${change}\n`), change);
  });

  it("has each value on exactly one page, and each core key before the folded keys", () => {
    const pages = configurationPages(all).filter(([file]) => file !== "README.md");
    for (const { path } of nonEmpty(all)) {
      const found = pages.filter(([, text]) => text.includes(`### \`${path}\`\n`));
      assert.equal(found.length, 1, path);
      const [, text = ""] = found[0] ?? [];
      const folded = text.indexOf("<details>");
      const isFolded = folded >= 0 && text.indexOf(`### \`${path}\`\n`) > folded;
      assert.equal(isFolded, !coreKeys.includes(path), path);
    }
    assert.equal(pages.length, configurationSections.length);
  });

  it("is complemented by a valid, commented example stack", () => {
    const text = read("Pulumi.dev.yaml");
    const stack = parse(text) as { config: { "stackadm:cluster": object } };
    const ssh = { publicKey: "ssh-ed25519 AAAA" };
    const result = parseClusterSpec({ name: "dev", ssh, ...stack.config["stackadm:cluster"] });
    assert.ok("spec" in result, JSON.stringify(result));
    assert.ok(text.split("\n").filter((line) => line.includes("#")).length > 10);
  });
});

describe("project", () => {
  it("runs program.cjs, which Pulumi does not compile", () => {
    const project = parse(read("Pulumi.yaml")) as { runtime: { options: object }; main: string };
    assert.deepEqual(project.runtime.options, { typescript: false });
    assert.equal(project.main, "program.cjs");
  });

  it("installs a command plugin SDK that supports host keys", () => {
    const { version } = JSON.parse(read("node_modules/@pulumi/command/package.json")) as {
      version: string;
    };
    assert.equal(version, "1.2.1");
  });
});
