import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { Cluster } from "../../../components/cluster.js";
import { getNamesByPath } from "../../../components/lifecycle/immutable-values.js";
import { planCluster } from "../../../components/plan/cluster-plan.js";
import { renderFrozenValues } from "../../../components/config/immutable-fields.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import {
  allGroups,
  living,
  update,
  type Recorded,
  type State,
  type Values,
} from "../../support/graph/immutable-values-update.js";
import { graph, type Fields, type Row } from "../../support/graph/graph.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest, specOf } from "../../support/config/spec.js";

describe("FrozenValues", () => {
  it("refuses all changed values in one error, also in a preview", async () => {
    await assert.rejects(update({ a: "1", b: "2", c: "3" }, { a: "1", b: "3", c: "4" }, living), {
      message: [
        "[INVALID_CONFIG] The specification of the existing cluster dev is not valid:",
        "  cluster.b: 2 cannot become 3 while the cluster exists; write 2 again, or destroy the cluster and create it again",
        "  cluster.c: 3 cannot become 4 while the cluster exists; write 3 again, or destroy the cluster and create it again",
      ].join("\n"),
    });
  });

  it("knows groups and machines by the names of the cluster's resources", async () => {
    const rows = await graph(() => new Cluster("dev", allGroups), cloudAnswers);
    const made = new Set(rows.map(({ name }) => name));
    const names = Object.values(getNamesByPath(planCluster(specOf(allGroups))));
    assert.equal(names.length, 4 + 1 + 2 + 3 + 1);
    for (const name of names) assert.ok(made.has(`dev-${name}`), name);
  });

  it("accepts added, removed and unknown values", async () => {
    await update({ a: "1" }, { b: "2" }, living);
    await update({ a: "1" }, { a: pulumi.unknown }, living);
    await update(undefined, { a: "1" }, living);
  });

  it("accepts changed values until the state has a Kubernetes object of the cluster", async () => {
    const others = { "other-provider": "pulumi:providers:kubernetes", "dev-seed": "command:x:Y" };
    await update({ a: "1" }, { a: "2" }, others);
    await update({ a: "1" }, { a: "2" }, {});
    await assert.rejects(update({ a: "1" }, { a: "2" }, { "dev-x": "kubernetes:core/v1:Secret" }));
  });

  describe("for a group of machines", () => {
    const size = (gib: string): Values => ({ "workers.gpu.runtimeVolume.size": gib });
    const server = "openstack:compute/instance:Instance";
    const made: State = { "dev-workers-gpu-0-server": server };

    it("refuses to add or remove a volume of existing machines in any state", async () => {
      const path = "cluster.workers.gpu.runtimeVolume.size";
      for (const [before, now, sentence] of [
        [{}, size("25"), `${path}: a separate volume cannot be added to existing machines; leave`],
        [size("25"), {}, `${path}: a separate volume cannot be removed from existing machines; w`],
      ] as const)
        for (const state of [made, { ...living, ...made }, undefined])
          await assert.rejects(update(before, now, state), (error: Error) =>
            error.message.includes(sentence),
          );
    });

    it("accepts another size of an existing volume", async () => {
      await update(size("25"), size("50"), { ...living, ...made });
    });

    it("accepts added and removed volumes while the group has no machine", async () => {
      const others = {
        "dev-workers-gpu-big-0-server": server,
        "dev-control-plane-0-server": server,
      };
      for (const [before, now] of [...[[{}, size("25")] as const, [size("25"), {}] as const]])
        await update(before, now, { ...living, ...others });
    });

    it("refuses to add a volume to existing etcd machines and bastions", async () => {
      for (const [path, name] of [
        ["etcd.etcdVolume.size", "dev-etcd-2-server"],
        ["bastion.rootVolume.size", "dev-bastion-0-server"],
      ] as const) {
        await update({}, { [path]: "9" }, { ...living, ...made });
        await assert.rejects(
          update({}, { [path]: "9" }, { [name]: server }),
          new RegExp(
            `cluster\\.${path}: a separate volume cannot be added to existing machines; leave it out`,
          ),
        );
      }
    });

    it("accepts the removal of a whole group", async () => {
      const gone = { "workers.former.runtimeVolume.size": "25" };
      await update(gone, {}, { ...living, "dev-workers-former-0-server": server });
    });
  });

  describe("for a single machine", () => {
    const at = (position: number, address: string): Values => ({
      [`workers.gpu.nodes.${String(position)}.address`]: address,
    });
    const state: State = {
      ...living,
      "dev-workers-gpu-0-server": "openstack:compute/instance:Instance",
      "dev-workers-gpu-7-server": "openstack:compute/instance:Instance",
    };

    it("refuses to add, remove or change the address of an existing machine", async () => {
      for (const [before, now] of [
        ...[[{}, at(0, "10.0.0.50")] as const, [at(0, "10.0.0.50"), {}] as const],
        [at(0, "10.0.0.50"), at(0, "10.0.0.51")] as const,
      ])
        await assert.rejects(update(before, now, state), /workers\.gpu\.nodes\.0\.address: 10/);
    });

    it("refuses to add a volume to an existing machine", async () => {
      const volume = (position: number): Values => ({
        [`workers.gpu.nodes.${String(position)}.runtimeVolume.size`]: "50",
      });
      await update({}, volume(1), state);
      await assert.rejects(
        update({}, volume(0), state),
        /workers\.gpu\.nodes\.0\.runtimeVolume\.size: a separate volume cannot be added/,
      );
    });

    it("accepts the addresses of added and removed machines", async () => {
      await update({}, at(1, "10.0.0.51"), state);
      await update(at(7, "10.0.0.57"), {}, state);
    });
  });

  describe("with changed generations", () => {
    const server = (name: string, metadata?: Fields): [string, Recorded] => [
      `${name}-server`,
      { type: "openstack:compute/instance:Instance", outputs: { name, metadata } },
    ];
    const state = {
      ...living,
      ...Object.fromEntries([
        ...[0, 1].map((position) =>
          server(`dev-control-plane-${String(position)}`, { "stackadm-generation": "4" }),
        ),
        ...[server("dev-bastion-0", {}), server("dev-general-0"), server("other-general-0")],
      ]),
    };
    const raised = { "controlPlane.generation": "5 5" };

    it("passes the generations of servers in the state to `replacements`", async () => {
      const told: unknown[] = [];
      await update({}, raised, state, {
        replacements: (existing) => (told.push([...existing].sort()), []),
      });
      assert.deepEqual(told, [
        [
          ["dev-bastion-0", "0"],
          ...[0, 1].map((position) => [`dev-control-plane-${String(position)}`, "4"]),
          ["dev-general-0", "0"],
        ],
      ]);
    });

    it("reports problems of replacements together with changed values", async () => {
      const problem = { path: "cluster.controlPlane.generation", message: "no" };
      await assert.rejects(
        update({ a: "1" }, { a: "2", ...raised }, state, { replacements: () => [problem] }),
        /cluster\.a: 1 cannot become 2 .*\n {2}cluster\.controlPlane\.generation: no$/,
      );
    });

    it("does not call `replacements` without a changed generation or a state", async () => {
      const never = { replacements: (): never => assert.fail("asked") };
      await update({ a: "1", ...raised }, { b: "2", ...raised }, state, never);
      await update({}, raised, undefined, never);
    });
  });

  it("refuses changed values if the state is unavailable", async () => {
    await assert.rejects(update({ a: "1" }, { a: "2" }, undefined), /existing cluster/);
  });
});

describe("the immutable values of a cluster", () => {
  const build = (over: Partial<ClusterArgs> = {}): Promise<readonly Row[]> =>
    graph(() => {
      new Cluster("dev", { ...smallest, ...over });
    }, cloudAnswers);
  const named = (some: readonly Row[], name: string): Row => {
    const found = some.find((row) => row.name === name);
    assert.ok(found, name);
    return found;
  };
  const values = (some: readonly Row[]): Readonly<Record<string, string>> =>
    named(some, "dev-frozen").inputs["environment"] as Readonly<Record<string, string>>;
  let rows: readonly Row[];
  before(async () => {
    rows = await build();
  });

  it("are recorded in plain text by path, and compared before their update", () => {
    const { type, inputs, hooks, replaceOnChanges } = named(rows, "dev-frozen");
    assert.equal(type, "command:local:Command");
    // Without `create` nothing runs, and only `triggers` would replace the resource.
    assert.deepEqual(Object.keys(inputs), ["environment"]);
    assert.deepEqual(replaceOnChanges, ["triggers[*]"]);
    assert.deepEqual(hooks, ["check-dev-frozen"]);
    assert.equal(values(rows)["network.pods"], "10.244.0.0/16");
  });

  it("contain the ID of the external network, also if the user writes its name", async () => {
    const byId = await build({ externalNetwork: "0b1c2d3e-0000-4000-8000-000000000000" });
    assert.equal(values(rows)["externalNetwork"], "external-network-id");
    assert.deepEqual(values(byId), values(rows));
  });

  it("are registered before every other child of the cluster", () => {
    const children = rows.filter(({ parent }) => parent.endsWith(`${Cluster.type}::dev`));
    const first = children.filter(
      ({ dependencies }) => !dependencies.some((one) => one.endsWith("::dev-frozen")),
    );
    assert.deepEqual(
      first.map(({ name }) => name),
      ["dev-frozen"],
    );
    assert.deepEqual(named(rows, "dev-frozen").dependencies, []);
  });

  it("contain a group's volumes, which the init script does not receive", async () => {
    const pool = { flavor: "medium", count: 1, runtimeVolume: { size: 25, type: "fast" } };
    const some = await build({ workers: { gpu: pool } });
    const volumes = Object.entries(values(some)).filter(([path]) => path.includes("Volume"));
    assert.deepEqual(volumes, [["workers.gpu.runtimeVolume.size", "a volume of its own"]]);
    const read = renderSentScript(named(some, "dev-control-plane-0-init").inputs);
    assert.ok(!read.includes("runtimeVolume"));
    assert.ok(!Object.keys(values(rows)).some((path) => path.includes("Volume")));
  });

  it("are passed to the init script", () => {
    const read = renderSentScript(named(rows, "dev-control-plane-0-init").inputs);
    assert.ok(read.includes(`FROZEN='${renderFrozenValues(values(rows))}'\n`));
  });
});
