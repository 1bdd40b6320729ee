import { Document, Schema, visit, type ScalarTag } from "yaml";

/**
 * Patterns of text that some YAML reader takes for another type, in addition to the patterns of the
 * YAML 1.1 schema. go-yaml (kubeadm, kubectl) ignores underscores in numbers and accepts prefixes
 * in either case. PyYAML (cloud-init) fails at a tab and has a separate type for `=`.
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
 * Characters that are always escaped: characters that only YAML 1.1 takes for line breaks, and
 * characters that readers of YAML 1.1 refuse.
 */
const unprintable = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/**
 * Returns a value as YAML that has the same meaning for readers of YAML 1.1 and 1.2. kubeadm,
 * cloud-init, kubectl and PyYAML read YAML 1.1, in which a cluster named `off` is a boolean. Quotes
 * the strings and keys that a reader of either version would take for another type.
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
