import * as pulumi from "@pulumi/pulumi";
import { isDnsName } from "../config/load-balancing/endpoint.js";
import { ProgramError } from "../pulumi/errors.js";
import { mapResolved, resolvePlaceholders } from "../pulumi/placeholders.js";
import {
  Endpoint,
  failWithoutMembers,
  type EndpointMember,
  type EndpointArgs,
} from "./endpoint.js";

/** Endpoint at a load balancer of the user. The program creates no objects for it. */
export class ExistingEndpoint extends Endpoint {
  readonly externalHost: pulumi.Output<string>;
  readonly certificateNames: pulumi.Output<string[]>;
  readonly #host: string;

  constructor(
    name: string,
    args: EndpointArgs<"existing">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(name, opts);
    this.#host = args.spec.host;
    this.externalHost = pulumi.output(resolvePlaceholders(this.#host));
    this.certificateNames = pulumi.output(resolvePlaceholders([this.#host]));
    this.registerOutputs({});
  }

  /**
   * Returns the host if it is an IP address. Returns an empty list if the host is a DNS name. The
   * DNS name is then also the host name of the API, and machines resolve this name by DNS.
   */
  getInternalAddresses(): pulumi.Output<string[]> {
    if (isDnsName(this.#host)) return pulumi.output([]);
    return pulumi.output(mapResolved(this.#host, (address) => [requireAddress(address)]));
  }

  /** Does nothing, because the user configures the load balancer. */
  addControlPlane(): void {
    return;
  }
}

/**
 * Returns the address. Throws if an Output turns out to be a DNS name: a DNS name is also the host
 * name of the API, so it must be known before the run.
 */
function requireAddress(host: string): string {
  if (!isDnsName(host)) return host;
  throw new ProgramError(
    "INVALID_CONFIG",
    `cluster.endpoint.host: the Output is the DNS name ${host}; write a DNS name as plain text`,
  );
}

/**
 * Endpoint that clients outside the network cannot reach. The program must run where it can connect
 * to the first control plane.
 */
export class PrivateEndpoint extends Endpoint {
  readonly certificateNames = pulumi.output<string[]>([]);
  #first?: pulumi.Output<string>;

  constructor(
    name: string,
    _args: EndpointArgs<"private">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(name, opts);
    this.registerOutputs({});
  }

  get externalHost(): pulumi.Output<string> {
    return this.#first ?? failWithoutMembers();
  }

  getInternalAddresses(controlPlanes: readonly pulumi.Input<string>[]): pulumi.Output<string[]> {
    return pulumi.all([...controlPlanes]);
  }

  addControlPlane({ machine }: EndpointMember): void {
    this.#first ??= pulumi.output(machine.address);
  }
}
