import * as pulumi from "@pulumi/pulumi";
import { isDnsName } from "../spec/endpoint.js";
import { Endpoint, nobody, type Admitted, type EndpointArgs } from "./endpoint.js";

/** Endpoint at the user's own load balancer. Nothing is created. */
export class ExistingEndpoint extends Endpoint {
  readonly outside: pulumi.Output<string>;
  readonly certificateNames: pulumi.Output<string[]>;
  readonly #host: string;

  constructor(
    name: string,
    args: EndpointArgs<"existing">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(name, args, opts);
    this.#host = args.spec.host;
    this.outside = pulumi.output(this.#host);
    this.certificateNames = pulumi.output([this.#host]);
    this.registerOutputs({});
  }

  /**
   * Returns the host, or nothing if it is a DNS name: that is then the API's name, which DNS
   * resolves.
   */
  inside(): pulumi.Output<string[]> {
    return pulumi.output(isDnsName(this.#host) ? [] : [this.#host]);
  }

  /** Does nothing: the user configures the load balancer. */
  admit(): void {
    return;
  }
}

/**
 * Endpoint without a way from outside: the program runs where it reaches the first control plane.
 */
export class PrivateEndpoint extends Endpoint {
  readonly certificateNames = pulumi.output<string[]>([]);
  #first?: pulumi.Output<string>;

  constructor(name: string, args: EndpointArgs<"private">, opts?: pulumi.ComponentResourceOptions) {
    super(name, args, opts);
    this.registerOutputs({});
  }

  get outside(): pulumi.Output<string> {
    return this.#first ?? nobody();
  }

  inside(controlPlanes: readonly pulumi.Input<string>[]): pulumi.Output<string[]> {
    return pulumi.all([...controlPlanes]);
  }

  admit({ machine }: Admitted): void {
    this.#first ??= pulumi.output(machine.address);
  }
}
