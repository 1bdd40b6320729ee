import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { getPackageRoot } from "../../../../../base/paths.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";

const root = getPackageRoot();
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const schemaPath = "docs/config.schema.json";

const stackFiles = execFileSync("git", ["ls-files", "Pulumi.*.yaml", "examples/*/Pulumi.*.yaml"], {
  cwd: root,
  encoding: "utf8",
})
  .trim()
  .split("\n")
  // The program in this example has its own settings.
  .filter((path) => !path.startsWith("examples/ha-kube-router/"));

describe("schema of stack files", () => {
  const schema = JSON.parse(read(schemaPath)) as object;
  // The schema also has keywords for the documentation.
  const validator = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });

  it("is valid according to its metaschema", () => {
    assert.ok(validator.validateSchema(schema), JSON.stringify(validator.errors));
  });

  it("accepts every stack file of this repository", () => {
    const validate = validator.compile(schema);
    for (const path of nonEmpty(stackFiles))
      assert.ok(validate(parse(read(path))), `${path}: ${JSON.stringify(validate.errors)}`);
  });

  it("refuses an unknown key, a wrong type and a missing image", () => {
    const validate = validator.compile(schema);
    const file = parse(read("Pulumi.dev.yaml")) as {
      config: { "stackadm:cluster": Record<string, unknown> };
    };
    const { image, ...others } = file.config["stackadm:cluster"];
    for (const cluster of [{ image, ...others, imge: "x" }, { image: 3, ...others }, others])
      assert.ok(!validate({ config: { "stackadm:cluster": cluster } }), JSON.stringify(cluster));
  });

  it("is named in the first line of each stack file, for editors", () => {
    for (const path of nonEmpty(stackFiles)) {
      const [first = ""] = read(path).split("\n");
      const link = relative(dirname(path), schemaPath);
      assert.equal(first, `# yaml-language-server: $schema=${link}`, path);
    }
  });
});
