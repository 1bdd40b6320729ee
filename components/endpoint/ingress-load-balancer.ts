import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../config/cluster-spec.js";
import {
  balancerOptions,
  customTimeouts,
  healthMonitorOptions,
  flavorAndZone,
} from "./load-balancer-options.js";
import { isOvn, listenerRanges, serviceRanges } from "../config/load-balancing/endpoint-traits.js";
import { tagsOf } from "../identity/resource-tags.js";
import { PubliclyAddressed, type RouteOutside } from "../network/public-address.js";
import type { Member } from "../machine/machine-group.js";
import { entranceName } from "../plan/object-names.js";
import type { IngressSpec } from "../config/load-balancing/ingress.js";
import type { RouterAddress } from "../lookup/existing-network.js";
import type { LocalContext } from "../lookup/local-context.js";
import { ingressPorts, type IngressPort } from "../config/load-balancing/ingress-traits.js";

/** Returns the range that only contains this address. */
const hostRange = ({ ipAddress = "" }: RouterAddress): string => `${ipAddress}/32`;

/** Arguments of {@link IngressBalancer}. */
export interface IngressBalancerArgs extends RouteOutside {
  /**
   * Name of the load balancer, and beginning of the names of listeners, pools and monitors. Change:
   * replaces the load balancer.
   */
  readonly name: string;
  /** Subnet of the machines. Change: refused. */
  readonly subnetId: pulumi.Input<string>;
  readonly ingress: Extract<IngressSpec, { kind: "workers" }>;
  /**
   * Octavia provider and ranges of clients. Change: another provider replaces the load balancer,
   * but keeps the floating IP; other ranges are set in place.
   */
  readonly spec: Pick<ClusterSpec, "loadBalancer" | "serviceCidrs" | "network">;
  /**
   * External addresses of the router, from which machines and pods reach the floating IP. Change:
   * in place.
   */
  readonly routerAddresses: pulumi.Input<readonly RouterAddress[] | undefined>;
  /** Machines of the worker pool. Change: in place. */
  readonly machines: readonly Member[];
  /**
   * Access to the cloud, to delete a load balancer that Octavia could not create. Undefined: such a
   * load balancer is not deleted.
   */
  readonly operator: LocalContext | undefined;
}

/**
 * Octavia load balancer in front of the ingress controller's node ports. Each change locks the load
 * balancer, so its parts are created one after another. Machines without a Traefik pod do not
 * answer, so the health monitors exclude them.
 */
export class IngressBalancer extends PubliclyAddressed {
  static readonly type = "stackadm:ingress:IngressBalancer";
  /** Address for clients: the floating IP, or the address in the machines' network. */
  readonly address: pulumi.Output<string>;
  readonly #args: IngressBalancerArgs;
  /** Part of the load balancer that was created last. */
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
        ...flavorAndZone(ingress),
        tags: tagsOf(mark),
      },
      balancerOptions(mark, args.name, operator),
    );
    this.#last = balancer;
    for (const entrance of ingressPorts) this.open(entrance, balancer.id);
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
      .apply((all = []) => listenerRanges([...clients, ...all.map(hostRange)]));
  }

  private open(entrance: IngressPort, loadbalancerId: pulumi.Input<string>): void {
    const { name, port, nodePort } = entrance;
    const { mark, machines, subnetId } = this.#args;
    const ovn = isOvn(this.#provider);
    const called = entranceName(this.#args.name, name);
    const protocol = "TCP";
    const listener = this.part(openstack.loadbalancer.Listener, `listener-${name}`, {
      name: called,
      loadbalancerId,
      protocol,
      protocolPort: port,
      tags: tagsOf(mark),
      // OVN keeps the clients' addresses, so that the machines' security groups filter them.
      ...(!ovn && { allowedCidrs: this.allowed() }),
    });
    const pool = this.part(openstack.loadbalancer.Pool, `pool-${name}`, {
      name: called,
      listenerId: listener.id,
      protocol,
      lbMethod: ovn ? "SOURCE_IP_PORT" : "LEAST_CONNECTIONS",
    });
    this.part(openstack.loadbalancer.Monitor, `monitor-${name}`, {
      name: called,
      poolId: pool.id,
      type: protocol,
      ...healthMonitorOptions,
    });
    for (const { plan, machine } of machines)
      this.part(openstack.loadbalancer.Member, `member-${name}-${String(plan.position)}`, {
        name: plan.name,
        poolId: pool.id,
        subnetId,
        address: machine.address,
        protocolPort: nodePort,
      });
  }

  private part<Made extends pulumi.Resource, Args>(
    constructor: new (name: string, args: Args, opts?: pulumi.CustomResourceOptions) => Made,
    role: string,
    args: Args,
  ): Made {
    // order: Octavia accepts one change of a load balancer at a time.
    const made = this.make(constructor, role, args, { dependsOn: [this.#last], customTimeouts });
    this.#last = made;
    return made;
  }
}
