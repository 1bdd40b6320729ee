import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { tagsOf } from "../identity/cluster-mark.js";
import { apiPort } from "../kubeadm/documents.js";
import { floatingAddress, floatingAddressOptions } from "../network/floating-address.js";
import { Component } from "../support/component.js";
import { nobody, type Admitted, type Endpoint, type EndpointArgs } from "./endpoint.js";
import { isOvn, listenerRanges } from "./endpoint-plan.js";

/** Octavia takes one change of a load balancer at a time, and an amphora takes minutes to boot. */
const timeouts = { create: "15m", update: "15m", delete: "15m" };

/** A load balancer of Octavia in the machines' subnet. Nothing of `kubeadm init` waits for it. */
export class LoadBalancerEndpoint extends Component implements Endpoint {
  static readonly type = "stackadm:endpoint:LoadBalancer";
  readonly allowedAddresses = [];
  readonly certificateNames: pulumi.Output<string[]>;
  readonly #subnetId: pulumi.Input<string>;
  readonly #address: pulumi.Output<string>;
  readonly #host: pulumi.Output<string>;
  readonly #pool: openstack.loadbalancer.Pool;
  /** What the next member waits for. */
  #last: pulumi.Resource;
  #first?: openstack.loadbalancer.Member;

  constructor(
    name: string,
    args: EndpointArgs<"load-balancer">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(LoadBalancerEndpoint.type, name, opts);
    const settings = settingsOf(args);
    const tags = tagsOf(args.mark);
    const balancer = this.make(
      openstack.loadbalancer.LoadBalancer,
      "load-balancer",
      {
        name: args.name,
        description: `Kubernetes API of cluster ${args.mark.name}`,
        loadbalancerProvider: args.spec.provider,
        vipSubnetId: args.subnetId,
        tags,
      },
      { customTimeouts: timeouts },
    );
    const listener = this.make(
      openstack.loadbalancer.Listener,
      "listener",
      {
        name: args.name,
        loadbalancerId: balancer.id,
        protocol: "TCP",
        protocolPort: apiPort,
        ...settings.listener,
        tags,
      },
      { customTimeouts: timeouts },
    );
    this.#pool = this.make(
      openstack.loadbalancer.Pool,
      "pool",
      { name: args.name, listenerId: listener.id, protocol: "TCP", lbMethod: settings.method },
      { customTimeouts: timeouts },
    );
    this.#last = this.make(
      openstack.loadbalancer.Monitor,
      "monitor",
      { name: args.name, poolId: this.#pool.id, ...settings.monitor },
      { customTimeouts: timeouts },
    );
    this.#subnetId = args.subnetId;
    this.#address = balancer.vipAddress;
    this.#host = args.spec.public
      ? this.make(
          openstack.networking.FloatingIp,
          "floating-ip",
          floatingAddress(args, balancer.vipPortId, "Kubernetes API"),
          floatingAddressOptions(args),
        ).address
      : balancer.vipAddress;
    this.certificateNames = pulumi
      .all([balancer.vipAddress, this.#host])
      .apply((addresses) => [...new Set(addresses)]);
    this.registerOutputs({});
  }

  get outside(): pulumi.Output<string> {
    const first = this.#first ?? nobody();
    return pulumi.all([this.#host, first.id]).apply(([host]) => host);
  }

  inside(): pulumi.Output<string[]> {
    return pulumi.all([this.#address]);
  }

  /** The monitor keeps a control plane out until it answers, so its member is made before the machine is. */
  admit({ name, position, address }: Admitted): void {
    const member = this.make(
      openstack.loadbalancer.Member,
      `member-${String(position)}`,
      {
        name,
        poolId: this.#pool.id,
        subnetId: this.#subnetId,
        address,
        protocolPort: apiPort,
      },
      {
        // order: one change of a load balancer at a time.
        dependsOn: [this.#last],
        customTimeouts: timeouts,
      },
    );
    this.#last = member;
    this.#first ??= member;
  }

  scriptValues(): Record<string, string> {
    return { VIRTUAL_IP_CONFIG: "" };
  }
}

/** `kubectl logs -f` and watches are silent for long: an hour, in milliseconds. */
const silence = 3_600_000;
const often = { delay: 5, timeout: 3, maxRetries: 1, maxRetriesDown: 2 };

/** What depends on who carries the bytes. */
const settingsOf = ({ spec, allowedCidrs, nodes }: EndpointArgs<"load-balancer">) =>
  isOvn(spec.provider)
    ? { method: "SOURCE_IP_PORT", listener: {}, monitor: { type: "TCP", ...often } }
    : {
        method: "ROUND_ROBIN",
        listener: {
          allowedCidrs: listenerRanges({ allowedCidrs, network: { nodes } }),
          timeoutClientData: silence,
          timeoutMemberData: silence,
        },
        monitor: {
          ...{ type: "HTTPS", urlPath: "/readyz", httpMethod: "GET", expectedCodes: "200" },
          ...often,
        },
      };
