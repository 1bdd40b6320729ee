import type * as pulumi from "@pulumi/pulumi";
import type { FrozenValues } from "./frozen-values.js";
import type { ClusterMarkInput } from "./identity/cluster-mark.js";
import type { IngressBalancer } from "./ingress/ingress-balancer.js";
import type { ControlPlane } from "./kubeadm/control-plane.js";
import type { ClusterFacts } from "./kubeadm/joining.js";
import type { Readiness } from "./kubeadm/readiness.js";
import type { Access } from "./machine/access.js";
import type { Member } from "./machine/machine-group.js";
import type { Firewall } from "./network/firewall.js";
import type { Network } from "./network/network.js";
import type { ClusterPlan } from "./plan/cluster-plan.js";
import type { VersionBefore } from "./plan/upgrades.js";
import type { ClusterSpec } from "./spec/cluster-spec.js";
import type { CloudFacts } from "./support/catalog.js";
import type { FailedMachines } from "./support/failed-machines.js";
import type { Operator } from "./support/operator.js";
import type { RemoteScript } from "./support/remote-script.js";

/** Parts of a cluster that exist before any machine. */
export interface Ground {
  readonly spec: ClusterSpec;
  readonly plan: ClusterPlan;
  readonly cloud: pulumi.Output<CloudFacts>;
  readonly frozen: FrozenValues;
  readonly mark: ClusterMarkInput;
  readonly network: Network;
  readonly firewall: Firewall;
  readonly operator: Operator | undefined;
  readonly failed: FailedMachines;
  /** Returns the Kubernetes version of the cluster before this run. */
  readonly version: () => Promise<VersionBefore>;
}

/** Cluster that kubeadm created, and the machines that it runs on. */
export interface Kubernetes {
  readonly controlPlane: ControlPlane;
  readonly members: readonly Member[];
  /** Bastion, a machine that only forwards SSH; empty if there is none. */
  readonly bastion: readonly Member[];
  /** Machines that run only etcd; empty if etcd runs on the control planes. */
  readonly etcd: readonly Member[];
  readonly access: Access;
  readonly facts: ClusterFacts;
  /** Scripts that join the workers. When one is done, the worker's node exists. */
  readonly joins: readonly RemoteScript[];
  /** Kubernetes version of each node after the run, as its script reports it. */
  readonly versions: readonly pulumi.Output<string>[];
  readonly readiness: Readiness;
  /** Load balancer of the ingress controller, if that runs on the machines of one pool. */
  readonly balancer: IngressBalancer | undefined;
}
