import { strict as assert } from "node:assert";
import { setTimeout as pause } from "node:timers/promises";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph, type Row } from "../../support/graph/graph.js";
import { smallest } from "../../support/config/spec.js";

const instance = "openstack:compute/instance:Instance";

interface Built {
  readonly rows: readonly Row[];
  /** Maximum number of servers of a group that Nova created at the same time, by group. */
  readonly atOnce: Readonly<Record<string, number>>;
}

/** Creates a cluster in a cloud in which the creation of a server takes some time. */
async function build(over: Partial<ClusterArgs>): Promise<Built> {
  const now: Record<string, number> = {};
  const atOnce: Record<string, number> = {};
  const rows = await graph(() => new Cluster("dev", { ...smallest, topology: "ha", ...over }), {
    ...cloudAnswers,
    make: async ({ type, name, inputs }) => {
      if (type === instance) {
        const group = name.replace(/^dev-|-\d+-server$/g, "");
        now[group] = (now[group] ?? 0) + 1;
        atOnce[group] = Math.max(atOnce[group] ?? 0, now[group]);
        await pause(30);
        now[group] -= 1;
      }
      return { id: `${name}-id`, outputs: cloudAnswers.outputs?.[type]?.(inputs, name) ?? {} };
    },
  });
  return { rows, atOnce };
}
const etcd = { kind: "dedicated", flavor: "medium" } as const;

describe("machines in a server group", () => {
  it("are created one after the other for control planes and etcd", async () => {
    const { atOnce } = await build({ etcd });
    assert.deepEqual(atOnce, { "control-plane": 1, etcd: 1, "workers-general": 2 });
  });

  it("are created at the same time in different zones or without a server group", async () => {
    const { atOnce } = await build({ zones: ["a", "b", "c"], etcd });
    assert.deepEqual([atOnce["control-plane"], atOnce["etcd"]], [3, 3]);
    const controlPlane = { flavor: "medium", spread: "none" } as const;
    assert.equal((await build({ controlPlane })).atOnce["control-plane"], 3);
    assert.equal((await build({ zones: ["a", "b"] })).atOnce["control-plane"], 2);
  });

  it("do not depend on each other", async () => {
    const { rows } = await build({});
    const second = rows.find(({ name }) => name === "dev-control-plane-1-server");
    assert.ok(second);
    assert.deepEqual(
      second.dependencies.filter((urn) => urn.includes("control-plane-0")),
      [],
    );
  });
});
