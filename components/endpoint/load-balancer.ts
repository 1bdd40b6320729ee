import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { apiPort } from "../../base/ports.js";
import { descriptionOf, tagsOf } from "../identity/cluster-mark.js";
import { addressOf } from "../../base/addresses.js";
import { Endpoint, nobody, type Admitted, type EndpointArgs } from "./endpoint.js";
import { isOvn, listenerRanges } from "../spec/traits/endpoint.js";
import { balancerOptions, customTimeouts, monitoring, placed } from "./octavia.js";

type Args = EndpointArgs<"load-balancer">;

interface Vip {
  readonly address: pulumi.Output<string>;
  readonly portId: pulumi.Output<string>;
}

/**
 * Idle timeout of an hour in milliseconds: watches and `kubectl logs -f` are silent for long, and
 * Octavia's default is 50 s.
 */
const silence = 3_600_000;
/**
 * Load balancer of Octavia in the machines' subnet. Every change locks all of it, so its parts are
 * created one after another. `kubeadm init` does not wait for it, except with OVN.
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
    super(name, args, opts);
    this.#args = args;
    const { balancer, vip } = isOvn(args.spec.provider) ? this.withVip() : this.onPort();
    this.#vip = vip;
    this.#pool = this.pool(this.listener(balancer));
    this.#last = this.monitor(this.#pool);
    this.#host = args.spec.public ? this.publicAddress(args, vip.portId) : vip.address;
    this.certificateNames = pulumi
      .all([vip.address, this.#host])
      .apply((addresses) => [...new Set(addresses)]);
    this.registerOutputs({});
  }

  get outside(): pulumi.Output<string> {
    const first = this.#first ?? nobody();
    return pulumi.all([this.#host, first.id]).apply(([host]) => host);
  }

  /**
   * Returns the address, known only when a control plane is behind it: until then nothing answers.
   */
  inside(): pulumi.Output<string[]> {
    const first = this.#first ?? nobody();
    return pulumi.all([this.#vip.address, first.id]).apply(([address]) => [address]);
  }

  /**
   * Adds a control plane by its address. The machine need not exist yet: the monitor excludes it
   * until its API is ready.
   */
  admit({ plan, machine }: Admitted, leave?: pulumi.Resource): void {
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
      // order: one change at a time; deleted before the machine leaves.
      { dependsOn: [this.#last, ...(leave ? [leave] : [])], customTimeouts },
    );
    this.#last = member;
    this.#first ??= member;
  }

  /**
   * Creates the load balancer on a port of the program. The address, which is in the API server's
   * certificate, is then known first: amphorae may take minutes to boot.
   */
  private onPort(): { balancer: openstack.loadbalancer.LoadBalancer; vip: Vip } {
    const { name, mark, networkId, subnetId, ipv6 } = this.#args;
    const port = this.make(openstack.networking.Port, "port", {
      name,
      description: descriptionOf(mark, "Load balancer of the Kubernetes API"),
      networkId,
      adminStateUp: true,
      // Octavia adds its own security group.
      noSecurityGroups: true,
      fixedIps: [{ subnetId }],
      tags: tagsOf(mark),
    });
    const address = port.allFixedIps.apply((all) => addressOf("IPv4", all));
    const place = {
      vipPortId: port.id,
      // With an IPv6 subnet, each port has two addresses, and Octavia does not choose between them.
      ...(ipv6 && { vipAddress: address }),
    };
    return { balancer: this.balancer(place), vip: { address, portId: port.id } };
  }

  /**
   * Creates the load balancer on the provider's port: OVN supports no other, and is ready in
   * seconds.
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
        ...placed(spec),
        tags: tagsOf(mark),
      },
      balancerOptions(mark, name, operator),
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
        ...(!isOvn(spec.provider) && {
          allowedCidrs: listenerRanges([...allowedCidrs, nodes]),
          timeoutClientData: silence,
          timeoutMemberData: silence,
        }),
        tags: tagsOf(mark),
      },
      { customTimeouts },
    );
  }

  private pool({ id }: openstack.loadbalancer.Listener): openstack.loadbalancer.Pool {
    const { name, spec } = this.#args;
    // Connections last long, so a new one goes to the member with the fewest.
    const lbMethod = isOvn(spec.provider) ? "SOURCE_IP_PORT" : "LEAST_CONNECTIONS";
    const args = { name, listenerId: id, protocol: "TCP", lbMethod };
    return this.make(openstack.loadbalancer.Pool, "pool", args, { customTimeouts });
  }

  private monitor({ id }: openstack.loadbalancer.Pool): openstack.loadbalancer.Monitor {
    const { name, spec } = this.#args;
    const ready = { type: "HTTPS", urlPath: "/readyz", httpMethod: "GET", expectedCodes: "200" };
    const asked = isOvn(spec.provider) ? { type: "TCP" } : ready;
    const args = { name, poolId: id, ...asked, ...monitoring };
    return this.make(openstack.loadbalancer.Monitor, "monitor", args, { customTimeouts });
  }
}
