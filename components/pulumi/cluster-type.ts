/**
 * Type of the cluster's component resource. In a separate file, so that commands can use it without
 * loading Pulumi's SDK.
 */
export const clusterType = "stackadm:index:Cluster";
