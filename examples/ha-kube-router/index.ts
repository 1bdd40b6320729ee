// Three control planes, separate machines for etcd, kube-router, and a namespace for a team.
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import * as stackadm from "stackadm";

export = async () => {
  const config = new pulumi.Config();
  const args: stackadm.ClusterArgs = {
    name: pulumi.getStack(),
    topology: "ha",
    image: "debian-12",
    externalNetwork: "public",
    allowedCidrs: ["172.29.0.0/16"], // clients of the API and SSH: here the lab's own networks
    ssh: { publicKey: config.require("sshPublicKey") },
    controlPlane: { flavor: "k8s-control-plane" },
    etcd: { kind: "dedicated", flavor: "k8s-worker" },
    workers: { general: { flavor: "k8s-worker", count: config.getNumber("workers") ?? 2 } },
    zones: ["zone-a", "zone-b"],
    podNetwork: "kube-router",
    samples: true,
  };
  const operator = stackadm.localContextOf(process.env);
  const written = stackadm.withSiteDefaults(args, process.env);
  // The lookup is awaited, so that a machine that never answered is replaced. If the arguments are
  // not valid, `spec` is undefined, and `Cluster` reports the problems.
  const { data: spec } = stackadm.clusterSchema.safeParse(written);
  const cloud = spec && (await stackadm.lookUpCloud(stackadm.requiredLookups(spec), {}, operator));
  const cluster = new stackadm.Cluster(pulumi.getStack(), { ...written, operator, cloud });
  const { provider, identity, kubeconfig, nodes, samples } = cluster;
  new kubernetes.core.v1.Namespace("team", { metadata: { name: "team" } }, { provider });
  const { apiEndpoint, clusterId, clusterName, hostKeys, separateMachines } = cluster;
  const known = { apiEndpoint, clusterId, clusterName, hostKeys, ...separateMachines };
  return { ...known, identity, kubeconfig, nodes, samples };
};
