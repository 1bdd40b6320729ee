import * as pulumi from "@pulumi/pulumi";
import {
  getClusterDescription,
  getClusterMetadata,
  getClusterTags,
  getServerGroupName,
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
export const getClusterTagsOutput = (mark: ClusterMarkInput): pulumi.Output<string[]> =>
  pulumi.output(mark).apply(getClusterTags);

/**
 * Returns the description that marks an object of the cluster in Neutron.
 *
 * @param what purpose of the object, if its name does not show the purpose
 */
export const getClusterDescriptionOutput = (
  mark: ClusterMarkInput,
  what?: string,
): pulumi.Output<string> =>
  pulumi.output(mark).apply((clusterMark) => getClusterDescription(clusterMark, what));

/** Returns the name of the server group of a machine group. */
export const getServerGroupNameOutput = (
  mark: ClusterMarkInput,
  pool: string,
): pulumi.Output<string> =>
  pulumi.output(mark).apply((clusterMark) => getServerGroupName(clusterMark, pool));

/** Returns the metadata that mark a server or volume of the cluster. */
export const getClusterMetadataOutput = (
  mark: ClusterMarkInput,
): pulumi.Output<Record<string, string>> => pulumi.output(mark).apply(getClusterMetadata);
