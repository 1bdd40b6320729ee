/** Type of a cluster's own resource. Apart, because commands know it without Pulumi's SDK. */
export const clusterType = "stackadm:index:Cluster";
