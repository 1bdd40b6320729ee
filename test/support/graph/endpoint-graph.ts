import { strict as assert } from "node:assert";
import * as openstack from "@pulumi/openstack";
import type * as pulumi from "@pulumi/pulumi";
import type { Endpoint } from "../../../components/endpoint/endpoint.js";
import { getEndpointClass } from "../../../components/endpoint/endpoint-kinds.js";
import type { EndpointSpec } from "../../../components/config/load-balancing/endpoint.js";
import { localContextOf } from "../../../components/lookup/local-context.js";
import { Component } from "../../../components/pulumi/component.js";
import { sampleIdentity } from "../cloud/cloud-answers.js";
import { graph, type GraphOptions, type Row } from "./graph.js";

export const addresses = ["10.0.0.11", "10.0.0.12", "10.0.0.13"];
export const nodes = "10.0.0.0/24";
export const allowedCidrs = ["203.0.113.0/24", "2001:db8::/32"];

/**
 * Component with an endpoint and the resources that the endpoint needs: a network, and
 * `controlPlanes` ports of control planes.
 */
export class EndpointFixture extends Component {
  readonly endpoint: Endpoint;

  constructor(endpoint: EndpointSpec, controlPlanes: number) {
    super("stackadm:index:Cluster", "dev");
    const network = this.make(openstack.networking.Network, "network", {});
    const subnet = this.make(openstack.networking.Subnet, "subnet", { networkId: network.id });
    const routerInterface = this.make(openstack.networking.RouterInterface, "router-interface", {
      routerId: "router",
      subnetId: subnet.id,
    });
    this.endpoint = this.make(getEndpointClass(endpoint.kind), "endpoint", {
      spec: endpoint,
      name: "dev-api",
      allowedCidrs,
      nodes,
      mark: { name: "dev", identity: sampleIdentity },
      externalNetwork: { id: "external-network-id", name: "public" },
      routerInterface,
      operator: localContextOf({}),
      networkId: network.id,
      subnetId: subnet.id,
    });
    for (const position of Array(controlPlanes).keys()) this.admit(position, network.id);
    this.registerOutputs({});
  }

  private admit(position: number, networkId: pulumi.Input<string>): void {
    const port = this.make(openstack.networking.Port, `${String(position)}-port`, { networkId });
    this.endpoint.addControlPlane({
      plan: { name: `dev-control-plane-${String(position)}`, position },
      machine: { portId: port.id, address: port.allFixedIps[0] ?? "" },
    });
  }
}

export const answers: GraphOptions = {
  outputs: {
    "openstack:networking/port:Port": (_inputs, name) => ({
      allFixedIps: [addresses[Number(/dev-(\d)-port/.exec(name)?.[1])] ?? "10.0.0.100"],
    }),
    "openstack:networking/floatingIp:FloatingIp": () => ({ address: "203.0.113.7" }),
    "openstack:loadbalancer/loadBalancer:LoadBalancer": () => ({
      vipAddress: "10.0.0.200",
      vipPortId: "vip-port-of-the-provider",
    }),
  },
};

export interface Built {
  readonly rows: readonly Row[];
  readonly endpoint: Endpoint;
}

export async function build(
  spec: EndpointSpec,
  controlPlanes = 3,
  preview = false,
): Promise<Built> {
  let made: EndpointFixture | undefined;
  const rows = await graph(() => (made = new EndpointFixture(spec, controlPlanes)), {
    ...answers,
    preview,
  });
  assert.ok(made);
  return {
    rows: rows.filter(({ urn }) => urn.includes("stackadm:endpoint")),
    endpoint: made.endpoint,
  };
}

export const short = (urn: string): string => urn.split("::").at(-1) ?? "";
export const named = (rows: readonly Row[], role: string): Row => {
  const found = rows.find(({ name }) => name === `dev-endpoint-${role}`);
  assert.ok(found, role);
  return found;
};
export const roles = (rows: readonly Row[]): string[] =>
  rows
    .filter(({ custom }) => custom)
    .map(({ name }) => name.replace("dev-endpoint-", ""))
    .sort();
/** Returns the names of the endpoint's resources on which the resource `role` depends. */
export const after = (rows: readonly Row[], role: string): string[] =>
  named(rows, role)
    .dependencies.map(short)
    .filter((name) => name.startsWith("dev-endpoint-"))
    .map((name) => name.replace("dev-endpoint-", ""));

export const amphora = { kind: "load-balancer", provider: "amphora", public: true } as const;
export const ovn = { ...amphora, provider: "ovn" } as const;
export const virtualIp = { kind: "virtual-ip", public: true } as const;
