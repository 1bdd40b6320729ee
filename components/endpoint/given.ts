import * as pulumi from "@pulumi/pulumi";
import { isDnsName } from "../spec/endpoint.js";
import { Endpoint, nobody, type Admitted, type EndpointArgs } from "./endpoint.js";

/** A balancer of the user's own. Nothing is made. */
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

  /** A DNS name is the API's own name then, and resolves itself. */
  inside(): pulumi.Output<string[]> {
    return pulumi.output(isDnsName(this.#host) ? [] : [this.#host]);
  }

  /** Whoever runs the balancer tells it where the control planes are. */
  admit(): void {
    return;
  }
}

/** No way from outside: the program runs where it reaches the first control plane. */
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
