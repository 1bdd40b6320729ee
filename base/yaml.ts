import { Document, parse, parseDocument, Schema, visit, type ScalarTag } from "yaml";

/**
 * Patterns of unquoted texts that some YAML readers do not read as strings. The YAML 1.1 schema
 * does not contain these patterns. go-yaml (kubeadm, kubectl) ignores underscores in numbers and
 * accepts prefixes like `0X`. PyYAML (cloud-init) reports an error for a tab and has a separate
 * type for `=`.
 */
const alsoAmbiguous = [
  /^(?:=|y|yes|n|no|on|off|true|false|null|[-+]?\.(?:inf|nan))$/i,
  /^[-+]?0[box][-+]?[0-9a-f_]+$/i,
  /^[-+]?[\d_]*(?:\.[\d_]*)?$/,
  /^[-+]?[\d_.]+e_*[-+]?[\d_]+$/i,
  /^[-+]?[\d_]+(?::[0-5]?\d)+(?:\.[\d_]*)?$/,
  /^\d{4}-\d\d?-\d\d?(?:[t \t].*)?$/i,
  /\t/,
].map((test): ScalarTag => ({ tag: "tag:yaml.org,2002:ambiguous", default: true, test, resolve }));

function resolve(text: string): string {
  return text;
}

const compat = [...new Schema({ schema: "yaml-1.1" }).tags, ...alsoAmbiguous];

/**
 * Characters that are always escaped. YAML 1.1 treats some of these characters as line breaks.
 * Readers of YAML 1.1 refuse the others.
 */
const unprintable = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/**
 * Returns a value as YAML that readers of YAML 1.1 and YAML 1.2 understand in the same way. In YAML
 * 1.1, which kubeadm, cloud-init, kubectl and PyYAML read, a cluster named `off` would be a
 * boolean. This function therefore quotes each string and key that one of the versions does not
 * read as a string.
 */
export function toYaml(value: unknown): string {
  const document = new Document(value, { compat });
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "string" && unprintable.test(node.value))
        node.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 }).replaceAll(new RegExp(unprintable, "g"), escaped);
}

/*
 * Merge keys (`<<`) are resolved, as Pulumi, openstacksdk and OpenStack's provider resolve them in
 * the files that they share with this program.
 */

/** Parses a YAML file as a document, which can be changed and written again. */
export const parseYamlDocument = (text: string): Document.Parsed =>
  parseDocument(text, { merge: true });

/** Returns the content of a YAML file. Throws if the text is not YAML. */
export const parseYaml = (text: string): unknown => parse(text, { merge: true });

/**
 * Returns the reason why a text is not YAML, as one line. Removes the quoted part of the text,
 * because the text may contain secrets: the error about `password: *x` quotes the password.
 */
export function describeYamlError(error: unknown): string {
  const [first = ""] = (error instanceof Error ? error.message : String(error)).split(/:?\n/);
  const position = / at line \d+, column \d+$/.exec(first)?.[0] ?? "";
  const reason = first.slice(0, first.length - position.length).replace(/(?<=\S): .*$/, "");
  return `${reason}${position}`;
}
