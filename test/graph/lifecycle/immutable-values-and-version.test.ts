import { strict as assert } from "node:assert";
import { Cluster } from "../../../components/cluster.js";
import type { FrozenValuesArgs } from "../../../components/lifecycle/immutable-values.js";
import {
  living,
  update,
  type State,
  type Values,
} from "../../support/graph/immutable-values-update.js";
import type { Fields } from "../../support/graph/graph.js";

describe("FrozenValues with a changed Kubernetes version", () => {
  const version = (one: string): Values => ({ "kubernetes.version": one });
  const cluster = (outputs: Fields): State => ({
    ...living,
    dev: { type: Cluster.type, outputs },
    "dev-control-plane-0-server": {
      type: "openstack:compute/instance:Instance",
      outputs: { name: "dev-control-plane-0", metadata: {} },
    },
  });
  const told: unknown[] = [];
  const note: FrozenValuesArgs["upgrades"] = (before) => (told.push(before), []);
  const existing = new Map([["dev-control-plane-0", "0"]]);
  beforeEach(() => {
    told.length = 0;
  });

  it("passes written version, reached version and existing servers to `upgrades`", async () => {
    const state = cluster({ kubernetesVersion: "1.35.4" });
    await update(version("1.36.2"), version("1.36.3"), state, { upgrades: note });
    assert.deepEqual(told, [{ written: "1.36.2", reached: "1.35.4", existing }]);
  });

  it("calls `upgrades` for a changed generation of control planes", async () => {
    const state = cluster({});
    const raised = { ...version("1.36.3"), "controlPlane.generation": "1" };
    await update(version("1.36.3"), raised, state, { upgrades: note });
    assert.deepEqual(told, [{ written: "1.36.3", reached: undefined, existing }]);
  });

  it("reports upgrade problems together with other changed values", async () => {
    const problem = { path: "cluster.kubernetes.version", message: "no" };
    const refused = update(
      { a: "1", ...version("1.35.4") },
      { a: "2", ...version("1.36.3") },
      living,
      { upgrades: () => [problem] },
    );
    await assert.rejects(refused, /cluster\.a: 1 cannot .*\n {2}cluster\.kubernetes\.version: no$/);
  });

  it("accepts a changed version until the state has an init script", async () => {
    const script = { type: "command:remote:Command", outputs: {} };
    const prepared = { "dev-control-plane-0-prepare": script };
    await update(version("1.36.3"), version("1.35.4"), prepared, { upgrades: note });
    assert.deepEqual(told, []);
    const begun = { ...prepared, "dev-control-plane-0-init": script };
    await update(version("1.36.3"), version("1.35.4"), begun, { upgrades: note });
    assert.equal(told.length, 1);
  });
});
