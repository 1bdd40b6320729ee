import * as pulumi from "@pulumi/pulumi";

type Constructor<Made, Args, Options> = new (name: string, args: Args, opts?: Options) => Made;

/**
 * Base class of all components. A component is the parent of its children. The name of each child
 * begins with the name of the component. Options that the caller passes for a child are kept.
 */
export abstract class Component extends pulumi.ComponentResource {
  readonly #name: string;
  #first: pulumi.Resource | undefined;

  /**
   * Registers the component without inputs. The state then contains the inputs of its children, but
   * not its own arguments.
   */
  protected constructor(type: string, name: string, opts: pulumi.ComponentResourceOptions = {}) {
    super(type, name, {}, opts);
    this.#name = name;
  }

  /**
   * Creates the child `<name>-<role>` with this component as its parent, unless the options name
   * another parent.
   */
  protected make<Made extends pulumi.Resource, Args, Options extends pulumi.ResourceOptions>(
    constructor: Constructor<Made, Args, Options>,
    role: string,
    args: Args,
    ...[opts]: [Options?]
  ): Made {
    const mine: pulumi.ResourceOptions = {
      parent: opts?.parent ?? this,
      // order: all children wait for the child of `makeFirst`.
      ...(this.#first && { dependsOn: [this.#first] }),
    };
    return new constructor(
      `${this.#name}-${role}`,
      args,
      pulumi.mergeOptions(opts, mine) as Options,
    );
  }

  /**
   * Creates a child like `make`. All children that are created afterwards wait for this child. The
   * descendants of those children also wait, because Pulumi registers a resource after its parent.
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
