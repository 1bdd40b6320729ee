import { strict as assert } from "node:assert";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import type { Row } from "../../support/graph/graph.js";
import { plain } from "../../support/graph/secrets.js";
import { smallest } from "../../support/config/spec.js";

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
      if (/-(leave|teardown)$/.test(name)) continue;
      const copy = copies.get(name.replace(/[a-z]*$/, "scripts"));
      assert.ok(copy !== undefined, name);
      assert.ok(needs["create"]?.includes(copy), name);
    }
  });

  it("that run at a deletion send their own text, in case their machine is a new one", () => {
    const undoing = ofType("Command").filter(({ name }) => /-(leave|teardown)$/.test(name));
    assert.equal(undoing.length, 4);
    for (const { name, inputs, propertyDependencies: needs } of undoing) {
      assert.match(
        plain(inputs["stdin"]),
        /^t=\$\(printf %s '\S+' \| base64 -d \| gunzip\)$/m,
        name,
      );
      for (const property of ["delete", "stdin"])
        assert.doesNotMatch((needs[property] ?? []).join(), /CopyToRemote/, name);
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
