import * as pulumi from "@pulumi/pulumi";
import { isLong, shownOf } from "./steps.js";

type Texts = Readonly<Record<string, string>>;

type Optional = pulumi.Output<string | undefined>;

const none: Optional = pulumi.output(undefined);

/** Values of a step, divided by who may read them. */
export interface Divided {
  /** Values for its command; a digest in place of a long one. */
  readonly shown: pulumi.Output<Texts>;
  /** Values for its standard input; secret if one of them is. */
  readonly hidden: pulumi.Output<Texts>;
}

/** Divides values by whether they are secret, which is known only with each value. */
export function dividedBySecrecy(values: Readonly<Record<string, pulumi.Input<string>>>): Divided {
  const all = Object.entries(values).map(([name, input]) => {
    const value = pulumi.output(input);
    const clear = pulumi.unsecret(value);
    const [short, long] = [clear.apply(shownOf), clear.apply(ifLong)];
    const secret = pulumi.output(pulumi.isSecret(value));
    return {
      name,
      shown: secret.apply((is) => (is ? none : short)),
      hidden: secret.apply((is) => (is ? value : long)),
    };
  });
  const textsOf = (kind: "shown" | "hidden"): pulumi.Output<Texts> =>
    pulumi.output(Object.fromEntries(all.map((one) => [one.name, one[kind]]))).apply(present);
  return { shown: textsOf("shown"), hidden: textsOf("hidden") };
}

/** Returns the texts that there are. */
const present = (texts: Readonly<Record<string, string | undefined>>): Texts =>
  Object.fromEntries(
    Object.entries(texts).filter((one): one is [string, string] => one[1] !== undefined),
  );

const ifLong = (value: string): string | undefined => (isLong(value) ? value : undefined);
