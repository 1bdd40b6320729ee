import * as pulumi from "@pulumi/pulumi";
import { apiPort } from "../../base/ports.js";
import { nameInCloud } from "../../cloud/ownership.js";
import { loginScripts, through } from "../access/access.js";
import type { Access } from "../machine/access.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import { endpointTraits } from "../spec/traits/endpoint.js";
import type { Etcd } from "../etcd/etcd.js";
import { externalEtcd, localEtcd } from "../etcd/etcd-documents.js";
import { clientScripts } from "../etcd/member-scripts.js";
import { encryptionKey } from "../identity/encryption-key.js";
import { joinSigner } from "../identity/join-certificate.js";
import type { MachineSettings } from "../machine/machine.js";
import type { MachineGroupArgs, Member } from "../machine/machine-group.js";
import { joinerValues } from "../machine/peers.js";
import { preparation } from "../machine/preparation.js";
import { runtimeValues } from "../machine/runtime-values.js";
import type { Turns } from "../machine/turns.js";
import { rangesOf } from "../../base/addresses.js";
import { podNetworkTraits } from "../pod-network/kinds.js";
import { planCluster } from "../plan/cluster-plan.js";
import { RemoteScript, type RemoteScriptArgs } from "../support/remote-script.js";
import {
  configurationFiles,
  configurationText,
  configuredBlocks,
  kubeletText,
  proxyText,
} from "./configuration.js";
import { initDocuments } from "./documents.js";
import { encryptionFile } from "./encryption.js";
import { kubeletFieldsOf } from "./hardening.js";
import { factsOf, joinDocumentOf, webhookOf, type ClusterFacts } from "./joining.js";
import { NodeGroup } from "./node-group.js";
import { patchesBlock, patchFiles } from "./patches.js";
import { nodeMarks } from "./node-marks.js";
import {
  controlPlanePrograms,
  controlPlaneScripts,
  teardownScripts,
  renewalMinute,
  snapshotsScripts,
  upgradeValuesOf,
} from "./node-scripts.js";

export interface ControlPlaneArgs extends Omit<MachineGroupArgs, "generationOf"> {
  /** In which order machines are replaced. */
  readonly turns: Turns;
}

export interface FormArgs {
  readonly spec: ClusterSpec;
  /** What machines compare again (scripts/frozen.sh). */
  readonly frozen: { readonly lines: pulumi.Output<string> };
  readonly machines: MachineSettings;
  readonly endpoint: Endpoint;
  readonly access: Access;
  /** Machines that run etcd. @default the control planes do */
  readonly etcd: Etcd | undefined;
  readonly turns: Turns;
}

/** The machines that run the Kubernetes API and etcd, and the cluster that kubeadm makes on them. */
export class ControlPlane extends NodeGroup {
  static readonly type = "stackadm:kubeadm:ControlPlane";
  /** The machine that the cluster begins on. When the cluster gets smaller it stays: the last ones go first. */
  readonly first: Member;
  /** What makes each machine what it is to be, in their order. */
  readonly scripts: RemoteScript[] = [];

  constructor(name: string, args: ControlPlaneArgs, opts?: pulumi.ComponentResourceOptions) {
    const { turns } = args;
    super(ControlPlane.type, name, { ...args, generationOf: (plan) => turns.next(plan) }, opts);
    const [first] = this.members;
    if (!first) throw new RangeError("a cluster has a control plane");
    this.first = first;
    this.registerOutputs({});
  }

  /** Known when each of the machines is a control plane as it is to be. */
  get complete(): pulumi.Output<string> {
    return this.scripts.at(-1)?.id ?? pulumi.output("");
  }

  /** The way through the first machine, known when it lets the program in: until then none of the others is dialled. */
  at(host: pulumi.Output<string>): Access {
    const { machine } = this.first;
    const access = through(machine, host);
    const login = this.script(this.first, "login", { access, scripts: loginScripts, values: {} });
    return through(
      machine,
      pulumi.all([host, login.id]).apply(([known]) => known),
    );
  }

  /** Makes the cluster on the first machine, behind the endpoint by now, and lets the others join in turn: etcd admits one at a time. */
  form(args: FormArgs): ClusterFacts {
    const begun = this.member(this.first, "init", args);
    const facts = { ...factsOf(begun, args.spec.name), ...webhookOf(args.spec, args.machines) };
    let before = begun;
    const { spec, access, turns, endpoint } = args;
    const [, second = this.first] = this.members;
    // order: the way to the second may lead over the first, which has to have answered.
    this.leave(this.first, { spec, survivor: second, access, after: begun });
    for (const member of this.members.slice(1)) {
      const leave = this.leave(member, { spec, survivor: this.first, access });
      endpoint.admit(member, leave);
      before = this.member(member, "join", args, { facts, before, leave });
    }
    // While control planes are replaced, nothing of the program's asks the API: it may be away from outside.
    const { role } = this.first.plan;
    return { ...facts, adminConf: turns.afterAll(role, facts.adminConf) };
  }

  /** The last thing that happens to the cluster: runs when it is deleted, before everything it depends on. */
  teardown(
    access: Access,
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
        scripts: snapshotsScripts,
        values: {},
        when: "delete",
      },
      // order: Cinder keeps a volume as long as it has a snapshot.
      { dependsOn: [teardown], ...this.formerly("snapshots-farewell") },
    );
  }

  #teardown(access: Access, after: pulumi.Input<pulumi.Resource>[]): RemoteScript {
    return this.make(
      RemoteScript,
      "teardown",
      {
        connection: access.route(this.first.machine),
        scripts: teardownScripts,
        values: { OTHERS: this.members.length > 1 ? "yes" : "no" },
        when: "delete",
      },
      // order: cloud controller, storage and workers have to be there while services and volumes are released.
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
      ...joinerValues(member, this.members, machines),
      ...endpoint.scriptValues(member.plan.position, addresses),
      ...upgradeValuesOf(spec),
      API_NAME: spec.apiName,
      NODE_NAME: member.plan.name,
      ADDRESS: member.machine.address,
      KUBEADM_INIT: order ? "" : this.initDocument(member, args, names),
      KUBEADM_JOIN: joinDocumentOf(member, spec),
      CA_CERT_HASH: order?.facts.caCertHash ?? "",
      FROZEN: frozen.lines,
      CERTIFICATE_NAMES: names.apply((list) => list.join("\n")),
      RENEWAL_MINUTE: renewalMinute(member.plan.position),
      JOIN_SIGNER: pulumi.output(machines.seed).apply(joinSigner),
      NODE_RANGE: spec.network.nodes,
      SCHEDULABLE: spec.controlPlane.schedulable ? "yes" : "no",
      NODE_MARKS: nodeMarks(planCluster(spec).groups),
      CONFIGURATION: configured.apply(configurationText),
      CONFIGURATION_FILES: configured.apply(configurationFiles),
      ENCRYPTION: configured.apply(encryptionFile),
      PATCHES: patchFiles(spec.kubernetes.patches, spec.timeoutFactor),
      KUBELET_CONFIGURATION: kubeletText(kubeletFieldsOf(spec)),
      KUBE_PROXY_CONFIGURATION: proxyText(spec.kubernetes.kubeProxy),
      AFTER_KUBEADM: this.plan.steps.afterKubeadm,
      KUBELET: prepare.result("kubelet"),
      ...(order && { AFTER: order.before.result("node", "") }),
      ...(!order && args.etcd && { AFTER: this.client(args, args.etcd).result("endings") }),
    };
    const script = this.script(member, step, {
      ...{ access, scripts: controlPlaneScripts, values },
      programs: controlPlanePrograms,
      after: order?.leave,
    });
    args.turns.done(member.plan.name, script.id);
    this.scripts.push(script);
    return script;
  }

  /** What the machine needs to reach an etcd that is not its own. */
  private client({ access, machines }: FormArgs, etcd: Etcd): RemoteScript {
    return this.script(this.first, "client", {
      access,
      scripts: clientScripts,
      values: {
        ...joinerValues(this.first, etcd.members, machines),
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

/** Kubernetes' own configuration, with what the API server knows its webhook by and encrypts Secrets with. */
const configuredOf = ({ spec: { kubernetes, timeoutFactor }, machines }: FormArgs) =>
  pulumi
    .all([webhookOf({ kubernetes }, machines).webhook, pulumi.secret(machines.seed)])
    .apply(([webhook, seed]) => ({
      ...{ ...kubernetes, timeoutFactor, webhookCertificate: webhook?.certificate },
      encryptionKey: encryptionKey(seed),
    }));

/** What is done before any control plane that lives changes. */
const beforeAll = ({ etcd }: FormArgs): pulumi.Output<string> =>
  etcd ? etcd.complete : pulumi.output("");

/** Where etcd is, and which; nothing where it is kubeadm's own. */
function etcdOf(addresses: readonly string[] | undefined, image: string | undefined) {
  if (addresses) return { etcd: externalEtcd(addresses) };
  return image === undefined ? {} : { etcd: localEtcd(image) };
}
