import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { apiPort } from "../../base/ports.js";
import { getClusterDescriptionOutput, getClusterTagsOutput } from "../identity/resource-tags.js";
import { mapResolved } from "../pulumi/placeholders.js";
import { findAddressOfFamily } from "../../base/ip-addresses.js";
import {
  Endpoint,
  failWithoutMembers,
  type EndpointMember,
  type EndpointArgs,
} from "./endpoint.js";
import {
  isOvnProvider,
  normalizeListenerRanges,
} from "../config/load-balancing/endpoint-traits.js";
import {
  getLoadBalancerOptions,
  loadBalancerTimeouts,
  healthMonitorOptions,
  getFlavorAndZone,
} from "./load-balancer-options.js";

type Args = EndpointArgs<"load-balancer">;

interface Vip {
  readonly address: pulumi.Output<string>;
  readonly portId: pulumi.Output<string>;
}

/**
 * Idle timeout of connections: one hour, in milliseconds. Watches and `kubectl logs -f` may be
 * silent for long, and Octavia's default is 50 s.
 */
const silence = 3_600_000;
/**
 * Endpoint at an Octavia load balancer in the machines' subnet. Octavia locks the load balancer
 * during each change, so its parts (listener, pool, monitor, members) are created one after
 * another. `kubeadm init` waits for the load balancer only with OVN.
 */
export class LoadBalancerEndpoint extends Endpoint {
  readonly certificateNames: pulumi.Output<string[]>;
  readonly #args: Args;
  readonly #vip: Vip;
  readonly #host: pulumi.Output<string>;
  readonly #pool: openstack.loadbalancer.Pool;
  /** Part of the load balancer that was created last. */
  #last: pulumi.Resource;
  #first?: openstack.loadbalancer.Member;

  constructor(name: string, args: Args, opts?: pulumi.ComponentResourceOptions) {
    super(name, opts);
    this.#args = args;
    const { balancer, vip } = isOvnProvider(args.spec.provider) ? this.withVip() : this.onPort();
    this.#vip = vip;
    this.#pool = this.pool(this.listener(balancer));
    this.#last = this.monitor(this.#pool);
    this.#host = args.spec.public ? this.publicAddress(args, vip.portId) : vip.address;
    this.certificateNames = pulumi
      .all([vip.address, this.#host])
      .apply((addresses) => [...new Set(addresses)]);
    this.registerOutputs({});
  }

  get externalHost(): pulumi.Output<string> {
    const first = this.#first ?? failWithoutMembers();
    return pulumi.all([this.#host, first.id]).apply(([host]) => host);
  }

  /**
   * Returns the address of the load balancer. The address becomes known only when a control plane
   * has been added, because the load balancer does not answer before.
   */
  getInternalAddresses(): pulumi.Output<string[]> {
    const first = this.#first ?? failWithoutMembers();
    return pulumi.all([this.#vip.address, first.id]).apply(([address]) => [address]);
  }

  /**
   * Adds a control plane to the load balancer's pool. The machine need not exist yet. The health
   * monitor prevents connections to the machine until its API server is ready.
   */
  addControlPlane({ plan, machine }: EndpointMember, leave?: pulumi.Resource): void {
    const member = this.make(
      openstack.loadbalancer.Member,
      `member-${String(plan.position)}`,
      {
        name: plan.name,
        poolId: this.#pool.id,
        subnetId: this.#args.subnetId,
        address: machine.address,
        protocolPort: apiPort,
      },
      // Octavia accepts only one change at a time, so the member depends on the last part. The
      // member also depends on `leave`, so that Pulumi deletes the member before `leave` runs.
      { dependsOn: [this.#last, ...(leave ? [leave] : [])], customTimeouts: loadBalancerTimeouts },
    );
    this.#last = member;
    this.#first ??= member;
  }

  /**
   * Creates the load balancer on a port that the program creates. The API server's certificate must
   * contain the address of this port. The amphorae of the load balancer may take minutes to boot.
   * With its own port, the program knows the address before the load balancer exists.
   */
  private onPort(): { balancer: openstack.loadbalancer.LoadBalancer; vip: Vip } {
    const { name, mark, networkId, subnetId, ipv6 } = this.#args;
    const port = this.make(openstack.networking.Port, "port", {
      name,
      description: getClusterDescriptionOutput(mark, "Load balancer of the Kubernetes API"),
      networkId,
      adminStateUp: true,
      // Octavia adds its own security group to the port.
      noSecurityGroups: true,
      fixedIps: [{ subnetId }],
      tags: getClusterTagsOutput(mark),
    });
    const address = port.allFixedIps.apply((all) => findAddressOfFamily("IPv4", all));
    const vipArgs = {
      vipPortId: port.id,
      // With an IPv6 subnet, each port has two addresses, and Octavia does not choose between them.
      ...(ipv6 && { vipAddress: address }),
    };
    return { balancer: this.balancer(vipArgs), vip: { address, portId: port.id } };
  }

  /**
   * Creates the load balancer on a port that Octavia creates, because OVN does not support a port
   * that the program creates. OVN load balancers are ready within seconds.
   */
  private withVip(): { balancer: openstack.loadbalancer.LoadBalancer; vip: Vip } {
    const balancer = this.balancer({ vipSubnetId: this.#args.subnetId });
    return { balancer, vip: { address: balancer.vipAddress, portId: balancer.vipPortId } };
  }

  private balancer(
    vip: Pick<openstack.loadbalancer.LoadBalancerArgs, "vipPortId" | "vipSubnetId" | "vipAddress">,
  ): openstack.loadbalancer.LoadBalancer {
    const { mark, name, spec, operator } = this.#args;
    return this.make(
      openstack.loadbalancer.LoadBalancer,
      "load-balancer",
      {
        ...vip,
        name,
        description: `Kubernetes API of cluster ${mark.name}`,
        loadbalancerProvider: spec.provider,
        ...getFlavorAndZone(spec),
        tags: getClusterTagsOutput(mark),
      },
      getLoadBalancerOptions(mark, name, operator),
    );
  }

  private listener({ id }: openstack.loadbalancer.LoadBalancer): openstack.loadbalancer.Listener {
    const { mark, name, spec, allowedCidrs, nodes } = this.#args;
    return this.make(
      openstack.loadbalancer.Listener,
      "listener",
      {
        name,
        loadbalancerId: id,
        protocol: "TCP",
        protocolPort: apiPort,
        ...(!isOvnProvider(spec.provider) && {
          allowedCidrs: mapResolved([...allowedCidrs, nodes], normalizeListenerRanges),
          timeoutClientData: silence,
          timeoutMemberData: silence,
        }),
        tags: getClusterTagsOutput(mark),
      },
      { customTimeouts: loadBalancerTimeouts },
    );
  }

  private pool({ id }: openstack.loadbalancer.Listener): openstack.loadbalancer.Pool {
    const { name, spec } = this.#args;
    // Connections last long, so each new connection goes to the member with the fewest connections.
    const lbMethod = isOvnProvider(spec.provider) ? "SOURCE_IP_PORT" : "LEAST_CONNECTIONS";
    const args = { name, listenerId: id, protocol: "TCP", lbMethod };
    return this.make(openstack.loadbalancer.Pool, "pool", args, {
      customTimeouts: loadBalancerTimeouts,
    });
  }

  private monitor({ id }: openstack.loadbalancer.Pool): openstack.loadbalancer.Monitor {
    const { name, spec } = this.#args;
    const ready = { type: "HTTPS", urlPath: "/readyz", httpMethod: "GET", expectedCodes: "200" };
    const asked = isOvnProvider(spec.provider) ? { type: "TCP" } : ready;
    const args = { name, poolId: id, ...asked, ...healthMonitorOptions };
    return this.make(openstack.loadbalancer.Monitor, "monitor", args, {
      customTimeouts: loadBalancerTimeouts,
    });
  }
}
