import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { Cluster, WorkerPool, type WorkerPoolArgs } from "../../components/index.js";
import type { ClusterComponentArgs } from "../../components/cluster-arguments.js";
import { cloudAnswers } from "../support/cloud/cloud-answers.js";
import { smallest } from "../support/config/spec.js";
import { graph, type GraphOptions, type Row } from "../support/graph/graph.js";
import { value } from "../support/graph/output-value.js";
import { nonEmpty } from "../support/non-empty.js";
import { named, reaches } from "./addons/addons-example.js";

type Pool = Omit<WorkerPoolArgs, "cluster">;
const gpu: Pool = { flavor: "gpu", count: 2, labels: { gpu: "yes" } };

interface Program {
  readonly pools?: Readonly<Record<string, Pool>>;
  readonly args?: Partial<ClusterComponentArgs>;
  readonly options?: (cluster: Cluster) => pulumi.ComponentResourceOptions;
  readonly after?: (cluster: Cluster, pools: readonly WorkerPool[]) => void;
}

/** Returns the resources of a cluster to which the program adds pools. */
const withPools = (
  { pools = { gpu }, args = {}, options, after }: Program = {},
  graphOptions: GraphOptions = {},
): Promise<readonly Row[]> =>
  graph(
    () => {
      const cluster = new Cluster("dev", { ...smallest, samples: true, ...args });
      const made = Object.entries(pools).map(
        ([name, pool]) => new WorkerPool(name, { ...pool, cluster }, options?.(cluster)),
      );
      after?.(cluster, made);
    },
    { ...cloudAnswers, ...graphOptions },
  );

/** Returns the resources of a cluster with the same pool in `workers`. */
const inWorkers = (): Promise<readonly Row[]> =>
  withPools({ pools: {}, args: { workers: { ...smallest.workers, gpu } } });

const messageOf = async (program: Promise<unknown>): Promise<string> => {
  try {
    await program;
  } catch (error) {
    return String(error);
  }
  throw new Error("the program was accepted");
};

describe("graph: WorkerPool", () => {
  it("registers the resources of a pool in workers, with the same names and inputs", async () => {
    const own = (await withPools()).filter(({ type }) => type !== WorkerPool.type);
    const built = await inWorkers();
    const shape = (rows: readonly Row[]) => rows.map(({ name, type }) => `${type} ${name}`).sort();
    assert.deepEqual(shape(own), shape(built));
    for (const { name, inputs } of nonEmpty(built.filter(({ name: one }) => /gpu/.test(one))))
      assert.deepEqual(named(own, name).inputs, inputs, name);
  });

  it("is a component below the cluster, and the parent of its machines", async () => {
    const rows = await withPools();
    const pool = named(rows, "gpu");
    assert.equal(pool.type, "stackadm:index:WorkerPool");
    assert.equal(pool.parent, named(rows, "dev").urn);
    const group = named(rows, "dev-workers-gpu");
    assert.equal(group.parent, pool.urn);
    assert.match(group.aliases.join(), /stackadm:index:Cluster\$stackadm:kubeadm:WorkerPool::/);
  });

  it("shows the same resources in a preview", async () => {
    const urns = (rows: readonly Row[]) => rows.map(({ urn }) => urn);
    assert.deepEqual(urns(await withPools({}, { preview: true })), urns(await withPools()));
  });

  it("has labels and taints like a pool in workers", async () => {
    const commandOf = (rows: readonly Row[]) =>
      named(rows, "dev-control-plane-0-init").inputs["create"];
    assert.match(String(commandOf(await withPools())), /gpu=yes/);
    assert.deepEqual(commandOf(await withPools()), commandOf(await inWorkers()));
  });

  it("exists until the cluster has released its load balancers and volumes", async () => {
    const rows = await withPools();
    const join = named(rows, "dev-workers-gpu-1-join").urn;
    for (const name of ["control-plane-teardown", "addons-samples-claim"]
      .concat("addons-samples-web-external", "addons-samples-web")
      .map((part) => `dev-${part}`))
      assert.ok(reaches(rows, named(rows, name).urn, join), name);
  });

  it("runs the script that drains a node before the server is deleted", async () => {
    const leave = named(await withPools(), "dev-workers-gpu-0-leave");
    const same = named(await inWorkers(), "dev-workers-gpu-0-leave");
    assert.deepEqual(leave.inputs, same.inputs);
    assert.equal(leave.replaceWith.length, 1);
  });

  it("is part of the outputs nodes and hostKeys of the cluster", async () => {
    const seen: unknown[] = [];
    await withPools({
      after: (cluster, pools) => {
        seen.push(cluster.nodes, cluster.hostKeys, ...pools.map(({ nodes }) => nodes));
      },
    });
    const [nodes, keys, own] = await Promise.all(
      seen.map((output) => value(output as pulumi.Output<{ name: string }[]>)),
    );
    const names = ["dev-gpu-0", "dev-gpu-1"];
    assert.deepEqual(
      nodes?.map(({ name }) => name),
      ["dev-control-plane-0", "dev-general-0", "dev-general-1", ...names],
    );
    assert.equal(keys?.length, 5);
    assert.deepEqual(
      own?.map(({ name }) => name),
      names,
    );
  });

  it("uses providers and transforms of the cluster below another parent, too", async () => {
    class Team extends pulumi.ComponentResource {
      constructor() {
        super("test:index:Team", "team");
      }
    }
    const rows = await graph(() => {
      const provider = new openstack.Provider("mine");
      const transforms: ClusterComponentArgs["transforms"] = {
        server: ({ props }) => ({ props: { ...props, tags: ["ours"] } }),
      };
      const cluster = new Cluster("dev", { ...smallest, transforms }, { provider });
      return new WorkerPool("gpu", { ...gpu, cluster }, { parent: new Team() });
    }, cloudAnswers);
    assert.match(named(rows, "gpu").parent, /Team::team$/);
    const { provider, inputs } = named(rows, "dev-workers-gpu-0-server");
    assert.match(provider, /::mine::/);
    assert.deepEqual(inputs["tags"], ["ours"]);
  });

  it("takes its name from the argument, and several pools may exist", async () => {
    const rows = await withPools({
      pools: { "team-a": { ...gpu, name: "gpu" }, batch: { flavor: "medium", count: 1 } },
    });
    assert.equal(named(rows, "dev-workers-gpu-0-server").inputs["name"], "dev-gpu-0");
    assert.equal(named(rows, "dev-workers-batch-0-server").inputs["name"], "dev-batch-0");
    assert.match(
      String(named(rows, "dev-control-plane-0-init").inputs["create"]),
      /dev-gpu gpu=yes/,
    );
  });
});

describe("graph: refusals of WorkerPool", () => {
  it("name the path and the value of each wrong argument, all at once", async () => {
    const wrong = { flavor: "", count: -1, lables: {} } as unknown as Pool;
    const message = await messageOf(withPools({ pools: { gpu: wrong } }));
    assert.match(message, /^ {2}flavor: "" does not name a flavor/m);
    assert.match(message, /^ {2}count: -1 is not the number of machines/m);
    assert.match(message, /^ {2}gpu: does not know \["lables"\]/m);
  });

  it("name a pool that the cluster has", async () => {
    const message = await messageOf(withPools({ pools: { general: gpu } }));
    assert.match(message, /name: "general" is already a pool of the cluster; write another name/);
    const twice = { one: { ...gpu, name: "gpu" }, two: { ...gpu, name: "gpu" } };
    assert.match(await messageOf(withPools({ pools: twice })), /"gpu" is already a pool/);
  });

  it("name the role that has this name", async () => {
    const message = await messageOf(withPools({ pools: { "control-plane": gpu } }));
    assert.match(message, /control-plane: is the name of the control-plane machines/);
  });

  it("cover arguments that the cluster must know earlier", async () => {
    const fixed = { ...gpu, nodes: { 1: { address: "10.0.0.50" } } };
    assert.match(
      await messageOf(withPools({ pools: { gpu: fixed } })),
      /nodes\.1\.address: 10\.0\.0\.50 is not reserved in the subnet/,
    );
    const volumes = { ...gpu, runtimeVolume: { size: 20 } };
    assert.match(
      await messageOf(withPools({ pools: { gpu: volumes } })),
      /volumes: are more than on the other machines/,
    );
  });

  it("cover a pool that is created after the program waited", async () => {
    const program = async (): Promise<WorkerPool> => {
      const cluster = new Cluster("dev", smallest);
      await delay(10);
      return new WorkerPool("gpu", { ...gpu, cluster });
    };
    let running = Promise.resolve<unknown>(undefined);
    const started = (): void => {
      running = program();
      running.catch(() => undefined);
    };
    await graph(started, cloudAnswers);
    await assert.rejects(running, /create the pool directly after `new Cluster`/);
  });

  it("cover another object in place of the cluster", async () => {
    const cluster = {} as unknown as Cluster;
    const other = graph(() => new WorkerPool("gpu", { ...gpu, cluster }), cloudAnswers);
    assert.match(await messageOf(other), /cluster: is not a Cluster of this program/);
  });
});
