import * as pulumi from "@pulumi/pulumi";
import { apiPort } from "../../base/ports.js";
import { nameInCloud } from "../../openstack/inventory/ownership.js";
import { accessThrough } from "../access/ssh-route.js";
import type { SshAccess } from "../machine/ssh-access.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import { endpointTraits } from "../config/load-balancing/endpoint-traits.js";
import type { Etcd } from "../etcd/etcd.js";
import { externalEtcd, localEtcd } from "../etcd/etcd-documents.js";
import { clientStep } from "../etcd/member-scripts.js";
import { encryptionKey } from "../identity/encryption-key.js";
import { joinSignerPublicKey } from "../identity/join-certificate.js";
import type { MachineSettings } from "../machine/machine.js";
import type { MachineGroupArgs, Member, RolloutGroupArgs } from "../machine/machine-group.js";
import { joinRequestVariables } from "../machine/join-credentials.js";
import { preparation, prepareStepOf } from "../machine/preparation.js";
import { runtimeValues } from "../machine/secret-values.js";
import type { Rollout } from "../lifecycle/rollout.js";
import { rangesOf } from "../../base/ip-addresses.js";
import { podNetworkTraits } from "../pod-network/pod-network-kinds.js";
import { planCluster } from "../plan/cluster-plan.js";
import { RemoteScript, type RemoteScriptArgs } from "../remote-scripts/remote-script.js";
import {
  configurationFiles,
  configurationText,
  configuredBlocks,
  kubeletText,
  proxyText,
} from "./component-configuration.js";
import { initDocuments } from "./kubeadm-documents.js";
import { encryptionFile } from "./secrets-encryption.js";
import { kubeletFieldsOf } from "./hardening.js";
import { factsOf, joinDocumentOf, webhookOf, type ClusterFacts } from "./cluster-facts.js";
import { NodeGroup } from "./abstract-node-group.js";
import { patchesBlock, patchFiles } from "./static-pod-patches.js";
import { labelsAndTaintsText } from "./labels-and-taints.js";
import {
  controlPlaneStep,
  renewalMinute,
  snapshotsStep,
  teardownStep,
  upgradeValuesOf,
} from "./node-scripts.js";

export interface FormArgs {
  readonly spec: ClusterSpec;
  /**
   * Values that a cluster keeps for life; its machines check them again
   * (scripts/immutable-values.sh).
   */
  readonly frozen: { readonly lines: pulumi.Output<string> };
  readonly machines: MachineSettings;
  readonly endpoint: Endpoint;
  readonly access: SshAccess;
  /** Separate machines for etcd. @default etcd runs on the control planes */
  readonly etcd: Etcd | undefined;
  readonly turns: Rollout;
}

/** Control planes, their etcd unless it has separate machines, and the cluster on them. */
export class ControlPlane extends NodeGroup {
  static readonly type = "stackadm:kubeadm:ControlPlane";
  /** Machine on which the cluster begins. Scaling down keeps it, and removes the last machines. */
  readonly first: Member;
  /** Scripts that make each machine a control plane, in the order of the machines. */
  readonly scripts: RemoteScript[] = [];

  constructor(name: string, args: RolloutGroupArgs, opts?: pulumi.ComponentResourceOptions) {
    const { turns, machines } = args;
    const steps = [prepareStepOf(machines), controlPlaneStep, clientStep];
    const generationOf: MachineGroupArgs["generationOf"] = (plan) => turns.next(plan);
    super(ControlPlane.type, name, { ...args, steps, generationOf }, opts);
    const [first] = this.members;
    if (!first) throw new RangeError("a cluster has a control plane");
    this.first = first;
    this.registerOutputs({});
  }

  /** ID of the last script; known when all machines are control planes with the wanted settings. */
  get complete(): pulumi.Output<string> {
    return this.scripts.at(-1)?.id ?? pulumi.output("");
  }

  /**
   * Returns the SSH route through the first machine. It is known only when that has its scripts, so
   * that no other machine is dialled before. A preview dials none, and shows no route as changed.
   */
  at(host: pulumi.Output<string>): SshAccess {
    const { machine, copied } = this.first;
    const { id } = copied(accessThrough(machine, host));
    const reachable = pulumi.runtime.isDryRun() ? host : pulumi.all([host, id]).apply(([at]) => at);
    return accessThrough(machine, reachable);
  }

  /**
   * Creates the cluster on the first machine, then joins the others one by one, because etcd admits
   * one member at a time. The endpoint must lead to the first machine already.
   */
  form(args: FormArgs): ClusterFacts {
    const begun = this.member(this.first, "init", args);
    const facts = { ...factsOf(begun, args.spec.name), ...webhookOf(args.spec, args.machines) };
    let before = begun;
    const { spec, access, turns, endpoint } = args;
    const [, second = this.first] = this.members;
    // order: the route to the second machine may lead through the first, which must answer before.
    this.leave(this.first, { spec, survivor: second, access, after: begun });
    for (const member of this.members.slice(1)) {
      const leave = this.leave(member, { spec, survivor: this.first, access });
      endpoint.admit(member, leave);
      before = this.member(member, "join", args, { facts, before, leave });
    }
    // The kubeconfig is held back while control planes are replaced or upgraded: the API may be
    // unreachable from outside meanwhile.
    const { role } = this.first.plan;
    return { ...facts, adminConf: turns.afterAll(role, facts.adminConf) };
  }

  /**
   * Returns the script that runs on deletion, before the resources in `after` are deleted: the
   * cluster releases its load balancers, volumes and, with `snapshots`, snapshots in the cloud.
   */
  teardown(
    access: SshAccess,
    after: pulumi.Input<pulumi.Resource>[],
    snapshots = false,
  ): RemoteScript {
    const teardown = this.#teardown(access, after);
    if (!snapshots) return teardown;
    return this.make(
      RemoteScript,
      "snapshots-teardown",
      {
        connection: access.route(this.first.machine),
        step: snapshotsStep,
        values: {},
        when: "delete",
      },
      // order: snapshots are released first, because Cinder deletes no volume that has one.
      { dependsOn: [teardown], ...this.formerly("snapshots-farewell") },
    );
  }

  #teardown(access: SshAccess, after: pulumi.Input<pulumi.Resource>[]): RemoteScript {
    return this.make(
      RemoteScript,
      "teardown",
      {
        connection: access.route(this.first.machine),
        step: teardownStep,
        values: { OTHERS: this.members.length > 1 ? "yes" : "no" },
        when: "delete",
      },
      // order: cloud controller, storage and workers must run while the cluster releases objects.
      { dependsOn: after, ...this.formerly("farewell") },
    );
  }

  private member(
    member: Member,
    step: "init" | "join",
    args: FormArgs,
    order?: {
      readonly facts: ClusterFacts;
      readonly before: RemoteScript;
      readonly leave: RemoteScript | undefined;
    },
  ): RemoteScript {
    const { spec, frozen, machines, endpoint, access } = args;
    const earlier = order ? order.before.id : beforeAll(args);
    const prepare = this.prepare(member, access, {
      ...preparation(spec, member.plan.role, { ...this.plan, ...endpointTraits(spec) }),
      ...runtimeValues(spec, (text) => args.turns.inTurn(member.plan.name, text, earlier)),
    });
    const addresses = this.members.map(({ machine }) => machine.address);
    const names = endpoint.certificateNames.apply((more) => [spec.apiName, ...more]);
    const configured = configuredOf(args);
    const values: RemoteScriptArgs["values"] = {
      ...joinRequestVariables(member, this.members, machines),
      ...endpoint.scriptValues(member.plan.position, addresses),
      ...upgradeValuesOf(spec),
      API_NAME: spec.apiName,
      NODE_NAME: member.plan.name,
      ADDRESS: member.machine.address,
      KUBEADM_INIT: order ? "" : pulumi.unsecret(this.initDocument(member, args, names)),
      KUBEADM_JOIN: joinDocumentOf(member, spec),
      CA_CERT_HASH: order?.facts.caCertHash ?? "",
      FROZEN: frozen.lines,
      CERTIFICATE_NAMES: names.apply((list) => list.join("\n")),
      RENEWAL_MINUTE: renewalMinute(member.plan.position),
      JOIN_SIGNER: pulumi.unsecret(pulumi.output(machines.seed).apply(joinSignerPublicKey)),
      NODE_RANGE: spec.network.nodes,
      SCHEDULABLE: spec.controlPlane.schedulable ? "yes" : "no",
      NODE_MARKS: labelsAndTaintsText(planCluster(spec).groups),
      // Flags and documents, which the cluster shows anyway: a flag has a digest of the key.
      CONFIGURATION: pulumi.unsecret(configured.apply(configurationText)),
      CONFIGURATION_FILES: configured.apply(configurationFiles),
      ENCRYPTION: configured.apply(encryptionFile),
      PATCHES: patchFiles(spec.kubernetes.patches, spec.timeoutFactor),
      KUBELET_CONFIGURATION: kubeletText(kubeletFieldsOf(spec)),
      KUBE_PROXY_CONFIGURATION: proxyText(spec.kubernetes.kubeProxy),
      AFTER_KUBEADM: this.plan.steps.afterKubeadm,
      KUBELET: prepare.after(spec.kubernetes.version),
      ...(order && { AFTER: order.before.after("done") }),
      ...(!order &&
        args.etcd && { AFTER: pulumi.unsecret(this.client(args, args.etcd).result("endings")) }),
    };
    const script = this.script(member, step, {
      access,
      step: controlPlaneStep,
      values,
      after: order?.leave,
    });
    args.turns.done(member.plan.name, script.id);
    this.scripts.push(script);
    return script;
  }

  /** Returns the script that gets the first machine a client certificate for a separate etcd. */
  private client({ access, machines }: FormArgs, etcd: Etcd): RemoteScript {
    return this.script(this.first, "client", {
      access,
      step: clientStep,
      values: {
        ...joinRequestVariables(this.first, etcd.members, machines),
        NODE_NAME: this.first.plan.name,
        ETCD: etcd.complete,
      },
    });
  }

  private initDocument(
    { plan, machine }: Member,
    args: FormArgs,
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
          initDocuments(
            { name: plan.name, serverId, address, ipv6Address },
            {
              clusterName: nameInCloud(mark),
              version: kubernetes.version,
              imageRepository: kubernetes.registry.prefix,
              pods: rangesOf("pods", network),
              services: rangesOf("services", network),
              endpoint: `${spec.apiName}:${String(apiPort)}`,
              certificateNames,
              cloudController: cloudController.enabled !== false,
              ignorePreflightErrors: kubernetes.ignorePreflightErrors,
              ...etcdOf(etcdAddresses, kubernetes.images.etcd),
              withoutKubeProxy: podNetworkTraits(spec.podNetwork).replacesKubeProxy,
              blocks: configuredBlocks(configured),
              kubelet: kubeletFieldsOf(spec),
              kubeProxy: kubernetes.kubeProxy,
              ...patchesBlock(kubernetes.patches, spec.timeoutFactor),
            },
          ),
      );
  }
}

/** Returns the Kubernetes settings, the webhook's certificate and the key that encrypts Secrets. */
const configuredOf = ({ spec: { kubernetes, timeoutFactor }, machines }: FormArgs) =>
  pulumi
    .all([webhookOf({ kubernetes }, machines).webhook, pulumi.secret(machines.seed)])
    .apply(([webhook, seed]) => ({
      ...kubernetes,
      timeoutFactor,
      webhookCertificate: webhook?.certificate,
      encryptionKey: encryptionKey(seed),
    }));

/** Returns the output that changes of existing control planes wait for: that of a separate etcd. */
const beforeAll = ({ etcd }: FormArgs): pulumi.Output<string> =>
  etcd ? etcd.complete : pulumi.output("");

/** Returns kubeadm's `etcd` block for separate machines or another image; empty for the default. */
function etcdOf(addresses: readonly string[] | undefined, image: string | undefined) {
  if (addresses) return { etcd: externalEtcd(addresses) };
  return image === undefined ? {} : { etcd: localEtcd(image) };
}
