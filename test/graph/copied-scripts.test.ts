import { strict as assert } from "node:assert";
import { clusterRows } from "../support/cluster-rows.js";
import type { Row } from "../support/graph.js";
import { smallest } from "../support/spec.js";

describe("the scripts of machines", () => {
  let rows: readonly Row[];
  before(async () => {
    rows = await clusterRows(smallest);
  });
  const ofType = (type: string): readonly Row[] =>
    rows.filter((row) => row.type === `command:remote:${type}`);

  it("are copied once to each machine, before the first one runs there", () => {
    const copies = new Map(ofType("CopyToRemote").map(({ name, urn }) => [name, urn]));
    const servers = rows.filter(({ type }) => type.endsWith(":Instance"));
    assert.deepEqual(
      [...copies.keys()].sort(),
      servers.map(({ name }) => name.replace(/server$/, "scripts")).sort(),
    );
    for (const { name, propertyDependencies: needs } of ofType("Command")) {
      // Scripts that undo something run on the first control plane.
      const own = /-(leave|teardown)$/.test(name) ? "dev-control-plane-0-" : name;
      const copy = copies.get(own.replace(/[a-z]*$/, "scripts"));
      assert.ok(copy !== undefined, name);
      assert.ok((needs["create"] ?? needs["delete"])?.includes(copy), name);
    }
  });

  it("are the same for all machines of a role, and have no preparation of nodes on a bastion", async () => {
    const many = await clusterRows({
      ...smallest,
      topology: "ha",
      access: "bastion",
      bastion: { flavor: "tiny" },
    });
    const digests = new Map<string, Set<string>>();
    for (const { name, inputs } of many.filter(({ type }) => type.endsWith(":CopyToRemote"))) {
      const [, , digest = ""] = (inputs["remotePath"] as string).split("/");
      const role = name.replace(/-\d+-scripts$/, "");
      digests.set(role, (digests.get(role) ?? new Set()).add(digest));
    }
    assert.deepEqual([...digests.keys()].sort(), [
      "dev-bastion",
      "dev-control-plane",
      "dev-workers-general",
    ]);
    for (const [role, found] of digests) assert.equal(found.size, 1, role);
    assert.equal(new Set([...digests.values()].flatMap((one) => [...one])).size, digests.size);
  });
});
