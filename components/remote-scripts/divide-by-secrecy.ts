import * as pulumi from "@pulumi/pulumi";
import { isLongValue, getShownValue } from "./script-steps.js";

type Texts = Readonly<Record<string, string>>;

const textsOf = (texts: readonly (readonly [string, string])[]): Texts => Object.fromEntries(texts);

const none: pulumi.Output<Texts> = pulumi.output(textsOf([]));

/** Values of a step in two parts: values that everyone may read, and all others. */
export interface PlainAndSecretValues {
  /** Values for the command of the step. A long value is replaced by its digest. */
  readonly shown: pulumi.Output<Texts>;
  /** Values for the standard input of the step. Secret if one of the values is secret. */
  readonly hidden: pulumi.Output<Texts>;
}

/**
 * Divides values into secret and other values. Whether a value is secret becomes known only
 * together with the value.
 */
export function divideBySecrecy(
  values: Readonly<Record<string, pulumi.Input<string>>>,
): PlainAndSecretValues {
  const all = Object.entries(values).map(([name, input]) => {
    const value = pulumi.output(input);
    const clear = pulumi.unsecret(value);
    const shown = clear.apply((text) => textsOf([getShownValue(name, text)]));
    const long = clear.apply((text) => textsOf(isLongValue(text) ? [[name, text]] : []));
    const whole = value.apply((text) => textsOf([[name, text]]));
    const secret = pulumi.output(pulumi.isSecret(value));
    return {
      shown: secret.apply((is) => (is ? none : shown)),
      hidden: secret.apply((is) => (is ? whole : long)),
    };
  });
  const joined = (some: pulumi.Output<Texts>[]): pulumi.Output<Texts> =>
    pulumi.all(some).apply((each) => textsOf(each.flatMap((texts) => Object.entries(texts))));
  return {
    shown: joined(all.map(({ shown }) => shown)),
    hidden: joined(all.map(({ hidden }) => hidden)),
  };
}
