/** What an ingress controller takes of the cloud and of its machines, before any of them exists (pure). */
import type { IngressSpec } from "../ingress.js";

/** A way into the cluster: a port of the load balancer, and where it leads. */
export interface Entrance {
  readonly name: "http" | "https";
  readonly port: number;
  /**
   * Of the machines behind a load balancer that the program makes. Among the first 86, which Kubernetes gives to no Service
   * that asks for any port; the firewall lets load balancers reach all node ports.
   */
  readonly nodePort: number;
  /** Of the pod; no process needs a right for it. */
  readonly containerPort: number;
}

export const entrances: readonly Entrance[] = [
  { name: "http", port: 80, nodePort: 30080, containerPort: 8000 },
  { name: "https", port: 443, nodePort: 30043, containerPort: 8443 },
];

/** What of a specification decides. */
export interface IngressPlanned {
  readonly ingress?: IngressSpec | undefined;
  readonly externalNetwork?: string | undefined;
}

/** What it takes of the cloud. */
export interface IngressTraits {
  readonly loadBalancers: number;
  /** Each load balancer's own. */
  readonly ports: number;
  readonly floatingIps: number;
  /** Of the cloud controller, for a Service. */
  readonly securityGroups: number;
}

export function ingressTraits({ ingress }: IngressPlanned): IngressTraits {
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
