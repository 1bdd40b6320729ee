import { strict as assert } from "node:assert";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { type Row } from "../../support/graph/graph.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest } from "../../support/config/spec.js";

const named = (rows: readonly Row[], name: string): Row => {
  const found = rows.find((row) => row.name === name);
  assert.ok(found, name);
  return found;
};

describe("the leave script of a control plane", () => {
  const leaves = async (count: number): Promise<readonly (readonly [Row, Row])[]> => {
    const some = await clusterRows({ ...smallest, controlPlane: { flavor: "medium", count } });
    return Array.from({ length: count }, (_, position) => {
      const name = `dev-control-plane-${String(position)}`;
      return [named(some, `${name}-leave`), named(some, `${name}-server`)] as const;
    });
  };
  const survivors = (of: readonly (readonly [Row, Row])[]): unknown[] =>
    of.map(([{ deletedWith, inputs }]) => [
      /control-plane-\d/.exec(deletedWith)?.[0],
      /^SERVER_ID='dev-(.*)-server-id'$/m.exec(renderSentScript(inputs))?.[1],
    ]);

  it("runs on the second control plane for the first, else on the first", async () => {
    const three = await leaves(3);
    const [first, second] = ["control-plane-0", "control-plane-1"].map((one) => [one, one]);
    assert.deepEqual(survivors(three), [second, first, first]);
    for (const [{ replaceWith }, server] of three) assert.deepEqual(replaceWith, [server.urn]);
  });

  it("never runs for a single control plane", async () => {
    const [alone] = await leaves(1);
    assert.ok(alone);
    const [{ replaceWith, deletedWith }, server] = alone;
    assert.deepEqual([replaceWith, deletedWith], [[], server.urn]);
  });

  it("deletes the Node object only in a cluster without a cloud controller", async () => {
    const of = async (over: object): Promise<string | undefined> => {
      const rows = await clusterRows({ ...smallest, ...over });
      const leave = rows.find(({ name }) => name.endsWith("general-0-leave"));
      assert.ok(leave);
      const script = renderSentScript(leave.inputs);
      return /^DELETES_NODE='(.*)'$/m.exec(script)?.[1];
    };
    const without = { cloudController: { enabled: false }, samples: false };
    assert.deepEqual([await of({}), await of(without)], ["", "yes"]);
  });

  it("depends on the init script of the first control plane", async () => {
    const [[leave]] = (await leaves(3)) as [readonly [Row, Row]];
    assert.ok(leave.dependencies.some((urn) => urn.endsWith("::dev-control-plane-0-init")));
  });
});
