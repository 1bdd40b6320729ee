/**
 * Pulumi type of the component Cluster. In a separate file, because commands need the type and do
 * not load Pulumi's SDK.
 */
export const clusterType = "stackadm:index:Cluster";
