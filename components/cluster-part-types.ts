import type * as pulumi from "@pulumi/pulumi";
import type { FrozenValues } from "./lifecycle/immutable-values.js";
import type { ClusterMarkInput } from "./identity/resource-tags.js";
import type { IngressLoadBalancer } from "./endpoint/ingress-load-balancer.js";
import type { ControlPlane } from "./kubeadm/control-planes.js";
import type { KubeadmInitResult } from "./kubeadm/kubeadm-init-result.js";
import type { ApiReadiness } from "./kubeadm/api-readiness.js";
import type { MachineConnections } from "./machine/machine-connections.js";
import type { MachineGroupMember } from "./machine/machine-group.js";
import type { Firewall } from "./network/firewall.js";
import type { ExternalConnection } from "./network/floating-ip-component.js";
import type { Network } from "./network/network.js";
import type { ClusterPlan } from "./plan/cluster-plan.js";
import type { VersionBeforeUpgrade } from "./plan/upgrades.js";
import type { ClusterSpec } from "./config/cluster-spec.js";
import type { CloudFacts } from "./lookup/cloud-lookup.js";
import type { CloudObjects } from "./lookup/cloud-objects.js";
import type { UnreachableServers } from "./lifecycle/unreachable-servers.js";
import type { LocalContext } from "./lookup/local-context.js";
import type { RemoteScript } from "./remote-scripts/remote-script.js";
import type { SeparateGroups } from "./separate-groups.js";
import type { WorkerPools } from "./worker-pools.js";

/** Parts of a cluster that are known or created before any machine. */
export interface Infrastructure {
  readonly spec: ClusterSpec;
  readonly plan: ClusterPlan;
  readonly pools: WorkerPools;
  readonly cloud: pulumi.Output<CloudFacts>;
  readonly objects: CloudObjects;
  readonly frozen: FrozenValues;
  readonly mark: ClusterMarkInput;
  readonly network: Network;
  /** External connection of the network, for floating IPs. */
  readonly outside: ExternalConnection;
  readonly firewall: Firewall;
  readonly operator: LocalContext | undefined;
  readonly failed: UnreachableServers;
  /** Returns the versions of the cluster before this run. */
  readonly version: () => Promise<VersionBeforeUpgrade>;
  /** Value whose change makes a control plane output its current kubeconfig. */
  readonly renewal: pulumi.Output<string>;
}

/** Nodes of the cluster, in all pools of the program. */
export interface ClusterNodes {
  readonly members: Promise<readonly MachineGroupMember[]>;
  /** Scripts that join the workers. After such a script has run, the worker's node exists. */
  readonly joins: Promise<readonly RemoteScript[]>;
  /**
   * Kubernetes version of each node after the run, as reported by the node's script. Empty text:
   * unknown.
   */
  readonly versions: Promise<readonly pulumi.Output<string>[]>;
}

/** Cluster that kubeadm creates, and its machines. */
export interface KubeadmCluster extends ClusterNodes {
  readonly controlPlane: ControlPlane;
  /** Machines that are not nodes, by role. */
  readonly separate: SeparateGroups;
  readonly access: MachineConnections;
  readonly facts: KubeadmInitResult;
  readonly readiness: ApiReadiness;
  /** Load balancer of the ingress controller. Exists only if `ingress.kind` is `workers`. */
  readonly balancer: IngressLoadBalancer | undefined;
}
