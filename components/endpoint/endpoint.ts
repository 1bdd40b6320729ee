import type * as pulumi from "@pulumi/pulumi";
import type { Outside } from "../network/floating-address.js";
import type { EndpointSpec } from "../spec/endpoint.js";

/** A control plane as the endpoint has to know it. */
export interface Admitted {
  /** Name of the machine. */
  readonly name: string;
  /** From 0; the cluster begins on the first. */
  readonly position: number;
  readonly portId: pulumi.Input<string>;
  readonly address: pulumi.Input<string>;
}

/** How the Kubernetes API is reached; there before any machine is. */
export interface Endpoint {
  /** What the API's name is on machines that are no control plane. Nothing: the network resolves the name. */
  inside(controlPlanes: readonly pulumi.Input<string>[]): pulumi.Output<string[]>;
  /** Host of the API from outside; known only when the first control plane is behind it. */
  readonly outside: pulumi.Output<string>;
  /** Addresses and names in the API server's certificate, beside the API's name. */
  readonly certificateNames: pulumi.Output<string[]>;
  /** Addresses besides its own that a control plane's port may send from. */
  readonly allowedAddresses: readonly pulumi.Input<string>[];
  /** Puts a control plane behind the endpoint; what it makes goes before the machine does. */
  admit(controlPlane: Admitted): void;
  /** What the script of a control plane is told, given all control planes' addresses in their order. */
  scriptValues(
    position: number,
    controlPlanes: readonly pulumi.Input<string>[],
  ): Readonly<Record<string, pulumi.Input<string>>>;
}

/** What every kind of endpoint is made of. */
export interface EndpointArgs<
  Kind extends EndpointSpec["kind"] = EndpointSpec["kind"],
> extends Outside {
  readonly spec: Extract<EndpointSpec, { kind: Kind }>;
  /** Name of what it makes in the cloud. */
  readonly name: string;
  readonly networkId: pulumi.Input<string>;
  readonly subnetId: pulumi.Input<string>;
  /** Range of the machines. */
  readonly nodes: string;
  /** Who may use the API from outside. */
  readonly allowedCidrs: readonly string[];
}

/** The control plane that is asked for before one is there. */
export const nobody = (): never => {
  throw new RangeError("an endpoint is asked for its host before a control plane is behind it");
};
