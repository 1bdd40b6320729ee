import { strict as assert } from "node:assert";
import {
  describePlainArgument,
  findOutputUse,
  plainArguments,
  type ArgumentPath,
} from "../../../../components/config/output-arguments.js";
import { jsonSchema } from "../../../../components/config/json-schema.js";
import { leaves } from "../../../../packages/tools/documentation/config-schema.js";

/** Returns a path of an argument for its path in the documentation: `workers.<pool>.count`. */
const pathOf = (documented: string): ArgumentPath =>
  documented
    .replaceAll("[]", ".0")
    .split(".")
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part.startsWith("<") ? "0" : part));

const documented = leaves(jsonSchema()).map(({ path }) => path);

/** Returns whether the argument, the entries of its list or the values of its map accept outputs. */
const accepts = (leaf: string): boolean =>
  [[], [0], ["any"]].some((more) => findOutputUse([...pathOf(leaf), ...more]) !== undefined);

const rows = Object.values(plainArguments).flat();
const isIn = (row: string, leaf: string): boolean =>
  leaf === row || [".", "["].some((next) => leaf.startsWith(`${row}${next}`));

describe("an argument of a cluster", () => {
  it("accepts an output, or has a reason why its value must be known", () => {
    const undecided = documented.filter(
      (leaf) => !accepts(leaf) && !rows.some((row) => isIn(row, leaf)),
    );
    assert.deepEqual(undecided, []);
  });

  it("has no reason if it accepts an output", () => {
    const both = documented.filter((leaf) => accepts(leaf) && rows.includes(leaf));
    assert.deepEqual(both, []);
  });

  it("exists if the table of reasons has a row for it", () => {
    const optional = /^(bastion|etcd)\.|(runtime|etcd)Volume$/;
    const unknown = rows.filter(
      (row) => !documented.some((leaf) => isIn(row, leaf)) && !optional.test(row),
    );
    assert.deepEqual(unknown, []);
  });

  it("accepts outputs of the objects that other programs create", () => {
    const accepted: readonly ArgumentPath[] = [
      ...[["image"], ["workers", "gpu", "flavor"], ["controlPlane", "nodes", "0", "image"]],
      ...[["externalNetwork"], ["network", "existing", "subnet"], ["network", "admin", "network"]],
      ...[
        ["allowedCidrs", 0],
        ["network", "securityGroups", 0],
        ["ssh", "publicKey"],
      ],
      ...[
        ["endpoint", "floatingIp"],
        ["endpoint", "host"],
        ["ingress", "floatingIp"],
      ],
      ["etcd", "metadata", "any"],
    ];
    for (const path of accepted) assert.equal(findOutputUse(path), "placeholder", path.join("."));
    assert.equal(findOutputUse(["credential", "secret"]), "value");
    assert.equal(findOutputUse(["podNetwork", "peers", 0, "password"]), "value");
  });

  it("is refused with the reason if it does not accept an output", () => {
    assert.match(
      describePlainArgument(["workers", "general", "count"]),
      /^is an Output, .*, and it decides which resources exist; write a plain value$/,
    );
    assert.match(describePlainArgument(["podNetwork", "peers"]), /decides which resources exist/);
    assert.match(describePlainArgument(["allowedCidrs"]), /a list, whose keys or length must be/);
  });
});
