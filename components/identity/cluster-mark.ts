import * as pulumi from "@pulumi/pulumi";
import {
  clusterDescription,
  clusterMetadata,
  clusterTags,
  serverGroupName,
  type ClusterMark,
} from "../../cloud/ownership.js";

/** Mark of a cluster on its cloud objects. The identity is a new one, or the one in the state. */
export interface ClusterMarkInput extends Pick<ClusterMark, "name"> {
  readonly identity: pulumi.Input<string>;
}

/** Returns the tags of an object in Neutron. */
export const tagsOf = (mark: ClusterMarkInput): pulumi.Output<string[]> =>
  pulumi.output(mark).apply(clusterTags);

/** Returns the description of an object in Neutron; `what` is its purpose, if its name has none. */
export const descriptionOf = (mark: ClusterMarkInput, what?: string): pulumi.Output<string> =>
  pulumi.output(mark).apply((clusterMark) => clusterDescription(clusterMark, what));

/** Returns the name of the server group of a pool of machines. */
export const serverGroupNameOf = (mark: ClusterMarkInput, pool: string): pulumi.Output<string> =>
  pulumi.output(mark).apply((clusterMark) => serverGroupName(clusterMark, pool));

/** Returns the metadata of a server. */
export const metadataOf = (mark: ClusterMarkInput): pulumi.Output<Record<string, string>> =>
  pulumi.output(mark).apply(clusterMetadata);
