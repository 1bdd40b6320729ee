import * as pulumi from "@pulumi/pulumi";
import { checkArguments } from "./check-arguments.js";
import { requiredLookups } from "./cloud-requirements.js";
import type { Cluster } from "./cluster.js";
import type { NodeOutput } from "./cluster-outputs.js";
import { getKnownHostsLines, getNodeOutputs } from "./cluster-outputs.js";
import type { ClusterArgs, ClusterSpec } from "./config/cluster-spec.js";
import { lookUpCloud } from "./lookup/cloud-lookup.js";
import { CloudObjects } from "./lookup/cloud-objects.js";
import { planCluster } from "./plan/cluster-plan.js";
import { countAttachableVolumes } from "./plan/volumes.js";
import { Component } from "./pulumi/component.js";
import { createArgumentError, type ArgumentProblem } from "./pulumi/errors.js";
import { findPoolHost, type PoolHost } from "./worker-pools.js";

type PoolArgs = NonNullable<ClusterArgs["workers"]>[string];

/** Arguments of {@link WorkerPool}: those of a pool in `workers`, and the cluster. */
export type WorkerPoolArgs = PoolArgs & {
  /** Cluster that the machines join. A change creates other machines and deletes these. */
  readonly cluster: Cluster;
  /**
   * Name of the pool, which the names of its machines contain: `<cluster>-<name>-<position>`. A
   * change creates other machines and deletes these.
   * @default the name of the component
   */
  readonly name?: string;
};

/**
 * Pool of workers that a program adds to a cluster of the same program. The pool behaves like one in
 * the cluster's argument `workers`: its machines join, change and are replaced one at a time, in one
 * order with all other machines of the cluster. Create the pool before the program waits for
 * anything after `new Cluster`.
 *
 * @example
 * new WorkerPool("gpu", { cluster, flavor: "g1.large", count: 2, labels: { gpu: "true" } });
 */
export class WorkerPool extends Component {
  static readonly type = "stackadm:index:WorkerPool";
  readonly poolName: string;
  /** Machines of the pool. The output `nodes` of the cluster contains them, too. */
  readonly nodes: pulumi.Output<NodeOutput[]>;
  /** Lines of a known_hosts file, one for each machine. */
  readonly hostKeys: pulumi.Output<string[]>;

  constructor(name: string, args: WorkerPoolArgs, opts?: pulumi.ComponentResourceOptions) {
    const { cluster, name: poolName = name, ...pool } = args;
    const host = findPoolHost(cluster);
    super(WorkerPool.type, name, host ? placeAt(cluster, host, opts) : opts);
    this.poolName = poolName;
    if (!host)
      throw createArgumentError(this, [
        {
          path: "cluster",
          message: "is not a Cluster of this program; write the object of `new Cluster`",
        },
      ]);
    const before = host.pools.spec;
    const spec = this.check(host, pool);
    const objects = lookUpMore(this, host, { before, spec });
    host.pools.spec = spec;
    const place = { parent: this, ...(objects && { objects }) };
    const { members } = host.pools.add(poolName, place).pool;
    this.nodes = getNodeOutputs(members, host.access);
    this.hostKeys = getKnownHostsLines(members, host.access);
    this.registerOutputs({});
  }

  /** Returns the specification with this pool. Throws one error that lists all problems. */
  private check({ pools, operator }: PoolHost, pool: PoolArgs): ClusterSpec {
    const { poolName: name } = this;
    const { workers } = pools.spec;
    if (pools.closed)
      throw createArgumentError(this, [
        {
          path: "cluster",
          message:
            "was created before the program waited for something; create the pool directly after `new Cluster`, before an `await`",
        },
      ]);
    if (name in workers)
      throw createArgumentError(this, [
        { path: "name", message: `"${name}" is already a pool of the cluster; write another name` },
      ]);
    const args = { ...pools.spec, workers: { ...workers, [name]: pool } };
    const result = checkArguments(args, operator?.files);
    const problems =
      "problems" in result ? result.problems : findLateProblems(name, pools.spec, result.spec);
    if (problems.length > 0 || "problems" in result)
      throw createArgumentError(
        this,
        problems.map(({ path, message }) => ({ path: shorten(path, name), message })),
      );
    return result.spec;
  }
}

/** Returns the path below the pool's arguments. Paths of the cluster stay as they are. */
function shorten(path: string, pool: string): string {
  const start = `cluster.workers.${pool}`;
  return path === start ? pool : path.startsWith(`${start}.`) ? path.slice(start.length + 1) : path;
}

/** Returns problems of arguments that other parts of the cluster would have to know earlier. */
function findLateProblems(
  name: string,
  before: ClusterSpec,
  spec: ClusterSpec,
): readonly ArgumentProblem[] {
  const fixed = Object.entries(spec.workers[name]?.nodes ?? {}).flatMap(([position, one]) =>
    one.address === undefined
      ? []
      : [
          {
            path: `nodes.${position}.address`,
            message: `${one.address} is not reserved in the subnet, which the cluster created without this pool; leave it out, or write the pool in \`workers\``,
          },
        ],
  );
  const count = (of: ClusterSpec): number =>
    countAttachableVolumes(
      planCluster(of).groups.flatMap(({ machines }) => machines),
      of.network.admin ? 2 : 1,
    );
  const volumes =
    count(spec) < count(before)
      ? [
          {
            path: "volumes",
            message:
              "are more than on the other machines, so the storage driver would attach too many to these; write fewer, or write the pool in `workers`",
          },
        ]
      : [];
  return [...fixed, ...volumes];
}

/**
 * Returns the options of the pool. Its parent is the cluster, unless the user chose another one. A
 * pool below another parent also gets the providers and transforms of the cluster.
 */
function placeAt(
  cluster: Cluster,
  host: PoolHost,
  opts: pulumi.ComponentResourceOptions = {},
): pulumi.ComponentResourceOptions {
  if (opts.parent === undefined || opts.parent === cluster) return { ...opts, parent: cluster };
  const inherited = ["openstack", "command"].flatMap(
    (name) => cluster.getProvider(`${name}:index:Any`) ?? [],
  );
  const { transforms, transformations } = host.options;
  const ofCluster = {
    providers: inherited,
    ...(transforms && { transforms }),
    ...(transformations && { transformations }),
  };
  return pulumi.mergeOptions(ofCluster, opts);
}

/**
 * Returns the images, flavors and security groups of the pool. Returns undefined if the cluster has
 * all of them.
 */
function lookUpMore(
  pool: WorkerPool,
  { cloud, operator }: PoolHost,
  { before, spec }: { readonly before: ClusterSpec; readonly spec: ClusterSpec },
): CloudObjects | undefined {
  const known = requiredLookups(before);
  const { cluster, machines = [], openstackPlugin, ...names } = requiredLookups(spec);
  const lacking = (all: readonly string[] = [], some: readonly string[] = []): string[] =>
    all.filter((one) => !some.includes(one));
  const more = {
    images: lacking(names.images, known.images),
    flavors: lacking(names.flavors, known.flavors),
    securityGroups: lacking(names.securityGroups, known.securityGroups),
  };
  if (Object.values(more).every((list) => list.length === 0)) return undefined;
  const others = new Set(known.machines?.map(({ name }) => name));
  const wanted = {
    ...more,
    ...(cluster !== undefined && { cluster }),
    ...(openstackPlugin !== undefined && { openstackPlugin }),
    machines: machines.filter(({ name }) => !others.has(name)),
  };
  const opts = { parent: pool };
  const found = pulumi.output(lookUpCloud(wanted, opts, operator));
  const facts = pulumi.all([cloud, found]).apply(([facts, added]) => ({
    ...facts,
    imageIds: { ...facts.imageIds, ...added.imageIds },
    flavorIds: { ...facts.flavorIds, ...added.flavorIds },
    securityGroupIds: { ...facts.securityGroupIds, ...added.securityGroupIds },
  }));
  return new CloudObjects(wanted, facts, opts);
}
