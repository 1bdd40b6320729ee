import { Address4, Address6 } from "ip-address";
import { z } from "zod";
import type { Late } from "../support/kubernetes-types.js";

/**
 * What changing an argument does to a cluster that exists. Every leaf of the schema names one:
 * - `in place`: the next `up` applies it, nothing restarts
 * - `restarts kubelet`: the next `up` applies it on every machine
 * - `restarts control plane`: the next `up` applies it on one control plane after another
 * - `replaces nodes`: takes effect when the `generation` of the machines is raised, which replaces them
 * - `refused`: a living cluster keeps its value; preview and `up` say so before anything changes (spec/frozen.ts)
 */
export const changes = [
  "in place",
  "restarts kubelet",
  "restarts control plane",
  "replaces nodes",
  "refused",
] as const;
export type Change = (typeof changes)[number];

/** What the documentation says about one argument. */
export interface Documentation {
  readonly description: string;
  readonly change: Change;
  /** Shown instead of the default where the default is computed. */
  readonly otherwise?: string;
}

/** The documentation in the form that the JSON schema carries. */
export const doc = (
  change: Change,
  description: string,
  otherwise?: string,
): { description: string; change: Change; otherwise?: string } => ({
  description,
  change,
  ...(otherwise !== undefined && { otherwise }),
});

/** The value in an error sentence, short enough to read. */
export const shown = (value: unknown): string => {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

/** A string that fulfils `test`; otherwise the sentence `wrong` after the value, and `more` where that is worth another one. */
export const text = (
  test: (value: string) => boolean,
  wrong: string,
  missing = wrong,
  more: (value: string) => string = () => "",
): z.ZodType<string, string> =>
  z
    .string({
      error: ({ input }) =>
        input === undefined ? `is missing; ${missing}` : `${shown(input)} ${wrong}`,
    })
    .refine(test, { error: ({ input }) => `${shown(input)} ${wrong}${more(String(input))}` });

export const present = (what: string): z.ZodType<string, string> =>
  text(
    (value) => value.trim() !== "",
    `does not name ${what}; write its name`,
    `write the name of ${what}`,
  );

/** A value that must not lie open: text, an output, or what stands for an encrypted value in a stack's settings. */
export const secret = (
  missing: string,
  isText: (value: string) => boolean = (value) => value !== "",
): z.ZodCustom<Late, Late> =>
  z.custom<Late>(
    (value) =>
      (typeof value === "string" && isText(value)) || (typeof value === "object" && value !== null),
    { error: missing },
  );

/** One certificate or several. */
export const pem: z.ZodType<string, string> = text(
  (value) => /-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(value),
  "is not a certificate; write its text in PEM",
);

/** RFC 1123 label, short enough that `<cluster>-<pool>-<number>` stays within 63 characters. */
export const label = (what: string): z.ZodType<string, string> =>
  text(
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

/** An IPv4 range whose host bits are zero. */
export const range4 = (example: string): z.ZodType<string, string> =>
  text(isRange4, `is not an IPv4 range with its first address; write one like ${example}`);

/** The same of the cluster itself, which has IPv6 only besides. */
export const range4Of = (example: string): z.ZodType<string, string> => {
  const wrong = `is not an IPv4 range with its first address; write one like ${example}`;
  return text(isRange4, wrong, wrong, (value) =>
    Address6.isValid(value) && !Address4.isValid(value)
      ? "; IPv6 comes besides, by network.ipv6, and never alone"
      : "",
  );
};

/** An IPv6 range whose host bits are zero, as Neutron would write it, of a length in between. */
export const range6 = (
  example: string,
  [least, most]: readonly [number, number],
): z.ZodType<string, string> => {
  const lengths = least === most ? String(least) : `${String(least)} to /${String(most)}`;
  return text(
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

/** An IPv4 or IPv6 range whose host bits are zero. */
export const range = (example: string): z.ZodType<string, string> =>
  text(
    (value) => isRange4(value) || isRange6(value),
    `is not an address range with its first address; write one like ${example}`,
  );

export const address = text(
  (value) => !value.includes("/") && (Address4.isValid(value) || Address6.isValid(value)),
  "is not an IP address; write one like 10.0.0.53",
);

/** An IPv4 address of a machine. */
export const address4 = text(
  (value) => !value.includes("/") && Address4.isValid(value),
  "is not an IPv4 address; write one like 10.0.0.100",
);

/** A whole number of at least `least`, and at most `most` if there is one. */
export const whole = (least: number, what: string, most?: number): z.ZodType<number, number> => {
  const bounds =
    most === undefined
      ? `of at least ${String(least)}`
      : `from ${String(least)} to ${String(most)}`;
  const error = ({ input }: { input?: unknown }): string =>
    input === undefined
      ? `is missing; write ${what}`
      : `${shown(input)} is not ${what}; write a whole number ${bounds}`;
  const number = z.number({ error }).int({ error }).min(least, { error });
  return most === undefined ? number : number.max(most, { error });
};

export const truth = (): z.ZodType<boolean, boolean> =>
  z.boolean({
    error: ({ input }) => `${shown(input)} is neither true nor false; write one of them`,
  });

/** One of a few words. */
export const oneOf = <Word extends string>(
  words: readonly [Word, ...Word[]],
): z.ZodType<Word, Word> =>
  z.enum(words, {
    error: ({ input }) => `${shown(input)} is not known here; write ${words.join(" or ")}`,
  });

/**
 * An object that knows all its keys; a mistyped key is named instead of ignored. Keys in `refused` are known, and it is said
 * why they cannot be written.
 */
export const record = <Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  refused: Readonly<Record<string, string>> = {},
): z.ZodObject<Shape, z.core.$strict> =>
  z.strictObject(shape, {
    error: ({ code, input, ...issue }) => {
      if (code === "unrecognized_keys") {
        const { keys } = issue as unknown as { keys: readonly string[] };
        const mistyped = keys.filter((key) => refused[key] === undefined);
        const known = `does not know ${shown(mistyped)}; it has ${Object.keys(shape).join(", ")}`;
        return [
          ...keys.flatMap((key) => (refused[key] === undefined ? [] : [`${key} ${refused[key]}`])),
          ...(mistyped.length > 0 ? [known] : []),
        ].join("; ");
      }
      return input === undefined
        ? `is missing; write ${Object.keys(shape).join(", ")}`
        : `${shown(input)} is not an object; write ${Object.keys(shape).join(", ")}`;
    },
  });

/** A list with at least `least` entries. */
export const list = <Item extends z.ZodType>(
  item: Item,
  least: number,
  what: string,
): z.ZodArray<Item> => {
  const error = ({ input }: { input?: unknown }): string =>
    input === undefined
      ? `is missing; write ${what}`
      : `${shown(input)} is not ${what}; write a list in brackets`;
  return z.array(item, { error }).min(least, { error: () => `is empty; write ${what}` });
};

/** Security groups of Neutron that exist, by name or ID. */
export const securityGroups = (of: string): z.ZodDefault<z.ZodArray<z.ZodType<string, string>>> =>
  list(present("a security group"), 0, "a list of security groups")
    .default([])
    .meta(
      doc(
        "in place",
        `More security groups of ${of}, by name or ID: they exist, open what they open besides the program's own rules, and are neither changed nor deleted.`,
      ),
    );

/** Settings that belong to somebody else's schema: any object that JSON can carry. */
export const settings = (of: string): z.ZodRecord<z.ZodString, z.ZodJSONSchema> =>
  z.record(z.string(), z.json(), {
    error: ({ input }) => `${shown(input)} is not an object; write fields of ${of}`,
  });

/** A union of kinds, of which a kind without options may be written as its word alone: `flannel` for `{ kind: flannel }`. */
export const kindOrWord = <Union extends z.ZodDiscriminatedUnion>(
  union: Union,
): z.ZodType<
  z.output<Union>,
  z.input<Union> | (z.input<Union> extends { kind: infer Kind } ? Kind : never)
> =>
  z.preprocess(
    (written) => (typeof written === "string" ? { kind: written } : written),
    union,
  ) as never;

/** The sentence for a value that is none of a union's kinds. */
export const noKind =
  (what: string, kinds: readonly string[]) =>
  ({ input }: { input?: unknown }): string => {
    const written = typeof input === "object" && input !== null && "kind" in input;
    const found = written ? `${shown(input.kind)} is not a` : `${shown(input)} names no`;
    return `${found} kind of ${what}; write \`kind:\` and one of ${kinds.join(", ")}`;
  };
