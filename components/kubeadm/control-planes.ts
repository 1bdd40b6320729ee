import * as pulumi from "@pulumi/pulumi";
import { apiPort } from "../../base/ports.js";
import { getNameInCloud } from "../../openstack/inventory/ownership.js";
import { getConnectionsThroughEntry } from "../access/ssh-route.js";
import type { MachineConnections } from "../machine/machine-connections.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import { getEndpointTraits } from "../config/load-balancing/endpoint-traits.js";
import type { Etcd } from "../etcd/etcd.js";
import { buildExternalEtcdBlock, buildLocalEtcdBlock } from "../etcd/etcd-documents.js";
import { etcdClientCertificateStep } from "../etcd/member-scripts.js";
import { deriveEncryptionKey } from "../identity/derive-encryption-key.js";
import { deriveSignerPublicKey } from "../identity/join-certificate.js";
import type { CommonMachineSettings } from "../machine/machine.js";
import type {
  MachineGroupArgs,
  MachineGroupMember,
  RolloutGroupArgs,
} from "../machine/machine-group.js";
import { getJoinRequestValues } from "../machine/join-credentials.js";
import { getPreparationValues, getPreparationStep } from "../machine/preparation.js";
import { getContainerdValues } from "../machine/containerd-values.js";
import type { Rollout } from "../lifecycle/rollout.js";
import { listClusterRanges } from "../../base/ip-addresses.js";
import { getPodNetworkTraits } from "../pod-network/pod-network-kinds.js";
import { planCluster } from "../plan/cluster-plan.js";
import { RemoteScript, type RemoteScriptArgs } from "../remote-scripts/remote-script.js";
import {
  renderApiServerFiles,
  renderClusterConfiguration,
  buildClusterConfigurationBlocks,
  renderKubeletConfiguration,
  renderKubeProxyConfiguration,
} from "./component-configuration.js";
import { renderInitDocuments } from "./kubeadm-documents.js";
import { renderEncryptionFiles } from "./secrets-encryption.js";
import { getKubeletFields } from "./hardening.js";
import {
  getKubeadmInitResult,
  renderMachineJoinDocument,
  deriveWebhookCertificate,
  type KubeadmInitResult,
} from "./kubeadm-init-result.js";
import { NodeGroup } from "./abstract-node-group.js";
import { buildPatchesBlock, renderPatchFiles } from "./static-pod-patches.js";
import { renderLabelsAndTaints } from "./labels-and-taints.js";
import {
  controlPlaneStep,
  getRenewalMinute,
  releaseSnapshotsStep,
  teardownStep,
  getUpgradeValues,
} from "./node-scripts.js";
import { joinLists, type ResourceList } from "../pulumi/resource-lists.js";

export interface FormClusterArgs {
  readonly spec: ClusterSpec;
  /** Specification with all worker pools, also those that the program adds. */
  readonly whole: Promise<ClusterSpec>;
  /**
   * Values that an existing cluster must keep. Its machines also check these values
   * (scripts/immutable-values.sh).
   */
  readonly frozen: { readonly lines: pulumi.Output<string> };
  readonly machines: CommonMachineSettings;
  readonly endpoint: Endpoint;
  readonly access: MachineConnections;
  /** Separate machines for etcd. @default etcd runs on the control planes */
  readonly etcd: Etcd | undefined;
  readonly turns: Rollout;
  /** Value whose change makes the first machine's script output the current kubeconfig. */
  readonly renewal: pulumi.Output<string>;
}

/**
 * Control planes and the Kubernetes cluster on them. Includes etcd if it has no separate machines.
 */
export class ControlPlane extends NodeGroup {
  static readonly type = "stackadm:kubeadm:ControlPlane";
  /**
   * Machine on which kubeadm creates the cluster. If the number of control planes decreases, the
   * program removes the last machines and keeps this machine.
   */
  readonly first: MachineGroupMember;
  /** Scripts that make each machine a control plane, in the order of the machines. */
  readonly scripts: RemoteScript[] = [];

  constructor(name: string, args: RolloutGroupArgs, opts?: pulumi.ComponentResourceOptions) {
    const { turns, machines } = args;
    const steps = [getPreparationStep(machines), controlPlaneStep, etcdClientCertificateStep];
    const generationOf: MachineGroupArgs["generationOf"] = (plan) => turns.addMachine(plan);
    super(ControlPlane.type, name, { ...args, steps, generationOf }, opts);
    const [first] = this.members;
    if (!first) throw new RangeError("a cluster has a control plane");
    this.first = first;
    this.registerOutputs({});
  }

  /**
   * ID of the last script. Becomes known when all machines are control planes with the current
   * settings.
   */
  get completion(): pulumi.Output<string> {
    return this.scripts.at(-1)?.id ?? pulumi.output("");
  }

  /**
   * Returns the SSH route to a host through the first machine. The route becomes known after the
   * scripts have been copied to the first machine, so that the program connects to no other machine
   * earlier. In a preview, the route is known at once, because a preview opens no connections and
   * must not show the route as changed.
   */
  getConnections(host: pulumi.Output<string>): MachineConnections {
    const { machine, copied } = this.first;
    const { id } = copied(getConnectionsThroughEntry(machine, host));
    const reachable = pulumi.runtime.isDryRun() ? host : pulumi.all([host, id]).apply(([at]) => at);
    return getConnectionsThroughEntry(machine, reachable);
  }

  /**
   * Creates the cluster on the first machine, then joins the other machines. The machines join one
   * after another, because etcd admits one member at a time. The endpoint must already lead to the
   * first machine.
   */
  formCluster(args: FormClusterArgs): KubeadmInitResult {
    const begun = this.member(this.first, "init", args);
    const facts = {
      ...getKubeadmInitResult(begun),
      ...deriveWebhookCertificate(args.spec, args.machines),
    };
    let before = begun;
    const { spec, access, turns, endpoint } = args;
    const [, second = this.first] = this.members;
    // order: the route to the second machine may lead through the first machine, so the first
    // machine's script must finish first.
    this.leave(this.first, { spec, survivor: second, access, after: begun });
    for (const member of this.members.slice(1)) {
      const leave = this.leave(member, { spec, survivor: this.first, access });
      endpoint.addControlPlane(member, leave);
      before = this.member(member, "join", args, { facts, before, leave });
    }
    // The kubeconfig becomes known only after control planes have been replaced or upgraded. Before
    // that, clients outside the cluster's network may be unable to reach the API.
    const { role } = this.first.plan;
    return { ...facts, adminConf: turns.delayUntilAllDone(role, facts.adminConf) };
  }

  /**
   * Returns a script that runs during a destroy, before the resources in `after` are deleted. The
   * script lets the cluster's controllers delete the objects that they created in the cloud: load
   * balancers, volumes and, with `snapshots`, volume snapshots.
   */
  teardown(access: MachineConnections, after: ResourceList, snapshots = false): RemoteScript {
    const teardown = this.#teardown(access, after);
    if (!snapshots) return teardown;
    return this.make(
      RemoteScript,
      "snapshots-teardown",
      {
        connection: access.connectionTo(this.first.machine),
        step: releaseSnapshotsStep,
        values: {},
        when: "delete",
      },
      // order: Pulumi deletes this resource before `teardown`. So this script deletes the snapshots
      // before the teardown script deletes the volumes. Cinder refuses to delete a volume that has
      // a snapshot.
      { dependsOn: [teardown] },
    );
  }

  #teardown(access: MachineConnections, after: ResourceList): RemoteScript {
    return this.make(
      RemoteScript,
      "teardown",
      {
        connection: access.connectionTo(this.first.machine),
        step: teardownStep,
        values: { OTHERS: this.members.length > 1 ? "yes" : "no" },
        when: "delete",
      },
      // order: the cloud controller, Cinder CSI and the workers must still run while the cluster
      // deletes its objects in the cloud.
      { dependsOn: joinLists(after) },
    );
  }

  private member(
    member: MachineGroupMember,
    step: "init" | "join",
    args: FormClusterArgs,
    order?: {
      readonly facts: KubeadmInitResult;
      readonly before: RemoteScript;
      readonly leave: RemoteScript | undefined;
    },
  ): RemoteScript {
    const { spec, frozen, machines, endpoint, access } = args;
    const prepare = this.prepareMember(member, args, order ? order.before.id : beforeAll(args));
    const addresses = this.members.map(({ machine }) => machine.address);
    const names = endpoint.certificateNames.apply((more) => [spec.apiName, ...more]);
    const configured = configuredOf(args);
    const values: RemoteScriptArgs["values"] = {
      ...getJoinRequestValues(member, this.members, machines),
      ...endpoint.scriptValues(member.plan.position, addresses),
      ...getUpgradeValues(spec),
      API_NAME: spec.apiName,
      NODE_NAME: member.plan.name,
      ADDRESS: member.machine.address,
      KUBEADM_INIT: order ? "" : pulumi.unsecret(this.initDocument(member, args, names)),
      KUBEADM_JOIN: renderMachineJoinDocument(member, spec),
      CA_CERT_HASH: order?.facts.caCertHash ?? "",
      FROZEN: frozen.lines,
      CERTIFICATE_NAMES: names.apply((list) => list.join("\n")),
      RENEWAL_MINUTE: getRenewalMinute(member.plan.position),
      JOIN_SIGNER: pulumi.unsecret(pulumi.output(machines.seed).apply(deriveSignerPublicKey)),
      NODE_RANGE: spec.network.nodes,
      SCHEDULABLE: spec.controlPlane.schedulable ? "yes" : "no",
      POD_RANGE_OBJECTS: renderPodRangeObjects(spec),
      NODE_MARKS: args.whole.then((whole) => renderLabelsAndTaints(planCluster(whole).groups)),
      // These flags and documents are not secret, because the cluster shows them anyway. A flag
      // contains a digest of the encryption key, but not the key.
      CONFIGURATION: pulumi.unsecret(configured.apply(renderClusterConfiguration)),
      CONFIGURATION_FILES: configured.apply(renderApiServerFiles),
      ENCRYPTION: configured.apply(renderEncryptionFiles),
      PATCHES: renderPatchFiles(spec.kubernetes.patches, spec.timeoutFactor),
      KUBELET_CONFIGURATION: renderKubeletConfiguration(getKubeletFields(spec)),
      KUBE_PROXY_CONFIGURATION: renderKubeProxyConfiguration(spec.kubernetes.kubeProxy),
      AFTER_KUBEADM: this.plan.steps.afterKubeadm,
      KUBELET: prepare.after(spec.kubernetes.version),
      ...(order ? { AFTER: order.before.after("done") } : { KUBECONFIG_RENEWAL: args.renewal }),
      ...(!order &&
        args.etcd && { AFTER: pulumi.unsecret(this.client(args, args.etcd).result("endings")) }),
    };
    const script = this.script(member, step, {
      access,
      step: controlPlaneStep,
      values,
      after: order?.leave,
    });
    args.turns.setDoneOutput(member.plan.name, script.id);
    this.scripts.push(script);
    return script;
  }

  /** Returns the script that prepares the machine, after the script with the ID `earlier`. */
  private prepareMember(
    member: MachineGroupMember,
    { spec, access, turns }: FormClusterArgs,
    earlier: pulumi.Output<string>,
  ): RemoteScript {
    const traits = { ...this.plan, ...getEndpointTraits(spec) };
    return this.prepare(member, access, {
      ...getPreparationValues(spec, member.plan.role, traits),
      ...getContainerdValues(spec, turns.getTurn(member.plan.name, earlier)),
    });
  }

  /**
   * Returns the script with which the first machine requests its client certificate for etcd on
   * separate machines.
   */
  private client({ access, machines }: FormClusterArgs, etcd: Etcd): RemoteScript {
    return this.script(this.first, "client", {
      access,
      step: etcdClientCertificateStep,
      values: {
        ...getJoinRequestValues(this.first, etcd.members, machines),
        NODE_NAME: this.first.plan.name,
        ETCD: etcd.completion,
      },
    });
  }

  private initDocument(
    { plan, machine }: MachineGroupMember,
    args: FormClusterArgs,
    names: pulumi.Output<string[]>,
  ): pulumi.Output<string> {
    const { spec, machines, etcd } = args;
    const { kubernetes, network, cloudController } = spec;
    return pulumi
      .all([
        machine.serverId,
        machine.address,
        machine.ipv6Address,
        names,
        pulumi.output(machines.mark),
        configuredOf(args),
        etcd?.addresses,
      ])
      .apply(
        ([serverId, address, ipv6Address, certificateNames, mark, configured, etcdAddresses]) =>
          renderInitDocuments(
            { name: plan.name, serverId, address, ipv6Address },
            {
              clusterName: getNameInCloud(mark),
              version: kubernetes.version,
              imageRepository: kubernetes.registry.prefix,
              pods: listClusterRanges("pods", network),
              services: listClusterRanges("services", network),
              endpoint: `${spec.apiName}:${String(apiPort)}`,
              certificateNames,
              cloudController: cloudController.enabled !== false,
              ignorePreflightErrors: kubernetes.ignorePreflightErrors,
              ...etcdOf(etcdAddresses, kubernetes.images.etcd),
              withoutKubeProxy: getPodNetworkTraits(spec.podNetwork).replacesKubeProxy,
              blocks: buildClusterConfigurationBlocks(configured),
              kubelet: getKubeletFields(spec),
              kubeProxy: kubernetes.kubeProxy,
              ...buildPatchesBlock(kubernetes.patches, spec.timeoutFactor),
            },
          ),
      );
  }
}

/**
 * Returns the Kubernetes settings together with the webhook's certificate and the encryption key.
 */
const configuredOf = ({ spec: { kubernetes, timeoutFactor }, machines }: FormClusterArgs) =>
  pulumi
    .all([deriveWebhookCertificate({ kubernetes }, machines).webhook, pulumi.secret(machines.seed)])
    .apply(([webhook, seed]) => ({
      ...kubernetes,
      timeoutFactor,
      webhookCertificate: webhook?.certificate,
      encryptionKey: deriveEncryptionKey(seed),
    }));

/** Returns the resource and the template with which control planes find the pod ranges of nodes. */
function renderPodRangeObjects({ podNetwork }: Pick<ClusterSpec, "podNetwork">): string {
  const { podRangeObjects: objects } = getPodNetworkTraits(podNetwork);
  return objects === undefined ? "" : `${objects.resource} ${objects.template}\n`;
}

/**
 * Returns an output that existing control planes wait for before they change. With etcd on separate
 * machines, the output becomes known after all etcd machines have changed.
 */
const beforeAll = ({ etcd }: FormClusterArgs): pulumi.Output<string> =>
  etcd ? etcd.completion : pulumi.output("");

/**
 * Returns kubeadm's `etcd` block for separate machines or for another image. Returns an empty
 * object if etcd runs on control planes with kubeadm's image.
 */
function etcdOf(addresses: readonly string[] | undefined, image: string | undefined) {
  if (addresses) return { etcd: buildExternalEtcdBlock(addresses) };
  return image === undefined ? {} : { etcd: buildLocalEtcdBlock(image) };
}
