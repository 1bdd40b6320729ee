import * as pulumi from "@pulumi/pulumi";
import {
  clusterDescription,
  clusterMetadata,
  clusterTags,
  serverGroupName,
  type ClusterMark,
} from "../../cloud/ownership.js";

/** What everything of a cluster carries in the cloud; the identity is known as soon as it was made or read from the state. */
export interface ClusterMarkInput extends Pick<ClusterMark, "name"> {
  readonly identity: pulumi.Input<string>;
}

/** The tags of an object in Neutron. */
export const tagsOf = (mark: ClusterMarkInput): pulumi.Output<string[]> =>
  pulumi.output(mark).apply(clusterTags);

/** The description of an object in Neutron, for people what it is, where that is no part of its name. */
export const descriptionOf = (mark: ClusterMarkInput, what?: string): pulumi.Output<string> =>
  pulumi.output(mark).apply((known) => clusterDescription(known, what));

/** The name of the server group of a pool of machines. */
export const serverGroupNameOf = (mark: ClusterMarkInput, pool: string): pulumi.Output<string> =>
  pulumi.output(mark).apply((known) => serverGroupName(known, pool));

/** The metadata of a server. */
export const metadataOf = (mark: ClusterMarkInput): pulumi.Output<Record<string, string>> =>
  pulumi.output(mark).apply(clusterMetadata);
