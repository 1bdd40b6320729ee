import * as pulumi from "@pulumi/pulumi";
import {
  clusterDescription,
  clusterMetadata,
  clusterTags,
  serverGroupName,
  type ClusterMark,
} from "../../openstack/inventory/ownership.js";

/**
 * Name and identity of the cluster, which are written on the cluster's OpenStack objects. The state
 * keeps the identity; a new cluster gets a new identity.
 */
export interface ClusterMarkInput extends Pick<ClusterMark, "name"> {
  readonly identity: pulumi.Input<string>;
}

/** Returns the tags that identify an object in Neutron or Octavia as the cluster's. */
export const tagsOf = (mark: ClusterMarkInput): pulumi.Output<string[]> =>
  pulumi.output(mark).apply(clusterTags);

/**
 * Returns the description of an object in Neutron. `what` is the purpose of the object, if the name
 * does not tell it.
 */
export const descriptionOf = (mark: ClusterMarkInput, what?: string): pulumi.Output<string> =>
  pulumi.output(mark).apply((clusterMark) => clusterDescription(clusterMark, what));

/** Returns the name of the server group of a machine group. */
export const serverGroupNameOf = (mark: ClusterMarkInput, pool: string): pulumi.Output<string> =>
  pulumi.output(mark).apply((clusterMark) => serverGroupName(clusterMark, pool));

/** Returns the metadata that identifies a server or volume as the cluster's. */
export const metadataOf = (mark: ClusterMarkInput): pulumi.Output<Record<string, string>> =>
  pulumi.output(mark).apply(clusterMetadata);
