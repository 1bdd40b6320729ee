import { createEmulatedProof, createLabProof, type SupportRow } from "../row.js";

export const machineRows = {
  "machine/pools": {
    what: "pools with zones, labels and taints of their own; own parts for cloud-init, own steps; listed and revoked keys",
    proofs: [createLabProof("all/machines/pool-options")],
  },
  "machine/single-options": {
    what: "image and flavor of single machines",
    proofs: [createLabProof("all/kubernetes/own")],
  },
  "machine/kernel-worker": {
    what: "a worker with a kernel of its own in a cluster whose control plane is a container",
    proofs: [createLabProof("kernel-worker")],
  },
  "machine/spread-hard": {
    what: "`spread: hard`, hints for the scheduler",
    proofs: [createLabProof("all/network/second-interface")],
  },
  "machine/spread-soft": {
    what: "`spread: soft`, the default: on which hosts the machines are",
    note: "graph; the lab makes the server groups, and no test looks where their machines are",
  },
  "machine/bastion-volume": {
    what: "a bastion that boots from a volume",
    proofs: [createLabProof("all/machines/bastion")],
  },
  "machine/downloads": {
    what: "a proxy; mirrors, authorities and passwords of registries; containerd from a repository for it alone",
    proofs: [createLabProof("all/downloads/registries-and-proxy")],
  },
  "machine/own-images": {
    what: "single images by `kubernetes.images`, of a registry that asks for a password",
    proofs: [createLabProof("all/kubernetes/own")],
    note: "etcd, pause, Cinder CSI; the others: graph",
  },
  "machine/single-volumes": {
    what: "volumes of single machines; image, zones, volumes, own parts and own steps of etcd's own machines and of the bastion",
    note: "graph, scripts",
  },
  "machine/order": {
    what: "control planes and etcd's machines asked for one after the other; a warning where some are on one host",
    note: "graph",
  },
  "machine/lab-front": {
    what: "no address of packages, registries or images: the default hosts as the lab answers for them, with redirects, a limit of Docker Hub, an expired key",
    proofs: [createLabProof("all/downloads/front")],
  },
  "machine/default-downloads": {
    what: "no override: packages of pkgs.k8s.io and download.docker.com, images of registry.k8s.io, as the real hosts serve them",
    note: "these hosts were never asked",
  },
  "machine/i440fx": {
    what: "a machine of type `pc` (i440fx)",
    proofs: [createEmulatedProof("defaults")],
  },
  "machine/q35": {
    what: "a machine of type `q35`",
    proofs: [
      createEmulatedProof("defaults", "on q35 with SCSI disks"),
      createEmulatedProof("all/debian-13"),
    ],
  },
  "machine/kvm": { what: "a machine accelerated by KVM" },
  "machine/odd": {
    what: "a clock that is off, a slow disk, a small root file system, a host name from DHCP, a reboot in the first minutes",
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const cloudRows = {
  "cloud/application-credential": {
    what: "an application credential that the program makes, and makes again",
    proofs: [createLabProof("life")],
  },
  "cloud/own-credential": {
    what: "a credential that is supplied; no cloud controller",
    proofs: [createLabProof("all/kubernetes/own")],
  },
  "cloud/user": {
    what: "a user of the cloud in place of an application credential, another password on a living cluster",
    proofs: [createLabProof("all/cloud/service-user")],
  },
  "cloud/tls": {
    what: "a cloud behind TLS with an authority of its own (`cacert`)",
    proofs: [createLabProof("all/cloud/tls")],
  },
  "cloud/client-certificate": {
    what: "a cloud that asks for a client certificate (`cert`, `key`)",
    note: "graph; program, cloud controller and Cinder CSI against a small local server that asks for one",
  },
  "cloud/cloud-conf": {
    what: "every key of `cloud.conf`",
    note: "graph: compared with the keys of the controller's source",
  },
  "cloud/other": {
    what: "an OpenStack other than the lab, of a public or private operator",
  },
} as const satisfies Readonly<Record<string, SupportRow>>;
