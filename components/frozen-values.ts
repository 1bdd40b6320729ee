import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import type { ClusterSpec } from "./cluster-spec.js";
import { compareFrozen, frozenLines } from "./spec/frozen.js";
import { networkIn, type CloudFacts } from "./support/catalog.js";
import { ConfigError } from "./support/errors.js";
import { KeptValues, type KeptValuesArgs } from "./support/remote-script.js";

export interface FrozenValuesArgs {
  readonly cluster: string;
  /** By their path in the specification. */
  readonly values: Readonly<Record<string, pulumi.Input<string>>>;
}

/**
 * What a cluster keeps while it lives, in the state in clear: whoever runs a preview or an update of it, with whatever
 * tool, is refused another value. Make it before everything else, so that nothing has changed by then.
 */
export class FrozenValues extends KeptValues {
  /** For the machines, which compare them again (kubeadm/scripts/frozen.sh). */
  readonly lines: pulumi.Output<string>;

  constructor(
    name: string,
    { cluster, values }: FrozenValuesArgs,
    opts?: pulumi.CustomResourceOptions,
  ) {
    const check: KeptValuesArgs["check"] = async ({ urn, before, now }) => {
      const problems = compareFrozen(before, now);
      if (problems.length > 0 && (await hasLived(urn)))
        throw new ConfigError(`The specification of the living cluster ${cluster}`, problems);
    };
    super(name, { values, check }, opts);
    this.lines = pulumi.output(values).apply(frozenLines);
  }
}

/** What is known by its ID, so that its name instead of its ID is no change. */
export function frozenIds(
  { externalNetwork, network: { existing } }: ClusterSpec,
  cloud: pulumi.Output<CloudFacts>,
): Record<string, pulumi.Output<string>> {
  const network = cloud.apply((facts) => (existing ? networkIn(facts) : undefined));
  const idOf = (part: "networkId" | "subnetId" | "routerId"): pulumi.Output<string> =>
    network.apply((found) => found?.[part] ?? "");
  return {
    ...(externalNetwork !== undefined && { externalNetwork: cloud.externalNetworkId }),
    ...(existing && {
      "network.existing.network": idOf("networkId"),
      "network.existing.subnet": idOf("subnetId"),
    }),
    ...(existing?.router !== undefined && { "network.existing.router": idOf("routerId") }),
  };
}

const stateSchema = z.object({
  outputs: z.record(z.string(), z.looseObject({ type: z.string() })),
});

/**
 * Whether the cluster of these values ever answered: then the state holds a provider for its objects. Who corrects a value with
 * which the first `up` failed loses nothing. Where the state cannot be asked, it lives.
 */
async function hasLived(urn: string): Promise<boolean> {
  const prefix = nameIn(urn).replace(/[^-]*$/, "");
  try {
    const stackName = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack()].join("/");
    // What the engine itself looks up for a StackReference; this one is its own stack as it was before the run.
    const lookup = "pulumi:pulumi:readStackResourceOutputs";
    const { outputs } = stateSchema.parse(await pulumi.runtime.invoke(lookup, { stackName }));
    return Object.entries(outputs).some(
      ([one, { type }]) =>
        nameIn(one).startsWith(prefix) && /^(pulumi:providers:kubernetes$|kubernetes:)/.test(type),
    );
  } catch {
    return true;
  }
}

const nameIn = (urn: string): string => urn.split("::").at(-1) ?? "";
