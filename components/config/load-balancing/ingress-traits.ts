import type { IngressSpec } from "./ingress.js";

/** Port of the ingress load balancer, with the node port and the pod's port to which it leads. */
export interface IngressPort {
  readonly name: "http" | "https";
  readonly port: number;
  /**
   * Node port of the machines behind a load balancer that the program creates. Lies among the first
   * 86 node ports, which Kubernetes assigns by itself only when all other node ports are in use.
   * The firewall lets load balancers reach all node ports.
   */
  readonly nodePort: number;
  /** Port of the pod, above 1023, so that the process needs no privilege. */
  readonly containerPort: number;
}

export const ingressPorts: readonly IngressPort[] = [
  { name: "http", port: 80, nodePort: 30080, containerPort: 8000 },
  { name: "https", port: 443, nodePort: 30043, containerPort: 8443 },
];

/** Arguments from which the needs of an ingress controller follow. */
export interface IngressTraitsInput {
  readonly ingress?: IngressSpec | undefined;
  readonly externalNetwork?: string | undefined;
}

/** Needs of an ingress controller (quota), known before any machine exists. */
export interface IngressTraits {
  readonly loadBalancers: number;
  /** Number of ports, one for each load balancer. */
  readonly ports: number;
  readonly floatingIps: number;
  /** Number of security groups that the cloud controller creates for the Service. */
  readonly securityGroups: number;
}

export function ingressTraits({ ingress }: IngressTraitsInput): IngressTraits {
  if (ingress === undefined)
    return { loadBalancers: 0, ports: 0, floatingIps: 0, securityGroups: 0 };
  const one = { loadBalancers: 1, ports: 1 };
  const floatingIps = ingress.public ? 1 : 0;
  switch (ingress.kind) {
    case "service": {
      const given = ingress.address !== undefined;
      return { ...one, floatingIps: given ? 0 : floatingIps, securityGroups: 1 };
    }
    case "workers": {
      const given = ingress.floatingIp !== undefined;
      return { ...one, floatingIps: given ? 0 : floatingIps, securityGroups: 0 };
    }
  }
}
