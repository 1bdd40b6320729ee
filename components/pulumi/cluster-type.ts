/**
 * Pulumi type of the component Cluster. This file is separate, because commands need the type and
 * do not load Pulumi's SDK.
 */
export const clusterType = "stackadm:index:Cluster";
