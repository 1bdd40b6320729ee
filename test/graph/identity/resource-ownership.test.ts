import { strict as assert } from "node:assert";
import { inventoryKinds, type CloudObject } from "../../../openstack/inventory/inventory.js";
import { getOwnership } from "../../../openstack/inventory/ownership.js";
import { inventoryKindOfType } from "../../../automation/pulumi/pending-operations.js";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { object } from "../../support/cloud/cloud-object.js";
import { graph, type Fields, type GraphOptions, type Row } from "../../support/graph/graph.js";
import { smallest } from "../../support/config/spec.js";

/** Clusters that have every object that a cluster can own. */
const clusters: Readonly<Record<string, Partial<ClusterArgs>>> = {
  "with load balancers": {
    topology: "ha",
    endpoint: { kind: "load-balancer" },
    ingress: { kind: "workers", pool: "general" },
    access: "bastion",
    bastion: { flavor: "tiny" },
    workers: { general: { flavor: "medium", count: 2, runtimeVolume: { size: 10 } } },
  },
  "with a virtual IP in existing networks": {
    topology: "ha",
    endpoint: { kind: "virtual-ip" },
    network: {
      existing: { network: "office" },
      admin: { network: "ops", allowedCidrs: ["198.51.100.0/24"] },
    },
  },
};

const subnets: Readonly<Record<string, Fields>> = {
  office: { id: "office", name: "machines", cidr: "10.0.0.0/24", ipVersion: 4 },
  ops: { id: "ops", name: "ops", cidr: "10.9.0.0/24", ipVersion: 4 },
};
const lookups: GraphOptions["lookups"] = {
  ...cloudAnswers.lookups,
  "openstack:networking/getNetwork:getNetwork": ({ name, external }) =>
    external === true
      ? { id: "external-network-id", name: "public" }
      : { id: `network-${String(name)}`, mtu: 1450, subnets: [String(name)] },
  "openstack:networking/getSubnet:getSubnet": ({ subnetId }) => subnets[String(subnetId)] ?? {},
};

/**
 * Returns an object directly after its create request: a second request sets tags, except in
 * Octavia.
 */
const inFirstMoment = (kind: CloudObject["kind"], { inputs }: Row): CloudObject =>
  object({
    ...inputs,
    kind,
    tags: kind === "load balancer" ? (inputs["tags"] as string[]) : [],
  });

describe("the cloud objects of a cluster", () => {
  const seen = new Set<CloudObject["kind"]>();

  for (const [title, args] of Object.entries(clusters))
    it(`carry the cluster's identity from their creation on, ${title}`, async () => {
      const rows = await graph(() => new Cluster("dev", { ...smallest, ...args }), {
        ...cloudAnswers,
        lookups,
      });
      const unmarked = rows.filter((row) => {
        const kind = inventoryKindOfType[row.type];
        if (kind === undefined) return false;
        seen.add(kind);
        const mark = getOwnership(inFirstMoment(kind, row))?.mark;
        return mark?.name !== "dev" || !/^[0-9a-f]{12}$/.test(mark.identity);
      });
      assert.deepEqual(
        unmarked.map(({ type, name }) => `${type} ${name}`),
        [],
      );
    });

  it("include every inventory kind except volume snapshots and key pairs", () => {
    const others = inventoryKinds.filter((kind) => !seen.has(kind));
    assert.deepEqual(others, ["volume snapshot", "key pair"]);
  });
});
