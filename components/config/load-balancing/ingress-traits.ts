import type { IngressSpec } from "./ingress.js";

/**
 * Port of the ingress load balancer, with the node port and the pod's port to which it forwards.
 */
export interface IngressPort {
  readonly name: "http" | "https";
  readonly port: number;
  /**
   * Node port to which a load balancer of the program forwards. The port is one of the first 86
   * node ports. Kubernetes assigns the first 86 node ports automatically only when all other node
   * ports are in use. The firewall allows load balancers to reach all node ports.
   */
  readonly nodePort: number;
  /** Port of the pod. Traefik needs no privilege to listen on a port above 1023. */
  readonly containerPort: number;
}

export const ingressPorts: readonly IngressPort[] = [
  { name: "http", port: 80, nodePort: 30080, containerPort: 8000 },
  { name: "https", port: 443, nodePort: 30043, containerPort: 8443 },
];

/** Arguments that determine what an ingress controller needs. */
export interface IngressTraitsInput {
  readonly ingress?: IngressSpec | undefined;
  readonly externalNetwork?: string | undefined;
}

/**
 * Numbers of OpenStack objects that an ingress controller needs, for the check of quotas. All
 * numbers depend only on the specification.
 */
export interface IngressTraits {
  readonly loadBalancers: number;
  /** Number of ports, one for each load balancer. */
  readonly ports: number;
  readonly floatingIps: number;
  /** Number of security groups that the cloud controller creates for the Service. */
  readonly securityGroups: number;
}

export function getIngressTraits({ ingress }: IngressTraitsInput): IngressTraits {
  if (ingress === undefined)
    return { loadBalancers: 0, ports: 0, floatingIps: 0, securityGroups: 0 };
  const oneBalancer = { loadBalancers: 1, ports: 1 };
  const floatingIps = ingress.public ? 1 : 0;
  switch (ingress.kind) {
    case "service": {
      const given = ingress.address !== undefined;
      return { ...oneBalancer, floatingIps: given ? 0 : floatingIps, securityGroups: 1 };
    }
    case "workers": {
      const given = ingress.floatingIp !== undefined;
      return { ...oneBalancer, floatingIps: given ? 0 : floatingIps, securityGroups: 0 };
    }
  }
}
