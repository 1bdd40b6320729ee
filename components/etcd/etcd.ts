import * as pulumi from "@pulumi/pulumi";
import type { MachineConnections } from "../machine/machine-connections.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import { joinSignerPublicKey } from "../identity/join-certificate.js";
import {
  MachineGroup,
  type LeaveScriptArgs,
  type MachineGroupArgs,
  type Member,
  type RolloutGroupArgs,
} from "../machine/machine-group.js";
import { joinRequestVariables } from "../machine/join-credentials.js";
import { preparation, prepareStepOf } from "../machine/preparation.js";
import { containerdSecretValues } from "../machine/secret-values.js";
import type { Rollout } from "../lifecycle/rollout.js";
import { versionValuesOf } from "../machine/version-scripts.js";
import { roleTable } from "../config/roles.js";
import type { RemoteScript } from "../remote-scripts/remote-script.js";
import { etcdKubeletDocument, memberDocuments } from "./etcd-documents.js";
import { etcdLeaveStep, memberStep } from "./member-scripts.js";

interface MemberArgs {
  readonly spec: ClusterSpec;
  readonly access: MachineConnections;
}

/** Separate machines that run only etcd. kubeadm calls this an external etcd. */
export class Etcd extends MachineGroup {
  static readonly type = "stackadm:etcd:Etcd";
  readonly #machines: MachineGroupArgs["machines"];
  readonly #turns: Rollout;
  #complete: pulumi.Output<string> = pulumi.output("");

  constructor(name: string, args: RolloutGroupArgs, opts?: pulumi.ComponentResourceOptions) {
    const { turns, machines } = args;
    const steps = [prepareStepOf(machines), memberStep];
    super(Etcd.type, name, { ...args, steps, generationOf: (plan) => turns.next(plan) }, opts);
    this.#machines = machines;
    this.#turns = turns;
    this.registerOutputs({});
  }

  /** Addresses of the members, in the order of the machines. */
  get addresses(): pulumi.Output<string[]> {
    return pulumi.all(this.members.map(({ machine }) => machine.address));
  }

  /**
   * Name of the last member. Becomes known when all machines are members, because they join one
   * after another.
   */
  get complete(): pulumi.Output<string> {
    return this.#complete;
  }

  /** Starts etcd on the first machine, then joins the others one by one. */
  form(spec: ClusterSpec, access: MachineConnections): void {
    let before: RemoteScript | undefined;
    const [first, second = first] = this.members;
    for (const member of this.members) {
      before = this.member(member, { spec, access }, before);
      this.#complete = before.after(member.plan.name);
      this.#turns.done(member.plan.name, before.id);
      // order: the first server must have started etcd before its check exists. If the server never
      // booted, there is no etcd, and the check would prevent its deletion.
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
    member: Member,
    args: Pick<LeaveScriptArgs, "survivor" | "access" | "after">,
  ): void {
    const { plan, machine } = member;
    this.createLeaveScript(member, {
      ...args,
      leaves: roleTable[plan.role].leaves,
      step: etcdLeaveStep,
      values: { NODE_NAME: plan.name, LEAVING_ADDRESS: machine.address },
    });
  }

  private member(
    member: Member,
    { spec, access }: MemberArgs,
    before: RemoteScript | undefined,
  ): RemoteScript {
    const { kubernetes } = spec;
    const { plan, machine } = member;
    const earlier = before?.id ?? pulumi.output("");
    const prepare = this.prepare(member, access, {
      ...preparation(spec, plan.role, this.plan),
      ...containerdSecretValues(spec, (text) => this.#turns.inTurn(plan.name, text, earlier)),
    });
    const settings = {
      version: kubernetes.version,
      imageRepository: kubernetes.registry.prefix,
      image: kubernetes.images.etcd,
    };
    return this.script(member, "member", {
      access,
      step: memberStep,
      values: {
        ...joinRequestVariables(member, this.members, this.#machines),
        ...versionValuesOf(spec),
        NODE_NAME: plan.name,
        ADDRESS: machine.address,
        BEGINS: before ? "no" : "yes",
        KUBEADM_ETCD: machine.address.apply((address) =>
          memberDocuments({ name: plan.name, address }, settings),
        ),
        KUBELET_CONFIG: etcdKubeletDocument(kubernetes.kubelet),
        JOIN_SIGNER: pulumi.unsecret(pulumi.output(this.#machines.seed).apply(joinSignerPublicKey)),
        NODE_RANGE: spec.network.nodes,
        KUBELET: prepare.after(kubernetes.version),
        AFTER_KUBEADM: this.plan.steps.afterKubeadm,
        ...(before && { AFTER: before.after("done") }),
      },
    });
  }
}
