import * as pulumi from "@pulumi/pulumi";
import type { MachineConnections } from "../machine/machine-connections.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import { deriveSignerPublicKey } from "../identity/join-certificate.js";
import {
  MachineGroup,
  type SurvivorScriptArgs,
  type MachineGroupArgs,
  type MachineGroupMember,
  type RolloutGroupArgs,
} from "../machine/machine-group.js";
import { getJoinRequestValues } from "../machine/join-credentials.js";
import { getPreparationValues, getPreparationStep } from "../machine/preparation.js";
import { getContainerdValues } from "../machine/containerd-values.js";
import type { Rollout } from "../lifecycle/rollout.js";
import { getVersionValues } from "../machine/version-scripts.js";
import { roleTable } from "../config/roles.js";
import type { RemoteScript } from "../remote-scripts/remote-script.js";
import { renderEtcdKubeletDocument, renderEtcdMemberDocuments } from "./etcd-documents.js";
import { etcdQuorumStep, etcdMemberStep } from "./member-scripts.js";

interface MemberArgs {
  readonly spec: ClusterSpec;
  readonly access: MachineConnections;
}

/** Separate machines that run only etcd. kubeadm calls this an external etcd. */
export class Etcd extends MachineGroup {
  static readonly type = "stackadm:etcd:Etcd";
  readonly #machines: MachineGroupArgs["machines"];
  readonly #turns: Rollout;
  #completion: pulumi.Output<string> = pulumi.output("");

  constructor(name: string, args: RolloutGroupArgs, opts?: pulumi.ComponentResourceOptions) {
    const { turns, machines } = args;
    const steps = [getPreparationStep(machines), etcdMemberStep];
    super(
      Etcd.type,
      name,
      { ...args, steps, generationOf: (plan) => turns.addMachine(plan) },
      opts,
    );
    this.#machines = machines;
    this.#turns = turns;
    this.registerOutputs({});
  }

  /** Addresses of the members, in the order of the machines. */
  get addresses(): pulumi.Output<string[]> {
    return pulumi.all(this.members.map(({ machine }) => machine.address));
  }

  /**
   * Name of the last member. The name becomes known when all machines are members, because the
   * machines join one after another.
   */
  get completion(): pulumi.Output<string> {
    return this.#completion;
  }

  /** Starts etcd on the first machine, then joins the other machines one by one. */
  formCluster(spec: ClusterSpec, access: MachineConnections): void {
    let before: RemoteScript | undefined;
    const [first, second = first] = this.members;
    for (const member of this.members) {
      before = this.member(member, { spec, access }, before);
      this.#completion = before.after(member.plan.name);
      this.#turns.setDoneOutput(member.plan.name, before.id);
      // order: the check for the first server is created only after etcd has started on this
      // server. If the server never booted, there is no etcd. A check would then prevent the
      // deletion of the server.
      if (member === first && second)
        this.leave(member, { survivor: second, access, after: before });
      else if (first) this.leave(member, { survivor: first, access });
    }
  }

  /**
   * Creates the check that runs before a machine's server is deleted. The check runs on another
   * member and requires that etcd keeps a majority.
   */
  private leave(
    member: MachineGroupMember,
    args: Pick<SurvivorScriptArgs, "survivor" | "access" | "after">,
  ): void {
    const { plan, machine } = member;
    this.createLeaveScript(member, {
      ...args,
      leaves: roleTable[plan.role].leaves,
      step: etcdQuorumStep,
      values: { NODE_NAME: plan.name, LEAVING_ADDRESS: machine.address },
    });
  }

  private member(
    member: MachineGroupMember,
    { spec, access }: MemberArgs,
    before: RemoteScript | undefined,
  ): RemoteScript {
    const { kubernetes } = spec;
    const { plan, machine } = member;
    const earlier = before?.id ?? pulumi.output("");
    const prepare = this.prepare(member, access, {
      ...getPreparationValues(spec, plan.role, this.plan),
      ...getContainerdValues(spec, this.#turns.getTurn(plan.name, earlier)),
    });
    const settings = {
      version: kubernetes.version,
      imageRepository: kubernetes.registry.prefix,
      image: kubernetes.images.etcd,
    };
    return this.script(member, "member", {
      access,
      step: etcdMemberStep,
      values: {
        ...getJoinRequestValues(member, this.members, this.#machines),
        ...getVersionValues(spec),
        NODE_NAME: plan.name,
        ADDRESS: machine.address,
        BEGINS: before ? "no" : "yes",
        KUBEADM_ETCD: machine.address.apply((address) =>
          renderEtcdMemberDocuments({ name: plan.name, address }, settings),
        ),
        KUBELET_CONFIG: renderEtcdKubeletDocument(kubernetes.kubelet),
        JOIN_SIGNER: pulumi.unsecret(
          pulumi.output(this.#machines.seed).apply(deriveSignerPublicKey),
        ),
        NODE_RANGE: spec.network.nodes,
        KUBELET: prepare.after(kubernetes.version),
        AFTER_KUBEADM: this.plan.steps.afterKubeadm,
        ...(before && { AFTER: before.after("done") }),
      },
    });
  }
}
