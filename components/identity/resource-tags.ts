import * as pulumi from "@pulumi/pulumi";
import {
  clusterDescription,
  clusterMetadata,
  clusterTags,
  serverGroupName,
  type ClusterMark,
} from "../../openstack/inventory/ownership.js";

/**
 * Name and identity of the cluster, which are written to the cluster's OpenStack objects. The
 * identity is in the state. Each new cluster has a new identity.
 */
export interface ClusterMarkInput extends Pick<ClusterMark, "name"> {
  readonly identity: pulumi.Input<string>;
}

/** Returns the tags that mark an object of the cluster in Neutron or Octavia. */
export const tagsOf = (mark: ClusterMarkInput): pulumi.Output<string[]> =>
  pulumi.output(mark).apply(clusterTags);

/**
 * Returns the description that marks an object of the cluster in Neutron.
 *
 * @param what purpose of the object, if its name does not show the purpose
 */
export const descriptionOf = (mark: ClusterMarkInput, what?: string): pulumi.Output<string> =>
  pulumi.output(mark).apply((clusterMark) => clusterDescription(clusterMark, what));

/** Returns the name of the server group of a machine group. */
export const serverGroupNameOf = (mark: ClusterMarkInput, pool: string): pulumi.Output<string> =>
  pulumi.output(mark).apply((clusterMark) => serverGroupName(clusterMark, pool));

/** Returns the metadata that mark a server or volume of the cluster. */
export const metadataOf = (mark: ClusterMarkInput): pulumi.Output<Record<string, string>> =>
  pulumi.output(mark).apply(clusterMetadata);
