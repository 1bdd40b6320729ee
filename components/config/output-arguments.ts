import { z } from "zod";
import type { OutputUse } from "../schema/fields.js";
import { clusterFieldsSchema } from "./cluster-spec.js";

/** Keys of objects and positions in lists that lead to an argument: `["allowedCidrs", 0]`. */
export type ArgumentPath = readonly (string | number)[];

const groups = ["controlPlane", "workers.<pool>", "etcd", "bastion"];
const inGroups = (...fields: readonly string[]): string[] =>
  groups.flatMap((group) => fields.map((field) => `${group}.${field}`));
const volumes = ["rootVolume", "runtimeVolume", "etcdVolume"];

/**
 * Arguments whose value must be known before the run, by the reason. A path stands for all
 * arguments below it. Each other argument accepts an output, and its schema says so (`inputField`
 * and `secretField` in schema/fields.ts). A test compares this table with the schema, so each new
 * argument needs a decision.
 */
export const plainArguments: Readonly<Record<string, readonly string[]>> = {
  "decides which resources exist": [
    ...["topology", "access", "etcd.kind", "samples", "sampleServices.external", "metricsServer"],
    ...["controlPlane.schedulable", ...inGroups("count", "spread", "nodes.<position>.address")],
    ...inGroups(...volumes, ...volumes.map((volume) => `nodes.<position>.${volume}`)),
    ...["endpoint.kind", "endpoint.public", "endpoint.provider", "endpoint.address"],
    ...["network.ipv6", "network.portSecurity", "loadBalancer.enabled", "loadBalancer.provider"],
    ...["cloudController.enabled", "blockStorage.snapshots", "podNetwork", "storageClasses"],
    ...["ingress.kind", "ingress.public", "ingress.pool", "ingress.replicas"],
    "addons",
  ],
  "is part of the names of resources": ["name", "apiName"],
  "is compared with the other ranges of the cluster": [
    ...["network.nodes", "network.pods", "network.services", "loadBalancer.network.range"],
  ],
  "decides which machines this run replaces, and in which zones": [
    ...["zones", "bastion.zone"],
    ...inGroups("generation", "zones", "nodes.<position>.generation", "nodes.<position>.zone"),
  ],
  "is an option of Pulumi's resources": [
    ...["protect", "openstackPlugin", "timeoutFactor", "ssh.bootMinutes"],
  ],
  "is compared with the login keys": ["ssh.revokedKeys"],
  "is part of the documents and scripts of machines, which are checked before the run": [
    ...inGroups("cloudInit", "steps", "labels", "taints"),
    ...["kubernetes", "ssh.user", "securityUpdates", "network.mtu", "network.proxy"],
  ],
  "is part of cloud.conf and of Kubernetes objects, which are checked before the run": [
    ...["loadBalancer", "cloudController", "blockStorage", "credential", "ingress"],
    ...["sampleServices.annotations", "endpoint.zone"],
  ],
};

/** JSON schema of an argument, reduced to the keywords that this file reads. */
interface Schema {
  readonly acceptsOutput?: OutputUse;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** JSON schema of a cluster's arguments. Built at first use, because few programs need it. */
let schemaOfClusters: Schema | undefined;

/** Returns the schemas of a union's members. Returns the schema itself if it is no union. */
const membersOf = ({ anyOf = [], oneOf = [], ...schema }: Schema): readonly Schema[] => [
  schema,
  ...[...anyOf, ...oneOf].flatMap(membersOf),
];

const below = (schema: Schema, key: string | number): readonly Schema[] => {
  if (typeof key === "number") return schema.items ? [schema.items] : [];
  const { properties, additionalProperties: others } = schema;
  const found = properties?.[key] ?? (typeof others === "object" ? others : undefined);
  return found ? [found] : [];
};

/** Returns how the argument at `path` accepts an output. Returns undefined if it accepts none. */
export function findOutputUse(path: ArgumentPath): OutputUse | undefined {
  schemaOfClusters ??= z.toJSONSchema(clusterFieldsSchema, {
    io: "input",
    unrepresentable: "any",
  }) as Schema;
  const found = path.reduce<readonly Schema[]>(
    (all, key) => all.flatMap((one) => below(one, key)).flatMap(membersOf),
    membersOf(schemaOfClusters),
  );
  return found.find(({ acceptsOutput }) => acceptsOutput)?.acceptsOutput;
}

/** Returns whether the path of the table leads to the argument, or to an object that contains it. */
const matches = (row: string, path: ArgumentPath): boolean => {
  const parts = row.split(".");
  return (
    parts.length <= path.length &&
    parts.every((part, index) => part.startsWith("<") || part === path[index])
  );
};

/**
 * Returns the error message for an output at a path that accepts none. The path may lead to an
 * object or a list, whose keys or length must be known.
 */
export function describePlainArgument(path: ArgumentPath): string {
  const rows = Object.entries(plainArguments).flatMap(([reason, paths]) =>
    paths.filter((row) => matches(row, path)).map((row) => ({ row, reason })),
  );
  const [nearest] = rows.sort((one, other) => other.row.length - one.row.length);
  const reason = nearest?.reason ?? "is an object or a list, whose keys or length must be known";
  return `is an Output, whose value a preview may not know, and it ${reason}; write a plain value`;
}
