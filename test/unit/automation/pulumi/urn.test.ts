import assert from "node:assert/strict";
import fc from "fast-check";
import { parseUrn, getShortType } from "../../../../automation/pulumi/urn.js";

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,11}$/);
const type = fc
  .tuple(word, word, word)
  .map(([pack, module, name]) => `${pack}:${module}/${name}:${name}`);
/** Resource name with any characters that Pulumi allows, including the separator. */
const name = fc
  .string({ unit: "grapheme-ascii", minLength: 1, maxLength: 20 })
  .filter((text) => !text.startsWith(":"));

describe("parseUrn", () => {
  it("returns the parts of which a URN was built", () => {
    fc.assert(
      fc.property(word, word, fc.array(type, { minLength: 1, maxLength: 4 }), name, (...parts) => {
        const [stack, project, types, resource] = parts;
        const urn = `urn:pulumi:${stack}::${project}::${types.join("$")}::${resource}`;
        assert.deepEqual(parseUrn(urn), {
          stack,
          project,
          types,
          type: types.at(-1),
          name: resource,
        });
      }),
    );
  });

  it("returns empty parts instead of an error for an invalid URN", () => {
    for (const text of ["", "vm", "urn:pulumi:dev"])
      assert.deepEqual([parseUrn(text).type, parseUrn(text).name], ["", ""]);
  });
});

describe("getShortType", () => {
  it("returns the last part of the type", () => {
    assert.equal(getShortType("openstack:networking/network:Network"), "Network");
    assert.equal(getShortType("kubernetes:core/v1:Service"), "Service");
    assert.equal(getShortType("Service"), "Service");
  });

  it("never returns the separator of types", () => {
    fc.assert(fc.property(type, (token) => !getShortType(token).includes(":")));
  });
});
