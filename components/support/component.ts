import * as pulumi from "@pulumi/pulumi";

type Constructor<Made, Args, Options> = new (name: string, args: Args, opts?: Options) => Made;

/**
 * Component whose children are named after it and have it as their parent. The caller's options are
 * kept.
 */
export abstract class Component extends pulumi.ComponentResource {
  readonly #name: string;
  #first: pulumi.Resource | undefined;

  /**
   * Registers the component without inputs: the state contains the inputs of its children, but not
   * its arguments.
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
   * Returns the alias for a child's name in an earlier release, whose state the child continues.
   */
  protected formerly(role: string): { readonly aliases: pulumi.Alias[] } {
    return { aliases: [{ name: `${this.#name}-${role}` }] };
  }

  /**
   * Creates a child like `make`. All children created after it wait for it, and so do their
   * children, because a resource is registered after its parent.
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
