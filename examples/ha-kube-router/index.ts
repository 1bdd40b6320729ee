// Three control planes, etcd on machines of its own, kube-router without encapsulation; and a namespace for a team.
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Cluster, type ClusterArgs, operatorOf, withSiteDefaults } from "stackadm";

const config = new pulumi.Config();
const name = pulumi.getStack();
const args: ClusterArgs = {
  topology: "ha",
  image: "debian-12",
  externalNetwork: "public",
  allowedCidrs: ["172.29.0.0/16"], // who may reach the API and SSH: here the lab's own networks
  ssh: { publicKey: config.require("sshPublicKey") },
  controlPlane: { flavor: "k8s-control-plane" },
  etcd: { kind: "dedicated", flavor: "k8s-worker" },
  workers: { general: { flavor: "k8s-worker", count: config.getNumber("workers") ?? 2 } },
  zones: ["zone-a", "zone-b"],
  podNetwork: "kube-router",
  samples: true,
};
const cluster = new Cluster(name, {
  ...withSiteDefaults(args, process.env),
  operator: operatorOf(process.env),
});
const provider = new kubernetes.Provider(name, { kubeconfig: cluster.kubeconfig });
new kubernetes.core.v1.Namespace("team", { metadata: { name: "team" } }, { provider });

export const { apiEndpoint, clusterId, clusterName, etcd } = cluster;
export const { hostKeys, identity, kubeconfig, nodes, samples } = cluster;
