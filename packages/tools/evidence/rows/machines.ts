import { createEmulatedProof, createLabProof, type SupportRow } from "../row.js";

export const machineRows = {
  "machine/pools": {
    what: "worker pools with different zones, labels and taints; custom cloud-init parts and steps; added and revoked SSH keys",
    proofs: [createLabProof("all/machines/pool-options")],
  },
  "machine/single-options": {
    what: "image and flavor of one machine",
    proofs: [createLabProof("all/kubernetes/own")],
  },
  "machine/kernel-worker": {
    what: "a virtual machine as worker in a cluster whose control plane is a container",
    proofs: [createLabProof("kernel-worker")],
  },
  "machine/spread-hard": {
    what: "`spread: hard`, Nova scheduler hints",
    proofs: [createLabProof("all/network/second-interface")],
  },
  "machine/spread-soft": {
    what: "`spread: soft`, the default: placement of machines on hosts",
    note: "graph; the lab creates the server groups, and no test checks the placement",
  },
  "machine/bastion-volume": {
    what: "a bastion that boots from a volume",
    proofs: [createLabProof("all/machines/bastion")],
  },
  "machine/downloads": {
    what: "an HTTP proxy; registry mirrors, CAs and passwords; containerd from a separate repository",
    proofs: [createLabProof("all/downloads/registries-and-proxy")],
  },
  "machine/own-images": {
    what: "single images by `kubernetes.images`, from a registry with a password",
    proofs: [createLabProof("all/kubernetes/own")],
    note: "etcd, pause, Cinder CSI; all other images: graph",
  },
  "machine/single-volumes": {
    what: "volumes of one machine; image, zones, volumes, custom cloud-init parts and steps of dedicated etcd machines and the bastion",
    note: "graph, scripts",
  },
  "machine/order": {
    what: "control planes and etcd machines created one after another; a warning if several are on one host",
    note: "graph",
  },
  "machine/lab-front": {
    what: "no override: the default hosts for packages and images, which the lab imitates, with redirects, Docker Hub's rate limit, an expired key",
    proofs: [createLabProof("all/downloads/front")],
  },
  "machine/default-downloads": {
    what: "no override: packages from the real pkgs.k8s.io and download.docker.com, images from the real registry.k8s.io",
    note: "no test reached these hosts",
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
  "machine/kvm": { what: "a virtual machine with KVM acceleration" },
  "machine/odd": {
    what: "a wrong clock, a slow disk, a small root file system, a host name from DHCP, a reboot in the first minutes",
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const cloudRows = {
  "cloud/application-credential": {
    what: "an application credential that the program creates and recreates",
    proofs: [createLabProof("life")],
  },
  "cloud/own-credential": {
    what: "an application credential supplied by the user; no cloud controller manager",
    proofs: [createLabProof("all/kubernetes/own")],
  },
  "cloud/user": {
    what: "a service user instead of an application credential, and a changed password in a running cluster",
    proofs: [createLabProof("all/cloud/service-user")],
  },
  "cloud/tls": {
    what: "a cloud whose TLS certificates are from a private CA (`cacert`)",
    proofs: [createLabProof("all/cloud/tls")],
  },
  "cloud/client-certificate": {
    what: "a cloud that requires a client certificate (`cert`, `key`)",
    note: "graph; program, cloud controller manager and Cinder CSI against a small local server that requires one",
  },
  "cloud/cloud-conf": {
    what: "every key of `cloud.conf`",
    note: "graph; compared with the keys in the source of the cloud controller manager",
  },
  "cloud/other": {
    what: "an OpenStack cloud other than the lab, public or private",
  },
} as const satisfies Readonly<Record<string, SupportRow>>;
