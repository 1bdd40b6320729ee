import * as pulumi from "@pulumi/pulumi";

type Constructor<Made, Args, Options> = new (name: string, args: Args, opts?: Options) => Made;

/**
 * Component that is the parent of its children, and whose name begins their names. Keeps the
 * options that the caller passes for a child.
 */
export abstract class Component extends pulumi.ComponentResource {
  readonly #name: string;
  #first: pulumi.Resource | undefined;

  /**
   * Registers the component without inputs: the state contains the inputs of the children, but not
   * the arguments of the component.
   */
  protected constructor(type: string, name: string, opts: pulumi.ComponentResourceOptions = {}) {
    super(type, name, {}, opts);
    this.#name = name;
  }

  /** Creates the child `<name>-<role>` with this component as its parent. */
  protected make<Made extends pulumi.Resource, Args, Options extends pulumi.ResourceOptions>(
    constructor: Constructor<Made, Args, Options>,
    role: string,
    args: Args,
    ...[opts]: [Options?]
  ): Made {
    const mine: pulumi.ResourceOptions = {
      parent: this,
      // order: see makeFirst.
      ...(this.#first && { dependsOn: [this.#first] }),
    };
    return new constructor(
      `${this.#name}-${role}`,
      args,
      pulumi.mergeOptions(opts, mine) as Options,
    );
  }

  /**
   * Returns the alias with which a child takes over the state of a child that had another name in
   * an earlier release.
   */
  protected formerly(role: string): { readonly aliases: pulumi.Alias[] } {
    return { aliases: [{ name: `${this.#name}-${role}` }] };
  }

  /**
   * Creates a child like `make`. All later children wait for this child. Descendants of later
   * children also wait, because Pulumi registers a resource after its parent.
   */
  protected makeFirst<Made extends pulumi.Resource, Args, Options extends pulumi.ResourceOptions>(
    constructor: Constructor<Made, Args, Options>,
    role: string,
    args: Args,
  ): Made {
    const first = this.make(constructor, role, args);
    this.#first = first;
    return first;
  }
}
