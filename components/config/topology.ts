import { z } from "zod";
import { isPlainObject } from "../schema/merge-defaults.js";
import { doc, shortValue } from "../schema/fields.js";

export const topologies = ["single", "one-control-plane", "ha"] as const;
export type Topology = (typeof topologies)[number];

/** Limits that a topology sets, and its defaults for arguments that the user does not write. */
interface Preset {
  /** Allowed numbers of control planes. The first number is the default. */
  readonly controlPlanes: readonly [number, ...number[]];
  readonly schedulable: boolean;
  readonly endpoint: "floating-ip" | "load-balancer";
  /** Allowed number of workers, of all pools together. */
  readonly workers: { readonly least: number; readonly most: number };
}

const presets: Readonly<Record<Topology, Preset>> = {
  single: {
    controlPlanes: [1],
    schedulable: true,
    endpoint: "floating-ip",
    workers: { least: 0, most: 0 },
  },
  "one-control-plane": {
    controlPlanes: [1],
    schedulable: false,
    endpoint: "floating-ip",
    workers: { least: 1, most: Infinity },
  },
  ha: {
    controlPlanes: [3, 5],
    schedulable: false,
    endpoint: "load-balancer",
    workers: { least: 2, most: Infinity },
  },
};

export const topologySchema = z
  .enum(topologies, {
    error: ({ input }) =>
      `${shortValue(input)} is no topology; write one of ${topologies.join(", ")}`,
  })
  .optional()
  .meta(
    doc(
      "in place",
      "Shape of the cluster. `single`: one machine that does everything. `one-control-plane`: one control plane with workers. `ha`: three control planes behind a load balancer, with at least two workers. Other arguments override the topology's defaults; arguments that contradict the topology are refused.",
      "no defaults of a topology",
    ),
  );

/**
 * Returns the defaults of a topology. Without a topology, returns the defaults of
 * `one-control-plane`.
 */
export const getTopologyDefaults = (
  chosen: Topology | undefined,
): Pick<Preset, "schedulable" | "endpoint"> & { readonly count: number } => {
  const { controlPlanes, ...rest } = presets[chosen ?? "one-control-plane"];
  return { ...rest, count: controlPlanes[0] };
};

/** Taint of the nodes of a group, as the arguments contain it. */
type Taints = readonly { readonly effect: string }[];

interface Written {
  readonly topology?: Topology | undefined;
  /** Fields of `controlPlane` in the arguments. Absent if `controlPlane` is invalid. */
  readonly controlPlane?:
    | {
        readonly count?: number | undefined;
        readonly schedulable?: boolean | undefined;
        readonly taints?: Taints;
      }
    | undefined;
  readonly workers: Readonly<Record<string, { readonly count: number; readonly taints?: Taints }>>;
}

const wrong = (path: string[], input: unknown, message: string): z.core.$ZodRawIssue => ({
  code: "custom",
  path,
  input,
  message,
});

/** Reports arguments that contradict the chosen topology. */
export function findTopologyConflicts({ topology: chosen, ...of }: Written): z.core.$ZodRawIssue[] {
  if (chosen === undefined) return [];
  const { controlPlanes, workers } = presets[chosen];
  const count = of.controlPlane?.count;
  const machines = Object.values(of.workers).reduce((sum, pool) => sum + pool.count, 0);
  const other = "or leave `topology` out";
  const found: z.core.$ZodRawIssue[] = [];
  if (count !== undefined && !controlPlanes.includes(count))
    found.push(
      wrong(
        ["controlPlane", "count"],
        count,
        `${String(count)} is not what the topology ${chosen} has; write ${controlPlanes.join(" or ")}, ${other}`,
      ),
    );
  if (machines > workers.most)
    found.push(
      wrong(["workers"], of.workers, `the topology ${chosen} has none; leave them out, ${other}`),
    );
  if (machines < workers.least)
    found.push(
      wrong(
        ["workers"],
        of.workers,
        `the topology ${chosen} has at least ${String(workers.least)} workers; write pools with so many machines together, ${other}`,
      ),
    );
  return found;
}

/** Returns whether nodes with the taints accept pods that tolerate no taint. */
const acceptsAllPods = (taints: Taints = []): boolean =>
  taints.every(({ effect }) => effect === "PreferNoSchedule");

/**
 * Reports `samples` and `ingress` if no machine accepts their pods. A cluster without samples and
 * ingress may have no such machine, because workers may be added later.
 */
export function findUnschedulablePodConflicts({
  samples,
  ingress,
  ...of
}: Written & {
  readonly samples: boolean;
  readonly ingress?: { readonly kind: string } | undefined;
}): z.core.$ZodRawIssue[] {
  const { schedulable = getTopologyDefaults(of.topology).schedulable, taints } =
    of.controlPlane ?? {};
  const pools = Object.values(of.workers).filter(({ count }) => count > 0);
  if (schedulable && acceptsAllPods(taints)) return [];
  if (pools.some((pool) => acceptsAllPods(pool.taints))) return [];
  const what = {
    ...(samples && { samples }),
    ...(ingress?.kind === "service" && { ingress: ingress.kind }),
  };
  return Object.entries(what).map(([key, input]) =>
    wrong(
      [key],
      input,
      "has pods, and no machine without taints runs pods; write a worker's pool with a count and without taints, or leave it out",
    ),
  );
}

/**
 * Reports taints of control planes if all other machines have taints, too. The cluster's DNS
 * tolerates only the taint of kubeadm, so the DNS would run nowhere.
 */
export function findTaintConflicts({ controlPlane, workers }: Written): z.core.$ZodRawIssue[] {
  const groups = [controlPlane, ...Object.values(workers).filter(({ count }) => count > 0)];
  return groups.some((group) => acceptsAllPods(group?.taints))
    ? []
    : [
        wrong(
          ["controlPlane", "taints"],
          controlPlane?.taints,
          "leave no machine for the cluster's DNS; leave them out, or write a pool of workers without taints",
        ),
      ];
}

/**
 * Returns an error if the arguments have no group of machines that can run pods of the user.
 * Accepts unchecked arguments, so that this error appears together with all other errors.
 */
export function findMissingMachineGroupError(written: unknown): string | undefined {
  if (!isPlainObject(written)) return undefined;
  const { topology: chosen, controlPlane, workers = {} } = written;
  const schedulable = isPlainObject(controlPlane) ? controlPlane["schedulable"] : undefined;
  const runs = schedulable === true || (schedulable === undefined && chosen === "single");
  const pools = !isPlainObject(workers) || Object.keys(workers).length > 0;
  if (runs || pools) return undefined;
  return chosen === "single"
    ? "is missing, and `controlPlane.schedulable` is false; the topology single runs everything on its one machine: leave that out"
    : "is missing; write a pool like `general: {flavor: ..., count: 2}`, or `topology: single`";
}
