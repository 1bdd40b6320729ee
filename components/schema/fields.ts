import { Address4, Address6 } from "ip-address";
import { z } from "zod";
import { isPlaceholder } from "../../base/placeholders.js";
import type { StringInput } from "../kubernetes-objects/kubernetes-types.js";

/**
 * Effects that a changed argument can have on an existing cluster. Every leaf of the schema states
 * one effect:
 * - `in place`: the next `up` applies the change; the description says what restarts, if anything
 * - `restarts kubelet`: the next `up` applies the change on every machine
 * - `restarts control plane`: the next `up` applies the change on one control plane after another
 * - `replaces nodes`: machines get the change when a raised `generation` replaces them
 * - `refused`: preview and `up` report the change as an error before anything changes
 *   (config/immutable-fields.ts)
 */
export const changeEffects = [
  "in place",
  "restarts kubelet",
  "restarts control plane",
  "replaces nodes",
  "refused",
] as const;
export type ChangeEffect = (typeof changeEffects)[number];

/**
 * Ways in which a schema accepts an output, as `acceptsOutput` in its metadata:
 * - `placeholder`: a placeholder stands for the output (base/placeholders.ts)
 * - `value`: the schema accepts the output itself
 */
export type OutputUse = "placeholder" | "value";

/** Documentation of one argument. */
export interface ArgumentDocumentation {
  readonly description: string;
  readonly change: ChangeEffect;
  /** Text that the documentation shows as the default, for a default that is not in the schema. */
  readonly otherwise?: string;
}

/** Returns an argument's documentation as the JSON schema contains it. */
export const doc = (
  change: ChangeEffect,
  description: string,
  otherwise?: string,
): { description: string; change: ChangeEffect; otherwise?: string } => ({
  description,
  change,
  ...(otherwise !== undefined && { otherwise }),
});

/** Returns the value as JSON for an error message, shortened to 60 characters. */
export const shortValue = (value: unknown): string => {
  const text = value === undefined ? "nothing" : toJson(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

/** Returns the value as JSON. A value that contains an output has no JSON. */
const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch {
    return "a value with an Output";
  }
};

/**
 * Returns the schema of a string that `test` accepts. The error message consists of the value,
 * `wrong` and the text that `more` returns. If there is no value, the message ends with `missing`.
 */
export const textField = (
  test: (value: string) => boolean,
  wrong: string,
  missing = wrong,
  more: (value: string) => string = () => "",
): z.ZodType<string, string> =>
  z
    .string({
      error: ({ input }) =>
        input === undefined ? `is missing; ${missing}` : `${shortValue(input)} ${wrong}`,
    })
    .refine((value) => isPlaceholder(value) || test(value), {
      error: ({ input }) => `${shortValue(input)} ${wrong}${more(String(input))}`,
    });

/**
 * Returns the schema of a text that may be an output in a program. Such a value decides neither
 * which resources exist nor their names. The checks see a placeholder for an output.
 */
export const inputField = (field: z.ZodType<string, string>): z.ZodType<string, StringInput> =>
  field.meta({ acceptsOutput: "placeholder" satisfies OutputUse });

/**
 * Returns the schema of a name. Names with blanks at their ends or with line ends are refused,
 * because no object in a cloud has such a name.
 */
export const nonEmptyTextField = (what: string): z.ZodType<string, string> =>
  textField(
    (value) => value !== "" && value === value.trim() && !/[\r\n]/.test(value),
    `does not name ${what}; write its name`,
    `write the name of ${what}`,
    (value) => (value.trim() === "" ? "" : " without blanks at its ends and without line ends"),
  );

/**
 * Returns the schema of a secret: a text, an output, or an encrypted value in a stack's settings.
 * `missing` is the error message.
 */
export const secretField = (
  missing: string,
  isText: (value: string) => boolean = (value) => value !== "",
): z.ZodCustom<StringInput, StringInput> =>
  z
    .custom<StringInput>(
      (value) =>
        (typeof value === "string" && isText(value)) ||
        (typeof value === "object" && value !== null),
      { error: missing },
    )
    .meta({ acceptsOutput: "value" satisfies OutputUse });

/** Schema of one or several certificates in PEM. */
export const pemField: z.ZodType<string, string> = textField(
  (value) => /-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(value),
  "is not a certificate; write its text in PEM",
);

/**
 * Returns the schema of an RFC 1123 label of at most 28 characters. A server's name,
 * `<cluster>-<pool>-<position>`, then has at most 63 characters.
 */
export const dnsLabelField = (what: string): z.ZodType<string, string> =>
  textField(
    (value) => /^[a-z]([a-z0-9-]{0,26}[a-z0-9])?$/.test(value),
    `is not ${what}; use at most 28 lower-case letters, digits and dashes, starting with a letter`,
  );

const isRange4 = (value: string): boolean =>
  value.includes("/") &&
  Address4.isValid(value) &&
  new Address4(value).startAddress().address === value.split("/")[0];

const isRange6 = (value: string): boolean =>
  value.includes("/") &&
  Address6.isValid(value) &&
  new Address6(value).startAddress().correctForm() ===
    new Address6(value.split("/")[0] ?? "").correctForm();

/** Returns the schema of an IPv4 range whose host bits are zero. */
export const ipv4RangeField = (example: string): z.ZodType<string, string> =>
  textField(isRange4, `is not an IPv4 range with its first address; write one like ${example}`);

/**
 * Returns the schema of a cluster's IPv4 range. For an IPv6 range, the error message mentions
 * `network.ipv6`.
 */
export const clusterIpv4RangeField = (example: string): z.ZodType<string, string> => {
  const wrong = `is not an IPv4 range with its first address; write one like ${example}`;
  return textField(isRange4, wrong, wrong, (value) =>
    Address6.isValid(value) && !Address4.isValid(value)
      ? "; network.ipv6 adds IPv6, and a cluster always has IPv4"
      : "",
  );
};

/**
 * Returns the schema of an IPv6 range whose host bits are zero, in the short notation that Neutron
 * uses. The prefix length is from `least` to `most`.
 */
export const ipv6RangeField = (
  example: string,
  [least, most]: readonly [number, number],
): z.ZodType<string, string> => {
  const lengths = least === most ? String(least) : `${String(least)} to /${String(most)}`;
  return textField(
    (value) => {
      if (!isRange6(value)) return false;
      const { subnetMask } = new Address6(value);
      const shortest = new Address6(value).startAddress().correctForm();
      return (
        value === `${shortest}/${String(subnetMask)}` && least <= subnetMask && subnetMask <= most
      );
    },
    `is not an IPv6 range of /${lengths} with its first address, in its shortest form; write one like ${example}`,
    `write a range like ${example}`,
  );
};

/** Returns the schema of an IPv4 or IPv6 range whose host bits are zero. */
export const ipRangeField = (example: string): z.ZodType<string, string> =>
  textField(
    (value) => isRange4(value) || isRange6(value),
    `is not an address range with its first address; write one like ${example}`,
  );

export const ipAddressField = textField(
  (value) => !value.includes("/") && (Address4.isValid(value) || Address6.isValid(value)),
  "is not an IP address; write one like 10.0.0.53",
);

/** Schema of a machine's IPv4 address. */
export const ipv4AddressField = textField(
  (value) => !value.includes("/") && Address4.isValid(value),
  "is not an IPv4 address; write one like 10.0.0.100",
);

/**
 * Returns the schema of a whole number that is at least `least`. With `most`, the number is at most
 * `most`.
 */
export const integerField = (
  least: number,
  what: string,
  most?: number,
): z.ZodType<number, number> => {
  const bounds =
    most === undefined
      ? `of at least ${String(least)}`
      : `from ${String(least)} to ${String(most)}`;
  const error = ({ input }: { input?: unknown }): string =>
    input === undefined
      ? `is missing; write ${what}`
      : `${shortValue(input)} is not ${what}; write a whole number ${bounds}`;
  const number = z.number({ error }).int({ error }).min(least, { error });
  return most === undefined ? number : number.max(most, { error });
};

export const booleanField = (): z.ZodType<boolean, boolean> =>
  z.boolean({
    error: ({ input }) => `${shortValue(input)} is neither true nor false; write one of them`,
  });

/** Returns the schema of a text that is one of `words`. */
export const oneOf = <Word extends string>(
  words: readonly [Word, ...Word[]],
): z.ZodType<Word, Word> =>
  z.enum(words, {
    error: ({ input }) => `${shortValue(input)} is not known here; write ${words.join(" or ")}`,
  });

/**
 * Returns the schema of an object. Unknown keys, such as mistyped keys, are errors. `refused` has
 * special error messages for keys that users must not write.
 */
export const strictObject = <Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  refused: Readonly<Record<string, string>> = {},
): z.ZodObject<Shape, z.core.$strict> =>
  z.strictObject(shape, {
    error: ({ code, input, ...issue }) => {
      if (code === "unrecognized_keys") {
        const { keys } = issue as unknown as { keys: readonly string[] };
        const mistyped = keys.filter((key) => refused[key] === undefined);
        const known = `does not know ${shortValue(mistyped)}; it has ${Object.keys(shape).join(", ")}`;
        return [
          ...keys.flatMap((key) => (refused[key] === undefined ? [] : [`${key} ${refused[key]}`])),
          ...(mistyped.length > 0 ? [known] : []),
        ].join("; ");
      }
      return input === undefined
        ? `is missing; write ${Object.keys(shape).join(", ")}`
        : `${shortValue(input)} is not an object; write ${Object.keys(shape).join(", ")}`;
    },
  });

/** Returns the schema of a list with at least `least` entries. */
export const list = <Item extends z.ZodType>(
  item: Item,
  least: number,
  what: string,
): z.ZodArray<Item> => {
  const error = ({ input }: { input?: unknown }): string =>
    input === undefined
      ? `is missing; write ${what}`
      : `${shortValue(input)} is not ${what}; write a list in brackets`;
  return z.array(item, { error }).min(least, { error: () => `is empty; write ${what}` });
};

/** Returns the schema of a list of existing Neutron security groups, by name or ID. */
export const securityGroupsField = (
  of: string,
): z.ZodDefault<z.ZodArray<z.ZodType<string, StringInput>>> =>
  list(inputField(nonEmptyTextField("a security group")), 0, "a list of security groups")
    .default([])
    .meta(
      doc(
        "in place",
        `Further security groups of ${of}, by name or ID. They exist already, their rules apply in addition to the program's own, and they are neither changed nor deleted.`,
      ),
    );

/**
 * Returns the schema of an object that another program defines. The object may contain any JSON.
 */
export const jsonObjectField = (of: string): z.ZodRecord<z.ZodString, z.ZodJSONSchema> =>
  z.record(z.string(), z.json(), {
    error: ({ input }) => `${shortValue(input)} is not an object; write fields of ${of}`,
  });

/**
 * Returns a schema that also accepts a kind's name instead of an object. For example, `flannel`
 * means `{ kind: flannel }`.
 */
export const unionOrKindName = <Union extends z.ZodDiscriminatedUnion>(
  union: Union,
): z.ZodType<
  z.output<Union>,
  z.input<Union> | (z.input<Union> extends { kind: infer Kind } ? Kind : never)
> =>
  z.preprocess(
    (written) => (typeof written === "string" ? { kind: written } : written),
    union,
  ) as never;

/**
 * Returns the function that makes the error message for a value with a missing or unknown `kind`.
 */
export const unknownKindError =
  (what: string, kinds: readonly string[]) =>
  ({ input }: { input?: unknown }): string => {
    const written = typeof input === "object" && input !== null && "kind" in input;
    const found = written ? `${shortValue(input.kind)} is not a` : `${shortValue(input)} names no`;
    return `${found} kind of ${what}; write \`kind:\` and one of ${kinds.join(", ")}`;
  };
