import type { CloudClient, ServiceType } from "../client/cloud-client.js";
import type { CloudObject, CloudObjectKind } from "./inventory.js";
import { keptKey, keptTag } from "./ownership.js";

interface MarkRequest {
  readonly service: ServiceType;
  readonly method: "PUT" | "POST";
  readonly path: string;
  readonly body?: unknown;
}

type CreateRequest = (object: CloudObject) => MarkRequest;

const tagInNeutron =
  (collection: string): CreateRequest =>
  ({ id }) => ({
    service: "network",
    method: "PUT",
    path: `/${collection}/${id}/tags/${encodeURIComponent(keptTag)}`,
  });

const metadata =
  (service: ServiceType, collection: string): CreateRequest =>
  ({ id }) => ({
    service,
    method: "POST",
    path: `/${collection}/${id}/metadata`,
    body: { metadata: { [keptKey]: "retained" } },
  });

/**
 * Requests that mark an object as kept, by kind. Server groups, key pairs and application
 * credentials have neither tags nor metadata.
 */
const requests: Readonly<Partial<Record<CloudObjectKind, CreateRequest>>> = {
  "load balancer": ({ id, tags }) => ({
    service: "load-balancer",
    method: "PUT",
    path: `/lbaas/loadbalancers/${id}`,
    body: { loadbalancer: { tags: [...tags, keptTag] } },
  }),
  server: metadata("compute", "servers"),
  "floating IP": tagInNeutron("floatingips"),
  "volume snapshot": metadata("volumev3", "snapshots"),
  volume: metadata("volumev3", "volumes"),
  router: tagInNeutron("routers"),
  port: tagInNeutron("ports"),
  subnet: tagInNeutron("subnets"),
  network: tagInNeutron("networks"),
  "security group": tagInNeutron("security-groups"),
};

/** Returns whether objects of the kind can be marked as kept. */
export const canBeMarkedAsKept = ({ kind }: Pick<CloudObject, "kind">): boolean =>
  requests[kind] !== undefined;

/** Marks an object as kept. Does nothing for kinds that cannot be marked. */
export async function markAsKept(client: CloudClient, object: CloudObject): Promise<void> {
  const request = requests[object.kind]?.(object);
  if (request) await client.request(request.service, request.method, request.path, request.body);
}
