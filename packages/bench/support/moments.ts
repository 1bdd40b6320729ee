import { z } from "zod";
import { KubernetesApi, readKubeAccess } from "../../../automation/verify/kubernetes-client.js";

/** Work on one resource. Times are milliseconds since 1970. */
export interface ResourceWork {
  /** Type of the resource. Only the part after the last colon is read: `Instance`, `Port`. */
  readonly type: string;
  readonly name: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Map from the name of a moment to the seconds from the start until this moment. */
export type Moments = Readonly<Record<string, number>>;

type Which = (one: ResourceWork) => boolean;

const kind = ({ type }: ResourceWork): string => type.split(":").at(-1) ?? "";
const isKind =
  (...kinds: readonly string[]): Which =>
  (one) =>
    kinds.includes(kind(one));
const step =
  (word: string): Which =>
  (one) =>
    kind(one) === "Command" && one.name.endsWith(`-${word}`);
/** Reports whether OpenStack creates the resource. */
const inCloud: Which = isKind("Network", "Router", "SecGroup", "Port", "Instance", "FloatingIp");

/**
 * Moments: the name, the resources that count, and a function that returns the first start, the
 * last start or the last end of their work.
 */
const rows: readonly (readonly [string, Which, (times: readonly ResourceWork[]) => number])[] = [
  ["first write", inCloud, (all) => Math.min(...all.map(({ startedAt }) => startedAt))],
  ["servers asked for", isKind("Instance"), (all) => last(all, "startedAt")],
  ["servers made", isKind("Instance"), (all) => last(all, "endedAt")],
  ["machines prepared", step("prepare"), (all) => last(all, "endedAt")],
  ["kubeadm init done", step("init"), (all) => last(all, "endedAt")],
  ["workers joined", step("join"), (all) => last(all, "endedAt")],
  ["services asked for", isKind("Service"), (all) => last(all, "startedAt")],
];

const last = (all: readonly ResourceWork[], which: "startedAt" | "endedAt"): number =>
  Math.max(...all.map((one) => one[which]));

const seconds = (milliseconds: number): number => Math.round(milliseconds / 100) / 10;

/**
 * Returns the seconds until each moment, from the recorded start and end of the work on each
 * resource.
 */
export function getMoments(work: readonly ResourceWork[], beganAt: number): Moments {
  const found = rows.flatMap(([name, which, when]) => {
    const mine = work.filter(which);
    return mine.length === 0 ? [] : [[name, seconds(when(mine) - beganAt)] as const];
  });
  return Object.fromEntries(found);
}

const listOf = <T extends z.ZodType>(item: T) => z.looseObject({ items: z.array(item) });
const conditioned = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  status: z.looseObject({
    conditions: z
      .array(
        z.looseObject({ type: z.string(), status: z.string(), lastTransitionTime: z.string() }),
      )
      .default([]),
  }),
});
type Conditioned = z.infer<typeof conditioned>;

/**
 * Returns the time at which the last object became ready, in milliseconds since 1970. Returns
 * undefined if no object is ready.
 */
function readyAt(all: readonly Conditioned[]): number | undefined {
  const times = all.flatMap(({ status }) =>
    status.conditions
      .filter(({ type, status: is }) => type === "Ready" && is === "True")
      .map(({ lastTransitionTime }) => Date.parse(lastTransitionTime)),
  );
  return times.length === 0 ? undefined : Math.max(...times);
}

const pods = (word: string) => (one: Conditioned) => one.metadata.name.includes(word);

function listing(kubeconfig: string): (path: string) => Promise<Conditioned[]> {
  const api = new KubernetesApi(readKubeAccess(kubeconfig));
  return async (path) => listOf(conditioned).parse(await api.get(path)).items;
}

/** Returns a map from each node's name to the seconds until the node became Ready. */
export async function readNodeReadyTimes(kubeconfig: string, beganAt: number): Promise<Moments> {
  const nodes = await listing(kubeconfig)("/api/v1/nodes");
  return Object.fromEntries(
    nodes.map((one) => [one.metadata.name, seconds((readyAt([one]) ?? NaN) - beganAt)]),
  );
}

/**
 * Returns the seconds until each part of the cluster became ready. The Kubernetes API reports these
 * times in whole seconds.
 */
export async function readClusterMoments(kubeconfig: string, beganAt: number): Promise<Moments> {
  const list = listing(kubeconfig);
  const [nodes, system, samples] = await Promise.all([
    list("/api/v1/nodes"),
    list("/api/v1/namespaces/kube-system/pods"),
    list("/api/v1/namespaces/stackadm-samples/pods"),
  ]);
  const times = {
    "nodes Ready": readyAt(nodes),
    "cloud controller ready": readyAt(system.filter(pods("cloud-controller"))),
    "pod network ready": readyAt(system.filter(pods("kube-router"))),
    "CSI ready": readyAt(system.filter(pods("csi"))),
    "web pods ready": readyAt(samples.filter(pods("web-"))),
    "writer ready": readyAt(samples.filter(pods("writer-"))),
  };
  const known = Object.entries(times).flatMap(([name, at]) =>
    at === undefined ? [] : [[name, seconds(at - beganAt)] as const],
  );
  return Object.fromEntries(known);
}
