import * as pulumi from "@pulumi/pulumi";
import {
  clusterDescription,
  clusterMetadata,
  clusterTags,
  type ClusterMark,
} from "../../cloud/ownership.js";

/** What everything of a cluster carries in the cloud; the identity is known as soon as it was made or read from the state. */
export interface ClusterMarkInput extends Pick<ClusterMark, "name"> {
  readonly identity: pulumi.Input<string>;
}

/** The tags of an object in Neutron. */
export const tagsOf = (mark: ClusterMarkInput): pulumi.Output<string[]> =>
  pulumi.output(mark).apply(clusterTags);

/** The description of a network, a subnet or a router. */
export const descriptionOf = (mark: ClusterMarkInput): pulumi.Output<string> =>
  pulumi.output(mark).apply(clusterDescription);

/** The metadata of a server. */
export const metadataOf = (mark: ClusterMarkInput): pulumi.Output<Record<string, string>> =>
  pulumi.output(mark).apply(clusterMetadata);
