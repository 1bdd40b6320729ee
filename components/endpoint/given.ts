import * as pulumi from "@pulumi/pulumi";
import { isDnsName } from "../spec/endpoint.js";
import { Component } from "../support/component.js";
import { nobody, type Admitted, type Endpoint, type EndpointArgs } from "./endpoint.js";

/** A balancer of the user's own. Nothing is made. */
export class ExistingEndpoint extends Component implements Endpoint {
  static readonly type = "stackadm:endpoint:Existing";
  readonly outside: pulumi.Output<string>;
  readonly certificateNames: pulumi.Output<string[]>;
  readonly allowedAddresses = [];
  readonly #host: string;

  constructor(
    name: string,
    args: EndpointArgs<"existing">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(ExistingEndpoint.type, name, opts);
    this.#host = args.spec.host;
    this.outside = pulumi.output(this.#host);
    this.certificateNames = pulumi.output([this.#host]);
    this.registerOutputs({});
  }

  /** A DNS name is the API's own name then, and resolves itself. */
  inside(): pulumi.Output<string[]> {
    return pulumi.output(isDnsName(this.#host) ? [] : [this.#host]);
  }

  admit(): void {
    return;
  }

  scriptValues(): Record<string, string> {
    return { VIRTUAL_IP_CONFIG: "" };
  }
}

/** No way from outside: the program runs where it reaches the first control plane. */
export class PrivateEndpoint extends Component implements Endpoint {
  static readonly type = "stackadm:endpoint:Private";
  readonly certificateNames = pulumi.output<string[]>([]);
  readonly allowedAddresses = [];
  #first?: pulumi.Output<string>;

  constructor(
    name: string,
    _args: EndpointArgs<"private">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(PrivateEndpoint.type, name, opts);
    this.registerOutputs({});
  }

  get outside(): pulumi.Output<string> {
    return this.#first ?? nobody();
  }

  inside(controlPlanes: readonly pulumi.Input<string>[]): pulumi.Output<string[]> {
    return pulumi.all([...controlPlanes]);
  }

  admit({ address }: Admitted): void {
    this.#first ??= pulumi.output(address);
  }

  scriptValues(): Record<string, string> {
    return { VIRTUAL_IP_CONFIG: "" };
  }
}
