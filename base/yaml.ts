import { Document, Schema, visit, type ScalarTag } from "yaml";

/**
 * Patterns of text that some YAML reader does not read as text, in addition to the YAML 1.1 schema.
 * go-yaml (kubeadm, kubectl) ignores underscores in numbers and accepts prefixes in either case;
 * PyYAML (cloud-init) fails at a tab and has a type for `=`.
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
 * Characters that are always escaped: line breaks of YAML 1.1 only, and characters that its readers
 * refuse.
 */
const unprintable = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/**
 * Returns a value as YAML that has the same meaning for readers of YAML 1.1 and 1.2. kubeadm,
 * cloud-init, kubectl and PyYAML read 1.1, in which a cluster named `off` is a boolean. Text and
 * keys that either version would not read as text are quoted; all other text is unchanged.
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
