import * as pulumi from "@pulumi/pulumi";
import type { ClusterNodes } from "./cluster-part-types.js";
import type { ClusterSpec } from "./config/cluster-spec.js";
import type { ControlPlane } from "./kubeadm/control-planes.js";
import type { WorkerPool } from "./kubeadm/worker-pool.js";
import type { CloudFacts } from "./lookup/cloud-lookup.js";
import type { LocalContext } from "./lookup/local-context.js";
import type { CommonMachineSettings } from "./machine/machine.js";
import type { MachineConnections } from "./machine/machine-connections.js";
import { planCluster, type PlannedGroup } from "./plan/cluster-plan.js";
import type { RemoteScript } from "./remote-scripts/remote-script.js";

/** Pool, and the scripts after which the nodes of its machines exist. */
export interface JoinedPool {
  readonly pool: WorkerPool;
  readonly joins: readonly RemoteScript[];
}

/** Place of a pool that the program adds. */
export interface PoolPlace {
  /** Component above the machines. @default the cluster */
  readonly parent?: pulumi.Resource;
  /** Images, flavors and security groups of the pool. @default the objects of the cluster */
  readonly objects?: CommonMachineSettings["objects"];
}

/** Function that creates the machines of a pool and joins them to the cluster. */
type JoinPool = (planned: PlannedGroup, place: PoolPlace) => JoinedPool;

/**
 * Worker pools of a cluster: those of its arguments, and those that the program adds. Parts of the
 * cluster that need all pools wait for the promises of this object. They resolve in the turn of the
 * event loop after the one in which the program created the cluster.
 */
export class WorkerPools {
  readonly #joined: JoinedPool[] = [];
  #join: JoinPool | undefined;
  #closed = false;
  /** Specification with all pools. */
  readonly whole: Promise<ClusterSpec>;
  readonly #all: Promise<readonly JoinedPool[]>;

  constructor(public spec: ClusterSpec) {
    const closing = new Promise<void>((resolve) => {
      const close = (): void => {
        this.#closed = true;
        resolve();
      };
      // Node runs one of them before the answer of a wait in the program.
      setImmediate(close);
      setTimeout(close, 0);
    });
    this.whole = closing.then(() => this.spec);
    this.#all = closing.then(() => this.#joined);
  }

  /** Whether parts of the cluster were already created without further pools. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Sets the function that joins pools, when the parts that it needs exist. */
  open(join: JoinPool): void {
    this.#join = join;
  }

  /** Creates the pool `name` of the specification. */
  add(name: string, place: PoolPlace = {}): JoinedPool {
    const planned = planCluster(this.spec).groups.find(({ pool }) => pool === name);
    if (!this.#join || !planned) throw new RangeError(`there is no pool ${name}`);
    const made = this.#join(planned, place);
    this.#joined.push(made);
    return made;
  }

  /** Returns the machines that are nodes, and the scripts that join them. */
  listNodes({ members: leading, scripts }: ControlPlane): ClusterNodes {
    const members = this.#all.then((all) => [
      ...leading,
      ...all.flatMap(({ pool }) => pool.members),
    ]);
    const joins = this.#all.then((all) => all.flatMap((one) => one.joins));
    const versions = joins.then((all) =>
      [...scripts, ...all].map((one) => pulumi.unsecret(one.getStableResult("kubernetes"))),
    );
    return { members, joins, versions };
  }
}

/** Facts about a cluster for a pool that the program adds. */
export interface PoolHost {
  readonly pools: WorkerPools;
  readonly cloud: pulumi.Output<CloudFacts>;
  readonly operator: LocalContext | undefined;
  readonly access: MachineConnections;
  /** Options that the cluster gives to all its resources. */
  readonly options: pulumi.ComponentResourceOptions;
}

/** Hosts by their cluster. The fields of the component stay those that users need. */
const hosts = new WeakMap<object, PoolHost>();

export const setPoolHost = (cluster: pulumi.Resource, host: PoolHost): void => {
  hosts.set(cluster, host);
};
export const findPoolHost = (cluster: unknown): PoolHost | undefined =>
  typeof cluster === "object" && cluster !== null ? hosts.get(cluster) : undefined;
