import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { objects, toYaml } from "./objects.js";

const directory = join(__dirname, "golden");

describe("addons: rendered objects", () => {
  for (const [name, list] of Object.entries(objects)) {
    it(`${name}.yaml is what was reviewed (STACKADM_UPDATE_GOLDEN=1 writes it anew)`, () => {
      const file = join(directory, `${name}.yaml`);
      const rendered = toYaml(list);
      if (process.env["STACKADM_UPDATE_GOLDEN"] === "1") {
        writeFileSync(file, rendered);
      }
      assert.equal(rendered, readFileSync(file, "utf8"));
    });

    it(`${name}.yaml reads back as the same objects`, () => {
      const documents = parseAllDocuments(toYaml(list)).map(
        (document) => document.toJS() as object,
      );
      assert.deepEqual(documents, JSON.parse(JSON.stringify(list)));
    });
  }

  it("has no file that nothing renders", () => {
    const expected = Object.keys(objects).map((name) => `${name}.yaml`);
    assert.deepEqual(readdirSync(directory).sort(), expected.sort());
  });

  it("gives every object its own kind and name", () => {
    const names = Object.values(objects)
      .flat()
      .map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""} ${metadata.name}`);
    assert.equal(new Set(names).size, names.length);
  });
});
