import type * as pulumi from "@pulumi/pulumi";
import type { ClusterArgs } from "./config/cluster-spec.js";
import type { CloudFacts } from "./lookup/cloud-lookup.js";
import type { LocalContext } from "./lookup/local-context.js";
import type { Transforms } from "./pulumi/transforms.js";

/** Arguments of `Cluster`: the specification, and facts about the cloud. */
export type ClusterComponentArgs = ClusterArgs & {
  /**
   * Cloud objects that the specification names, as `prepare` looked them up before anything was
   * created.
   * @default the component looks them up
   */
  readonly cloud?: pulumi.Input<CloudFacts>;
  /**
   * Access to the cloud and to local files from the user's environment, as `prepare` returns it.
   * @default none: machines that never answered are not replaced automatically, all machines with a
   * raised generation are replaced one after another, and downloads are not cached
   */
  readonly operator?: LocalContext;
  /**
   * OpenStack provider with which `prepare` looked up the objects in `cloud`. The cluster's
   * resources use it, too.
   * @default the provider in the component's options, or else the stack's default provider
   */
  readonly provider?: pulumi.ProviderResource;
  /** Functions that change the cluster's resources where no argument exists. @default none */
  readonly transforms?: Transforms;
};
