import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import { balancerOptions, customTimeouts, monitoring, placed } from "../endpoint/octavia.js";
import { isOvn, listenerRanges, serviceRanges } from "../spec/traits/endpoint.js";
import { tagsOf } from "../identity/cluster-mark.js";
import { Addressed, type Outside } from "../network/floating-address.js";
import type { Member } from "../machine/machine-group.js";
import { entranceName } from "../plan/names.js";
import type { IngressSpec } from "../spec/ingress.js";
import type { RouterAddress } from "../support/existing-network.js";
import type { Operator } from "../support/operator.js";
import { entrances, type Entrance } from "../spec/traits/ingress.js";

/** The range of one address. */
const alone = ({ ipAddress = "" }: RouterAddress): string => `${ipAddress}/32`;

/** Arguments of {@link IngressBalancer}. */
export interface IngressBalancerArgs extends Outside {
  /** Name of what is made in the cloud. Change: replaces the load balancer. */
  readonly name: string;
  /** Subnet of the machines. Change: refused. */
  readonly subnetId: pulumi.Input<string>;
  readonly ingress: Extract<IngressSpec, { kind: "workers" }>;
  /** The Octavia provider, another one of which replaces the load balancer; its floating IP stays. And its clients. */
  readonly spec: Pick<ClusterSpec, "loadBalancer" | "serviceCidrs" | "network">;
  /** Where machines and pods come from that go by its floating IP: the addresses of the router. Change: in place. */
  readonly routerAddresses: pulumi.Input<readonly RouterAddress[] | undefined>;
  /** All machines of the pool. Change: in place. */
  readonly machines: readonly Member[];
  /** Who may clear away what the cloud could not make. */
  readonly operator: Operator | undefined;
}

/**
 * A load balancer of Octavia in front of the node ports of the ingress controller. Whatever changes in it locks all of it until
 * it is done, so its parts are made one after the other. A machine without a pod of Traefik answers nobody: the monitor keeps it out.
 */
export class IngressBalancer extends Addressed {
  static readonly type = "stackadm:ingress:IngressBalancer";
  /** Where clients reach it: the floating IP, or the address in the machines' network. */
  readonly address: pulumi.Output<string>;
  readonly #args: IngressBalancerArgs;
  /** What was made last of the load balancer. */
  #last: pulumi.Resource;

  constructor(name: string, args: IngressBalancerArgs, opts?: pulumi.ComponentResourceOptions) {
    super(IngressBalancer.type, name, opts);
    this.#args = args;
    const { mark, subnetId, operator, ingress } = args;
    const balancer = this.make(
      openstack.loadbalancer.LoadBalancer,
      "load-balancer",
      {
        name: args.name,
        description: `Ingress of cluster ${mark.name}`,
        vipSubnetId: subnetId,
        loadbalancerProvider: this.#provider,
        ...placed(ingress),
        tags: tagsOf(mark),
      },
      balancerOptions(mark, args.name, operator),
    );
    this.#last = balancer;
    for (const entrance of entrances) this.open(entrance, balancer.id);
    this.address = ingress.public ? this.floatingIp(balancer.vipPortId) : balancer.vipAddress;
    this.registerOutputs({ address: this.address });
  }

  private floatingIp(portId: pulumi.Input<string>): pulumi.Output<string> {
    const given = this.#args.ingress.floatingIp;
    return this.addressOutside(this.#args, { portId, what: "Ingress", given }).address;
  }

  get #provider(): string {
    return this.#args.spec.loadBalancer.provider;
  }

  private allowed(): pulumi.Output<string[]> {
    const { spec, routerAddresses } = this.#args;
    const clients = serviceRanges(spec);
    return pulumi
      .output(routerAddresses)
      .apply((all = []) => listenerRanges([...clients, ...all.map(alone)]));
  }

  private open(entrance: Entrance, loadbalancerId: pulumi.Input<string>): void {
    const { name, port, nodePort } = entrance;
    const { mark, machines, subnetId } = this.#args;
    const ovn = isOvn(this.#provider);
    const called = entranceName(this.#args.name, name);
    const protocol = "TCP";
    const listener = this.part(openstack.loadbalancer.Listener, `listener-${name}`, {
      ...{ name: called, loadbalancerId, protocol, protocolPort: port, tags: tagsOf(mark) },
      // With OVN machines see who asks, and the firewall does it.
      ...(!ovn && { allowedCidrs: this.allowed() }),
    });
    const pool = this.part(openstack.loadbalancer.Pool, `pool-${name}`, {
      ...{ name: called, listenerId: listener.id, protocol },
      lbMethod: ovn ? "SOURCE_IP_PORT" : "LEAST_CONNECTIONS",
    });
    this.part(openstack.loadbalancer.Monitor, `monitor-${name}`, {
      ...{ name: called, poolId: pool.id, type: protocol, ...monitoring },
    });
    for (const { plan, machine } of machines)
      this.part(openstack.loadbalancer.Member, `member-${name}-${String(plan.position)}`, {
        ...{ name: plan.name, poolId: pool.id, subnetId, address: machine.address },
        protocolPort: nodePort,
      });
  }

  private part<Made extends pulumi.Resource, Args>(
    constructor: new (name: string, args: Args, opts?: pulumi.CustomResourceOptions) => Made,
    role: string,
    args: Args,
  ): Made {
    // order: one change at a time.
    const made = this.make(constructor, role, args, { dependsOn: [this.#last], customTimeouts });
    this.#last = made;
    return made;
  }
}
