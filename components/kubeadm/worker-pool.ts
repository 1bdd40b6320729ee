import * as pulumi from "@pulumi/pulumi";
import type { MachineConnections } from "../machine/machine-connections.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import type { CommonMachineSettings } from "../machine/machine.js";
import type { MachineGroupMember, RolloutGroupArgs } from "../machine/machine-group.js";
import {
  getPodRoutesValue,
  getPreparationStep,
  getPreparationValues,
} from "../machine/preparation.js";
import { getContainerdValues } from "../machine/containerd-values.js";
import type { Rollout } from "../lifecycle/rollout.js";
import type { RemoteScript } from "../remote-scripts/remote-script.js";
import { renderKubeletConfiguration } from "./component-configuration.js";
import type { ControlPlane } from "./control-planes.js";
import { getKubeletFields } from "./hardening.js";
import { getJoinRequestValues } from "../machine/join-credentials.js";
import { renderMachineJoinDocument, type KubeadmInitResult } from "./kubeadm-init-result.js";
import { NodeGroup } from "./abstract-node-group.js";
import { joinStep, getUpgradeValues } from "./node-scripts.js";

export interface JoinWorkersArgs {
  readonly spec: ClusterSpec;
  readonly machines: CommonMachineSettings;
  readonly endpoint: Endpoint;
  readonly access: MachineConnections;
  readonly controlPlane: ControlPlane;
  readonly facts: KubeadmInitResult;
}

/** Machine of a pool with its scripts. */
export interface JoinedMachine extends MachineGroupMember {
  /** Script that joins the machine to the cluster. */
  readonly join: RemoteScript;
  /** Script that drains the machine before its server is deleted. */
  readonly leave: RemoteScript | undefined;
}

/**
 * Pool of workers with the same settings. The workers are created and joined in parallel, but
 * replaced one at a time.
 */
export class WorkerPool extends NodeGroup {
  static readonly type = "stackadm:kubeadm:WorkerPool";
  readonly #turns: Rollout;
  /** Scripts that join the machines to the cluster, by the name of the machine. */
  readonly #joinScripts = new Map<string, RemoteScript>();

  constructor(name: string, args: RolloutGroupArgs, opts?: pulumi.ComponentResourceOptions) {
    const { turns, machines } = args;
    const steps = [getPreparationStep(machines), joinStep];
    super(
      WorkerPool.type,
      name,
      { ...args, steps, generationOf: (plan) => turns.addMachine(plan) },
      opts,
    );
    this.#turns = turns;
    this.registerOutputs({});
  }

  /**
   * Creates the scripts that join the machines to the cluster. When a script has finished, the node
   * of its machine exists.
   */
  join(args: JoinWorkersArgs): readonly RemoteScript[] {
    return this.members.map((member) => {
      const { access, controlPlane, spec } = args;
      const leave = this.leave(member, { spec, survivor: controlPlane.first, access });
      const join = this.member(member, args, leave);
      this.#joinScripts.set(member.plan.name, join);
      this.#turns.setDoneOutput(member.plan.name, join.id);
      return join;
    });
  }

  /** Returns the machines of the pool with the scripts that `join` has created. */
  listJoinedMachines(): JoinedMachine[] {
    return this.members.flatMap((member) => {
      const join = this.#joinScripts.get(member.plan.name);
      return join ? [{ ...member, join, leave: this.findLeaveScript(member) }] : [];
    });
  }

  /**
   * Makes the machines after this machine in the rollout wait also for the resources with these
   * IDs.
   */
  addToTurn({ plan, join }: JoinedMachine, ids: readonly pulumi.Output<string>[]): void {
    const done = pulumi.all([join.id, pulumi.all([...ids])]).apply(([id]) => id);
    this.#turns.setDoneOutput(plan.name, done);
  }

  private member(
    member: MachineGroupMember,
    args: JoinWorkersArgs,
    leave: RemoteScript | undefined,
  ): RemoteScript {
    const { spec, machines, endpoint, access, controlPlane, facts } = args;
    const turn = this.#turns.getTurn(member.plan.name, controlPlane.completion);
    const upgrade = getUpgradeValues(spec);
    const prepare = this.prepare(member, access, {
      ...getPreparationValues(spec, member.plan.role, this.plan),
      ...getContainerdValues(spec, turn),
    });
    const controlPlanes = controlPlane.members.map(({ machine }) => machine.address);
    return this.script(member, "join", {
      access,
      after: leave,
      step: joinStep,
      values: {
        ...getJoinRequestValues(member, controlPlane.members, machines),
        ...upgrade,
        CONTAINERD_GENERATION: turn.delay(upgrade.CONTAINERD_GENERATION),
        KUBERNETES_VERSION: this.#turns.delayVersion(
          member.plan.name,
          spec.kubernetes.version,
          controlPlane.completion,
        ),
        API_NAME: spec.apiName,
        API_ADDRESSES: endpoint
          .getInternalAddresses(controlPlanes)
          .apply((addresses) => addresses.join("\n")),
        NODE_NAME: member.plan.name,
        KUBEADM_JOIN: renderMachineJoinDocument(member, spec),
        CA_CERT_HASH: facts.caCertHash,
        KUBELET: prepare.after(spec.kubernetes.version),
        KUBELET_CONFIGURATION: turn.delay(renderKubeletConfiguration(getKubeletFields(spec))),
        POD_ROUTES: getPodRoutesValue(spec),
        AFTER_KUBEADM: this.plan.steps.afterKubeadm,
      },
    });
  }
}
