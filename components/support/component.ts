import * as pulumi from "@pulumi/pulumi";

type Constructor<Made, Args, Options> = new (name: string, args: Args, opts?: Options) => Made;

/** A component whose children are named after it and belong to it, without losing an option of the caller. */
export abstract class Component extends pulumi.ComponentResource {
  readonly #name: string;
  #first: pulumi.Resource | undefined;

  /** Raw arguments are kept out of the state: the children record what became of them. */
  protected constructor(type: string, name: string, opts: pulumi.ComponentResourceOptions = {}) {
    super(type, name, {}, opts);
    this.#name = name;
  }

  /** Makes the child `<name>-<role>` with this component as its parent. */
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

  /** The name that a child had in an earlier release: its state is taken over. */
  protected formerly(role: string): { readonly aliases: pulumi.Alias[] } {
    return { aliases: [{ name: `${this.#name}-${role}` }] };
  }

  /**
   * Like `make`, for the child that has to be done before anything else is begun: the children that are made after it wait
   * for it, and theirs for them, since nobody is registered before its parent.
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
