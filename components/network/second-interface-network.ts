import type * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../config/cluster-spec.js";
import type { CloudObjects } from "../lookup/cloud-objects.js";
import type { FoundAdminNetwork } from "../lookup/existing-network.js";
import type { Firewall } from "./firewall.js";

/** Network of the machines' second interfaces, and the security groups of these interfaces. */
export interface AdminNetwork {
  readonly found: pulumi.Output<FoundAdminNetwork>;
  readonly securityGroupIds: readonly pulumi.Input<string>[];
}

/** Returns the network of the second interfaces, or undefined if machines have one interface. */
export const getAdminNetwork = ({
  spec,
  objects,
  firewall,
}: {
  readonly spec: Pick<ClusterSpec, "network">;
  readonly objects: CloudObjects;
  readonly firewall: Firewall;
}): AdminNetwork | undefined =>
  spec.network.admin && {
    found: objects.adminNetwork,
    securityGroupIds: firewall.adminGroupIds,
  };
