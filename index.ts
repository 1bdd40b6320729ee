import { Cluster, lookUpCloud, requireServiceUser, requiredLookups } from "./components/index.js";
import { refuseClusterRename } from "./components/refuse-cluster-rename.js";
import { getOperatorContext, readConfig, getStackConfigFile } from "./config.js";

// Pulumi program for `pulumi up` and the Automation API. Importing this file creates nothing.
async function program(): Promise<Record<string, unknown>> {
  const spec = await readConfig();
  await refuseClusterRename(spec.name, getStackConfigFile());
  const who = getOperatorContext();
  const asking = lookUpCloud(requiredLookups(spec), {}, who);
  await requireServiceUser(spec, asking, who, getStackConfigFile());
  const cluster = new Cluster(spec.name, { ...spec, cloud: await asking, operator: who });
  return {
    kubeconfig: cluster.kubeconfig,
    apiEndpoint: cluster.apiEndpoint,
    nodes: cluster.nodes,
    ...cluster.separateMachines,
    hostKeys: cluster.hostKeys,
    ...(spec.samples && { samples: cluster.samples }),
    ...(spec.ingress && { ingress: cluster.ingress }),
    clusterName: cluster.clusterName,
    clusterId: cluster.clusterId,
    identity: cluster.identity,
  };
}

export = program;
