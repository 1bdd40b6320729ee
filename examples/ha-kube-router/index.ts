import * as kubernetes from "@pulumi/kubernetes";
import { Config, getStack } from "@pulumi/pulumi";
import * as stackadm from "stackadm";
export = async () => {
  const args = await stackadm.prepare({
    topology: "ha",
    image: "debian-12",
    externalNetwork: "public",
    allowedCidrs: ["172.29.0.0/16"], // clients of the API and SSH: here the lab's own networks
    controlPlane: { flavor: "k8s-control-plane" },
    etcd: { kind: "dedicated", flavor: "k8s-worker" },
    workers: { general: { flavor: "k8s-worker", count: new Config().requireNumber("workers") } },
    zones: ["zone-a", "zone-b"],
    podNetwork: "kube-router",
    samples: true,
  });
  const { provider, stackOutputs } = new stackadm.Cluster(getStack(), args);
  new kubernetes.core.v1.Namespace("team", { metadata: { name: "team" } }, { provider });
  return stackOutputs;
};
