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
    what: "control planes replaced by their generation, with another size of etcd's volume",
    proofs: [createLabProof("all/control-planes/replace-control-planes")],
  },
  "topology/etcd-machines": {
    what: "etcd on machines of its own: one replaced, then all by their generation",
    proofs: [createLabProof("all/machines/etcd")],
  },
  "topology/one-more-worker": {
    what: "one more worker on a living cluster",
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
    what: "`existing`: a balancer that was there before",
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
    note: "the lab has no image of an amphora; its own driver answers to that name",
  },
  "octavia/ovn": { what: "Octavia with the driver `ovn`", note: "graph; the lab has no OVN" },
  "balancer/udp-tls": {
    what: "Services of UDP; TLS ended with a certificate of Barbican",
    proofs: [createLabProof("all/load-balancing/sample-services")],
  },
  "balancer/sizes": {
    what: "flavor and zone of load balancers: of the API's, those of Services, of a single Service",
    proofs: [createLabProof("all/load-balancing/load-balancer")],
  },
  "balancer/internal": {
    what: "an internal load balancer of a Service",
    proofs: [createExampleProof("external-and-internal-lb")],
  },
  "balancer/services-network": {
    what: "Services in a network and a floating pool of their own; classes of LoadBalancer Services",
    proofs: [createLabProof("all/load-balancing/services-network")],
  },
  "balancer/ingress-service": {
    what: "Traefik behind a Service",
    proofs: [createLabProof("all/load-balancing/services-network")],
    note: "v3.6.12 there",
  },
  "balancer/ingress-workers": {
    what: "Traefik on a pool, behind a load balancer of the program's",
    proofs: [createExampleProof("production-ha")],
    note: "v3.6.12 there in place of v3.7.13, whose modules are not all published",
  },
  "balancer/service-cidrs": {
    what: "clients of the program's load balancers, by `serviceCidrs`",
    note: "graph",
  },
  "balancer/none": {
    what: "a cloud without load balancers",
    proofs: [createLabProof("all/network/second-interface")],
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const storageRows = {
  "storage/claim": {
    what: "Cinder CSI: a claim that is written to and read back",
    proofs: [createLabProof("life")],
  },
  "storage/move": {
    what: "storage classes, a volume that follows its pod, snapshots and restore of volumes, metrics-server",
    proofs: [createLabProof("all/addons/block-storage")],
  },
  "storage/machine-volumes": {
    what: "boot from volume; volumes for containers and for etcd",
    proofs: [createLabProof("all/machines/pool-options")],
  },
  "storage/zone-volumes": {
    what: "volumes of machines in the machine's zone (`{zone}`)",
    proofs: [createExampleProof("production-ha")],
  },
  "storage/zones-differ": {
    what: "zones of Cinder that differ from Nova's (`availability`, `zone`, `blockStorage.topology: false`)",
    note: "graph; the lab's zones are the same",
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
    what: "a backup that is restored on living machines, and after the loss of the only control plane",
    proofs: [createLabProof("all/lifecycle/restore", "restored from a backup")],
  },
  "backup/lost-majority": {
    what: "a backup of etcd's last member, after the loss of its majority",
    proofs: [createLabProof("all/lifecycle/restore", "whose etcd lost its majority")],
  },
  "backup/lost-etcd-machines": {
    what: "a backup that is restored after the loss of all machines of etcd",
    proofs: [createLabProof("all/lifecycle/restore", "that lost all etcd machines")],
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const lifecycleRows = {
  "life/no-changes": {
    what: "nothing to do the second time, few calls",
    proofs: [createLabProof("life")],
  },
  "life/destroy": {
    what: "`destroy` leaves nothing but what is to be kept, and names it",
    proofs: [createLabProof("life")],
  },
  "life/destroy-obstacles": {
    what: "`destroy` with finalizers of others, after an interruption, with a stopped worker",
    proofs: [createLabProof("all/lifecycle/destroy")],
  },
  "life/lost-cluster": {
    what: "`destroy` of a cluster whose etcd is lost",
    proofs: [createLabProof("all/lifecycle/lost-etcd")],
  },
  "life/faults": {
    what: "faults of servers, of the engine and of machines on the first `up`",
    proofs: [createLabProof("faults")],
  },
  "life/losses": {
    what: "lost workers, a rolling replacement of workers, an API that is gone",
    proofs: [createLabProof("in-turn/losses")],
  },
  "life/random": { what: "faults at random moments", proofs: [createLabProof("random")] },
  "life/same-name": {
    what: "two clusters of one name in one project",
    proofs: [createLabProof("all/cloud/namesakes")],
  },
  "life/second-operator": {
    what: "two operators, each with a user of their own",
    proofs: [createLabProof("all/cloud/second-user")],
  },
} as const satisfies Readonly<Record<string, SupportRow>>;
