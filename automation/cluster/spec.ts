import { parse } from "yaml";
import type { ClusterNeeds } from "../../cloud/needs.js";
import { parseClusterSpec, type ClusterSpec } from "../../components/cluster-spec.js";
import { isFields, merge, preferredKey } from "../../components/spec/defaults.js";
import { readSite } from "../../components/support/site.js";
import { ClusterError } from "./cluster-error.js";

export interface SpecSources {
  readonly project: string;
  readonly stack: string;
  /** Text of the stack's settings file. */
  readonly settings: string;
  /** Path of the site's defaults (STACKADM_SITE). */
  readonly siteFile?: string;
  /** The agent's keys: one of them is the login key when the stack names none. */
  readonly agentKeys?: readonly string[];
}

/** The cluster that the stack's settings describe, as the program will see it. All problems in one error. */
export function clusterSpecOf(sources: SpecSources): ClusterSpec {
  const settings = parse(sources.settings) as unknown;
  const config = isFields(settings) ? settings["config"] : undefined;
  const written = isFields(config) ? config[`${sources.project}:cluster`] : undefined;
  const read = readSite(sources.siteFile);
  if ("problem" in read) throw invalid("The environment", [read.problem]);
  const publicKey = preferredKey(sources.agentKeys ?? []);
  const defaults = { name: sources.stack, ssh: publicKey === undefined ? {} : { publicKey } };
  const result = parseClusterSpec(merge(merge(defaults, read.site), written ?? {}));
  if ("spec" in result) return result.spec;
  throw invalid(`Pulumi.${sources.stack}.yaml`, result.problems);
}

type Problems = readonly { readonly path: string; readonly message: string }[];

const invalid = (where: string, problems: Problems): ClusterError =>
  new ClusterError(
    "INVALID_CONFIG",
    `${where} is not valid:\n${problems.map(({ path, message }) => `  ${path}: ${message}`).join("\n")}`,
    "Correct it and run the same command again; nothing was changed.",
  );

/** The names of the machines, in the order in which they are made. */
export const machineNames = (spec: ClusterSpec): string[] => [
  `${spec.name}-control-plane-0`,
  ...Object.entries(spec.workers).flatMap(([pool, { count }]) =>
    Array.from({ length: count }, (_, index) => `${spec.name}-${pool}-${index}`),
  ),
];

/** What the cluster will ask of its cloud. */
export function needsOf(spec: ClusterSpec): ClusterNeeds {
  const machines = machineNames(spec);
  const flavors: Record<string, number> = { [spec.controlPlane.flavor]: 1 };
  for (const { flavor, count } of Object.values(spec.workers))
    flavors[flavor] = (flavors[flavor] ?? 0) + count;
  // The sample services: two load balancers with a port and a group each, one floating IP, one volume of 1 GiB.
  const services = spec.samples ? 2 : 0;
  return {
    cluster: spec.name,
    images: [spec.image],
    externalNetwork: spec.externalNetwork,
    flavors,
    volumeTypes: spec.storageClasses.flatMap(({ type }) => (type === undefined ? [] : [type])),
    zones: spec.zones,
    loadBalancerProvider: spec.loadBalancer.provider,
    names: [
      ...machines.map((name) => ({ kind: "server" as const, name })),
      { kind: "network", name: spec.name },
      { kind: "router", name: spec.name },
    ],
    counts: {
      networks: 1,
      subnets: 1,
      routers: 1,
      // Machines, the router's interface, DHCP, the load balancers' addresses.
      ports: machines.length + 2 + services,
      "floating IPs": 1 + (spec.samples ? 1 : 0),
      "security groups": 2 + services,
      volumes: spec.samples ? 1 : 0,
      "volume gigabytes": spec.samples ? 1 : 0,
      "load balancers": services,
      "server groups": 1 + Object.keys(spec.workers).length,
    },
  };
}
