/**
 * Type of the cluster's component resource. In its own file, because commands use it without
 * loading Pulumi's SDK.
 */
export const clusterType = "stackadm:index:Cluster";
