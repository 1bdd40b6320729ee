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

/** What stands before any machine does. */
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
  /** Which version of Kubernetes the cluster had before the run. */
  readonly version: () => Promise<VersionBefore>;
}

/** The cluster that kubeadm made, and the machines that it runs on. */
export interface Kubernetes {
  readonly controlPlane: ControlPlane;
  readonly members: readonly Member[];
  /** The machine that is nothing but the way to them, if there is one. */
  readonly bastion: readonly Member[];
  /** Machines that run etcd and nothing else. */
  readonly etcd: readonly Member[];
  readonly access: Access;
  readonly facts: ClusterFacts;
  /** Done means that each worker's node is there. */
  readonly joins: readonly RemoteScript[];
  /** What each node has by the end, where its script says so. */
  readonly versions: readonly pulumi.Output<string>[];
  readonly readiness: Readiness;
  /** What leads to the ingress controller, where that is on the machines of one pool. */
  readonly balancer: IngressBalancer | undefined;
}
