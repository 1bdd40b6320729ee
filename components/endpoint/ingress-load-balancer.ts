import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../config/cluster-spec.js";
import {
  getLoadBalancerOptions,
  loadBalancerTimeouts,
  healthMonitorOptions,
  getFlavorAndZone,
} from "./load-balancer-options.js";
import {
  isOvnProvider,
  normalizeListenerRanges,
  listServiceClientRanges,
} from "../config/load-balancing/endpoint-traits.js";
import { getClusterTagsOutput } from "../identity/resource-tags.js";
import { FloatingIpComponent, type ExternalConnection } from "../network/floating-ip-component.js";
import type { MachineGroupMember } from "../machine/machine-group.js";
import { resolvePlaceholders } from "../pulumi/placeholders.js";
import { getIngressPortObjectName } from "../plan/object-names.js";
import type { IngressSpec } from "../config/load-balancing/ingress.js";
import type { RouterAddress } from "../lookup/existing-network.js";
import type { LocalContext } from "../lookup/local-context.js";
import { ingressPorts, type IngressPort } from "../config/load-balancing/ingress-traits.js";

/** Returns the CIDR that contains only this address. */
const hostRange = ({ ipAddress = "" }: RouterAddress): string => `${ipAddress}/32`;

interface PartOptions extends Pick<
  pulumi.CustomResourceOptions,
  "replaceWith" | "deleteBeforeReplace"
> {
  readonly dependsOn?: readonly pulumi.Resource[];
}

/** Machine of the worker pool, as a member of the load balancer. */
export interface IngressMachine extends Pick<MachineGroupMember, "plan" | "machine"> {
  /** Script that drains the machine before its server is deleted. */
  readonly leave: pulumi.Resource | undefined;
}

/**
 * Arguments of {@link IngressLoadBalancer}. A changed argument updates the objects in place, unless
 * the comment of the argument says otherwise.
 */
export interface IngressLoadBalancerArgs extends ExternalConnection {
  /**
   * Name of the load balancer, and prefix of the names of its listeners, pools and monitors. A
   * change replaces the load balancer.
   */
  readonly name: string;
  /** Subnet of the machines. A change is refused while the cluster exists. */
  readonly subnetId: pulumi.Input<string>;
  readonly ingress: Extract<IngressSpec, { kind: "workers" }>;
  /**
   * Octavia provider and CIDRs of clients. A change of the provider replaces the load balancer,
   * which keeps its floating IP. A change of the CIDRs updates the listeners in place.
   */
  readonly spec: Pick<ClusterSpec, "loadBalancer" | "serviceCidrs" | "network">;
  /**
   * External addresses of the router. Connections of machines and pods to the floating IP come from
   * these addresses.
   */
  readonly routerAddresses: pulumi.Input<readonly RouterAddress[] | undefined>;
  /** Machines of the worker pool. */
  readonly machines: readonly IngressMachine[];
  /**
   * Access to the cloud, with which the program deletes a load balancer that Octavia failed to
   * create. If undefined, the program does not delete such a load balancer.
   */
  readonly operator: LocalContext | undefined;
}

/**
 * Octavia load balancer in front of the ingress controller's node ports. Octavia locks the load
 * balancer during each change, so the parts are created one after another. A machine without a
 * Traefik pod does not answer the health monitor and therefore gets no connections.
 */
export class IngressLoadBalancer extends FloatingIpComponent {
  static readonly type = "stackadm:ingress:IngressBalancer";
  /** Address for clients: the floating IP, or else the address in the machines' network. */
  readonly address: pulumi.Output<string>;
  readonly #args: IngressLoadBalancerArgs;
  /** Part of the load balancer that was created last. */
  #last: pulumi.Resource;

  constructor(name: string, args: IngressLoadBalancerArgs, opts?: pulumi.ComponentResourceOptions) {
    super(IngressLoadBalancer.type, name, opts);
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
        ...getFlavorAndZone(ingress),
        tags: getClusterTagsOutput(mark),
      },
      getLoadBalancerOptions(mark, args.name, operator),
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
    return pulumi
      .all([routerAddresses, resolvePlaceholders(spec.serviceCidrs)])
      .apply(([all = [], serviceCidrs]) =>
        normalizeListenerRanges([
          ...listServiceClientRanges({ ...spec, serviceCidrs }),
          ...all.map(hostRange),
        ]),
      );
  }

  private open(entrance: IngressPort, loadbalancerId: pulumi.Input<string>): void {
    const { name, port, nodePort } = entrance;
    const { mark, machines, subnetId } = this.#args;
    const ovn = isOvnProvider(this.#provider);
    const called = getIngressPortObjectName(this.#args.name, name);
    const protocol = "TCP";
    const listener = this.part(openstack.loadbalancer.Listener, `listener-${name}`, {
      name: called,
      loadbalancerId,
      protocol,
      protocolPort: port,
      tags: getClusterTagsOutput(mark),
      // OVN load balancers keep the clients' addresses, so the security groups of the machines
      // filter the clients. `allowedCidrs` is therefore not needed.
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
    for (const { plan, machine, leave } of machines)
      this.part(
        openstack.loadbalancer.Member,
        `member-${name}-${String(plan.position)}`,
        {
          name: plan.name,
          poolId: pool.id,
          subnetId,
          address: machine.address,
          protocolPort: nodePort,
        },
        // Deletes the member before the machine is drained, also if the server is replaced and
        // keeps its address. Otherwise the load balancer would send connections to a machine
        // without a Traefik pod, until the health monitor notices.
        {
          ...(leave && { dependsOn: [leave] }),
          replaceWith: [machine.server],
          deleteBeforeReplace: true,
        },
      );
  }

  private part<Made extends pulumi.Resource, Args>(
    constructor: new (name: string, args: Args, opts?: pulumi.CustomResourceOptions) => Made,
    role: string,
    args: Args,
    { dependsOn = [], ...opts }: PartOptions = {},
  ): Made {
    // Octavia accepts only one change of a load balancer at a time, so each part depends on the
    // last part.
    const resource = this.make(constructor, role, args, {
      ...opts,
      dependsOn: [this.#last, ...dependsOn],
      customTimeouts: loadBalancerTimeouts,
    });
    this.#last = resource;
    return resource;
  }
}
