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

/** Port of the load balancer with the pool that the port forwards to. */
interface OpenedPort {
  readonly entrance: IngressPort;
  readonly poolId: pulumi.Output<string>;
}

/** Machine of the worker pool, as a member of the load balancer. */
export interface IngressMachine extends Pick<MachineGroupMember, "plan" | "machine"> {
  /** Script that joins the machine to the cluster. */
  readonly join: pulumi.Resource;
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
 * balancer during each change, so the parts are created one after another. Only the members of
 * different machines do not wait for each other: if machines are replaced one after another, the
 * members of a machine must exist again before the next machine is replaced. A machine without a
 * Traefik pod does not answer the health monitor and therefore gets no connections.
 */
export class IngressLoadBalancer extends FloatingIpComponent {
  static readonly type = "stackadm:ingress:IngressBalancer";
  /** Address for clients: the floating IP, or else the address in the machines' network. */
  readonly address: pulumi.Output<string>;
  /** IDs of the members of each machine, by the name of the machine. */
  readonly memberIds: ReadonlyMap<string, readonly pulumi.Output<string>[]>;
  readonly #args: IngressLoadBalancerArgs;

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
    let last: pulumi.Resource = balancer;
    const ports = ingressPorts.map((entrance): OpenedPort => {
      const opened = this.open(entrance, balancer, last);
      last = opened.last;
      return { entrance, poolId: opened.poolId };
    });
    this.memberIds = new Map(
      args.machines.map((machine) => [machine.plan.name, this.addMembers(machine, ports, last)]),
    );
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

  /**
   * Creates the listener, the pool and the monitor of a port after `before`. Returns the part that
   * is created last.
   */
  private open(
    { name, port }: IngressPort,
    { id: loadbalancerId }: openstack.loadbalancer.LoadBalancer,
    before: pulumi.Resource,
  ): { readonly poolId: pulumi.Output<string>; readonly last: pulumi.Resource } {
    const { mark } = this.#args;
    const ovn = isOvnProvider(this.#provider);
    const called = getIngressPortObjectName(this.#args.name, name);
    const protocol = "TCP";
    const customTimeouts = loadBalancerTimeouts;
    const listener = this.make(
      openstack.loadbalancer.Listener,
      `listener-${name}`,
      {
        name: called,
        loadbalancerId,
        protocol,
        protocolPort: port,
        tags: getClusterTagsOutput(mark),
        // OVN load balancers keep the clients' addresses, so the security groups of the machines
        // filter the clients. `allowedCidrs` is therefore not needed.
        ...(!ovn && { allowedCidrs: this.allowed() }),
      },
      { dependsOn: [before], customTimeouts },
    );
    const pool = this.make(
      openstack.loadbalancer.Pool,
      `pool-${name}`,
      {
        name: called,
        listenerId: listener.id,
        protocol,
        lbMethod: ovn ? "SOURCE_IP_PORT" : "LEAST_CONNECTIONS",
      },
      { dependsOn: [listener], customTimeouts },
    );
    const monitor = this.make(
      openstack.loadbalancer.Monitor,
      `monitor-${name}`,
      { name: called, poolId: pool.id, type: protocol, ...healthMonitorOptions },
      { dependsOn: [pool], customTimeouts },
    );
    return { poolId: pool.id, last: monitor };
  }

  /** Adds the machine to the pool of each port after `before`. Returns the IDs of the members. */
  private addMembers(
    { plan, machine, join, leave }: IngressMachine,
    ports: readonly OpenedPort[],
    before: pulumi.Resource,
  ): readonly pulumi.Output<string>[] {
    const { subnetId } = this.#args;
    let last = before;
    return ports.map(({ entrance: { name, nodePort }, poolId }) => {
      const member = this.make(
        openstack.loadbalancer.Member,
        `member-${name}-${String(plan.position)}`,
        {
          name: plan.name,
          poolId,
          subnetId,
          address: machine.address,
          protocolPort: nodePort,
        },
        // Creates the member after the machine has joined, because Octavia sends connections to a
        // new member until the health monitor has failed. Deletes the member before the machine is
        // drained if the machine is removed. If the server is replaced, the engine deletes member
        // and script in any order, both before the server.
        {
          dependsOn: [last, join, ...(leave ? [leave] : [])],
          replaceWith: [machine.server],
          deleteBeforeReplace: true,
          customTimeouts: loadBalancerTimeouts,
        },
      );
      last = member;
      return member.id;
    });
  }
}
