import {
  createEmulatedProof,
  createExampleProof,
  createLabProof,
  type SupportRow,
} from "../row.js";

export const topologyRows = {
  "topology/single": { what: "`single`", proofs: [createLabProof("in-turn/single")] },
  "topology/one-control-plane": {
    what: "one control plane, two workers",
    proofs: [createLabProof("life"), createExampleProof("external-and-internal-lb")],
  },
  "topology/three-workers": {
    what: "one control plane, three workers",
    proofs: [createExampleProof("one-control-plane")],
  },
  "topology/ha": {
    what: "three control planes, one stopped, one lost",
    proofs: [
      createLabProof("in-turn/control-planes"),
      createLabProof("all/control-planes/virtual-ip"),
      createExampleProof("production-ha"),
    ],
  },
  "topology/five": {
    what: "five control planes, one lost",
    proofs: [createLabProof("all/control-planes/five")],
  },
  "topology/growth": {
    what: "from one to three control planes under load, and back",
    proofs: [createLabProof("in-turn/growth")],
  },
  "topology/replace": {
    what: "control planes replaced by a new `generation`, with another size of the etcd volume",
    proofs: [createLabProof("all/control-planes/replace-control-planes")],
  },
  "topology/etcd-machines": {
    what: "dedicated etcd machines: one replaced, then all by a new `generation`",
    proofs: [createLabProof("all/machines/etcd")],
  },
  "topology/one-more-worker": {
    what: "one more worker in a running cluster",
    proofs: [
      createLabProof(
        "all/machines/pool-options",
        "change their labels and taints in place, and grow",
      ),
      createEmulatedProof("defaults", "gets one more worker"),
    ],
  },
  "topology/zones": {
    what: "control planes and workers in three zones",
    proofs: [createExampleProof("zones-and-routes")],
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const endpointRows = {
  "endpoint/floating-ip": { what: "`floating-ip`", proofs: [createLabProof("life")] },
  "endpoint/load-balancer": {
    what: "`load-balancer`, three control planes",
    proofs: [createLabProof("in-turn/control-planes")],
  },
  "endpoint/virtual-ip": {
    what: "`virtual-ip`, three control planes",
    proofs: [createLabProof("all/control-planes/virtual-ip")],
  },
  "endpoint/existing": {
    what: "`existing`: a load balancer that the user created",
    proofs: [createLabProof("all/network/existing-network")],
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const loadBalancerRows = {
  "octavia/lab": {
    what: "Octavia with the lab's own driver (haproxy in a network namespace)",
    proofs: [createLabProof("life")],
  },
  "octavia/amphora": {
    what: "Octavia with the driver `amphora`, the default",
    note: "the lab has no amphora image; its own driver has that name",
  },
  "octavia/ovn": { what: "Octavia with the driver `ovn`", note: "graph; the lab has no OVN" },
  "balancer/udp-tls": {
    what: "UDP Services; TLS termination with a certificate in Barbican",
    proofs: [createLabProof("all/load-balancing/sample-services")],
  },
  "balancer/sizes": {
    what: "flavor and zone of load balancers: for the API server, for all Services, for one Service",
    proofs: [createLabProof("all/load-balancing/load-balancer")],
  },
  "balancer/internal": {
    what: "an internal load balancer of a Service",
    proofs: [createExampleProof("external-and-internal-lb")],
  },
  "balancer/services-network": {
    what: "Services in a separate network and floating IP pool; load balancer classes",
    proofs: [createLabProof("all/load-balancing/services-network")],
  },
  "balancer/ingress-service": {
    what: "Traefik behind a Service",
    proofs: [createLabProof("all/load-balancing/services-network")],
    note: "v3.6.12 there",
  },
  "balancer/ingress-workers": {
    what: "Traefik on a worker pool, behind a load balancer that the program creates",
    proofs: [createExampleProof("production-ha")],
    note: "v3.6.12 there in place of v3.7.13, whose modules are not all published",
  },
  "balancer/service-cidrs": {
    what: "allowed clients of the program's load balancers (`serviceCidrs`)",
    note: "graph",
  },
  "balancer/none": {
    what: "a cloud without load balancers",
    proofs: [createLabProof("all/network/second-interface")],
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const storageRows = {
  "storage/claim": {
    what: "Cinder CSI: data written to a claim and read back",
    proofs: [createLabProof("life")],
  },
  "storage/move": {
    what: "StorageClasses, a volume that follows its pod to another node, volume snapshots and restore, metrics-server",
    proofs: [createLabProof("all/addons/block-storage")],
  },
  "storage/machine-volumes": {
    what: "boot from volume; volumes for containers and for etcd",
    proofs: [createLabProof("all/machines/pool-options")],
  },
  "storage/zone-volumes": {
    what: "machine volumes in the machine's zone (`{zone}`)",
    proofs: [createExampleProof("production-ha")],
  },
  "storage/zones-differ": {
    what: "Cinder zones that differ from Nova zones (`availability`, `zone`, `blockStorage.topology: false`)",
    note: "graph; the lab's Cinder and Nova zones are equal",
  },
  "storage/virtio-scsi": {
    what: "volumes on virtio-scsi",
    proofs: [
      createEmulatedProof("defaults", "attaches the volume of a claim to the SCSI bus"),
      createEmulatedProof("all/debian-13"),
    ],
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const backupRows = {
  "backup/restore": {
    what: "restore of a backup: on running machines, and after the loss of the only control plane",
    proofs: [createLabProof("all/lifecycle/restore", "restored from a backup")],
  },
  "backup/lost-majority": {
    what: "restore of a backup of the last etcd member, after quorum loss",
    proofs: [createLabProof("all/lifecycle/restore", "whose etcd lost its majority")],
  },
  "backup/lost-etcd-machines": {
    what: "restore of a backup after the loss of all etcd machines",
    proofs: [createLabProof("all/lifecycle/restore", "that lost all etcd machines")],
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const lifecycleRows = {
  "life/no-changes": {
    what: "no changes on a second `up`, with few API calls",
    proofs: [createLabProof("life")],
  },
  "life/destroy": {
    what: "`destroy` leaves only retained objects, and names them",
    proofs: [createLabProof("life")],
  },
  "life/destroy-obstacles": {
    what: "`destroy` with foreign finalizers, after an interruption, with a stopped worker",
    proofs: [createLabProof("all/lifecycle/destroy")],
  },
  "life/cycles": {
    what: "several clusters created and destroyed, one after another",
    proofs: [createLabProof("all/lifecycle/cycles")],
  },
  "life/lost-cluster": {
    what: "`destroy` of a cluster that lost etcd",
    proofs: [createLabProof("all/lifecycle/lost-etcd")],
  },
  "life/faults": {
    what: "failures of servers, the Pulumi engine and machines during the first `up`",
    proofs: [createLabProof("faults")],
  },
  "life/losses": {
    what: "lost workers, rolling replacement of workers, a lost API server",
    proofs: [createLabProof("in-turn/losses")],
  },
  "life/random": { what: "failures at random moments", proofs: [createLabProof("random")] },
  "life/same-name": {
    what: "two clusters with the same name in one project",
    proofs: [createLabProof("all/cloud/namesakes")],
  },
  "life/second-operator": {
    what: "two operators with different OpenStack users",
    proofs: [createLabProof("all/cloud/second-user")],
  },
  "life/documentation": {
    what: "commands of the documentation, in order, on one cluster",
    proofs: [createLabProof("all/lifecycle/command-blocks")],
  },
} as const satisfies Readonly<Record<string, SupportRow>>;
