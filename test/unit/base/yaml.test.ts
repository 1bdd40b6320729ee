import { strict as assert } from "node:assert";
import fc from "fast-check";
import { isScalar, parse, parseDocument, visit } from "yaml";
import { describeYamlError, parseYaml, toYaml } from "../../../base/yaml.js";

const words = ["y", "yes", "n", "no", "true", "false", "on", "off", "null"];
const cases = (word: string): string[] => [
  word,
  word.toUpperCase(),
  word.charAt(0).toUpperCase() + word.slice(1),
  word.slice(0, -1) + word.slice(-1).toUpperCase(),
];

/**
 * Texts that readers of YAML 1.1 or 1.2 (go-yaml, PyYAML, the specifications) do not parse as
 * strings.
 */
const ambiguous = [
  ...words.flatMap(cases),
  ...["", "~", "<<", "=", ".inf", "-.Inf", "+.INF", ".nan", ".NaN"],
  ...[
    "0",
    "010",
    "-010",
    "08",
    "0o7",
    "0O7",
    "0o_7",
    "0x1F",
    "0X1f",
    "-0x_a",
    "0b1",
    "0B1",
    "0b-1",
  ],
  ...["1_000", "+_1", "1__0", "1_", "1.10", "1.", ".5", "._5", "_.", "-1.5", "1_0.5_0"],
  ...["1e3", "1E+3", "1.5e-3", "1e_3", "1_e3", ".5e1", "1.2.3e5"],
  ...["1:30", "-1:30", "_:30", "190:20:30", "190:20:30.15", "12:30:45"],
  ...["2001-12-14", "2001-1-1", "2001-12-14T21:59:43.", "2001-12-14t21:59:43.10-05:00"],
  ...["2001-12-14 21:59:43", "2001-12-14 21:59:43 +30:00", "2001-1-1 1:2:3,5"],
];

/**
 * Patterns of plain text that may not be parsed as a string. Written independently of the tested
 * code.
 */
const notForSureText = [
  /^(y|n|yes|no|true|false|on|off|null|~|=|<<|)$/i,
  /^[-+]?\.(inf|nan)$/i,
  /^[-+]?[0-9][0-9_]*$/,
  /^[-+]?0[xob][0-9a-f_]+$/i,
  /^[-+]?[0-9_]*\.[0-9_]*$/,
  /^[-+]?[0-9._]*[0-9._]e[-+]?[0-9]+$/i,
  /^[-+]?[0-9_]+(:[0-5]?[0-9])+(\.[0-9_]*)?$/,
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}($|[Tt \t])/,
  /[\t\u0085\u2028\u2029\ufeff]/,
];

/** Returns the strings that are written without quotes. */
function plainTexts(yaml: string): string[] {
  const found: string[] = [];
  visit(parseDocument(yaml), (_, node) => {
    if (isScalar(node) && node.type === "PLAIN" && typeof node.value === "string")
      found.push(node.source ?? "");
  });
  return found;
}

function assertSame(value: unknown): void {
  const yaml = toYaml(value);
  for (const version of ["1.1", "1.2"] as const)
    assert.deepEqual(parse(yaml, { version }), value, `${version}: ${yaml}`);
  for (const text of plainTexts(yaml))
    for (const pattern of notForSureText) assert.doesNotMatch(text, pattern);
}

const text = fc.oneof(
  fc.constantFrom(...ambiguous),
  fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?$/),
  fc.stringMatching(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,8}[A-Za-z0-9])?$/),
  fc.stringMatching(/^[-+]?[0-9_.:eExXoObB+-]{1,8}$/),
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.tuple(fc.nat(99), fc.nat(59)).map(([hours, minutes]) => `${hours}:${minutes}`),
  fc.tuple(fc.nat(9), fc.nat(99)).map(([major, minor]) => `${major}.${minor}`),
);

describe("toYaml", () => {
  for (const odd of ambiguous)
    it(`quotes ${JSON.stringify(odd)}, as a value and as a key`, () => {
      assert.match(toYaml({ value: odd }), /^value: ["']/);
      assert.match(toYaml({ [odd]: "value" }), /^["']/);
      assert.match(toYaml([odd]), /^- ["']/);
    });

  it("leaves unquoted what every reader takes for text", () => {
    const plain = [
      ...["dev", "node", "yesterday", "offline", "nothing", "v1.36.3", "1.36.3", "4m0s"],
      ...["10.0.0.7", "10.244.0.0/16", "10.0.0.7:6443", "unix:///run/x.sock", "rfc-2001"],
      ...["0b1c2d3e-0000-4000-8000-000000000001", "sha256:0123", "ALL=(ALL) NOPASSWD:ALL"],
    ];
    assert.equal(toYaml(plain), plain.map((line) => `- ${line}\n`).join(""));
  });

  it("writes booleans, numbers and null as such", () => {
    assert.equal(
      toYaml({ a: true, b: 10250, c: null, d: 0.5 }),
      "a: true\nb: 10250\nc: null\nd: 0.5\n",
    );
  });

  it("escapes characters that YAML 1.1 readers refuse or take for line breaks", () => {
    assert.equal(toYaml("a\u2028b\u0085\n\ufeff"), '"a\\u2028b\\u0085\\n\\ufeff"\n');
  });

  it("keeps multi-line text readable", () => {
    assert.equal(toYaml({ content: "yes\nno\n" }), "content: |\n  yes\n  no\n");
  });

  it("is parsed to equal values by YAML 1.1 and 1.2 readers", () => {
    const value = fc.oneof(text, fc.boolean(), fc.integer(), fc.constant(null));
    const labels = fc.dictionary(text, value, { maxKeys: 4, noNullPrototype: true });
    const list = fc.array(value, { maxLength: 3 });
    const document = fc.record({ name: text, labels, list }, { noNullPrototype: true });
    fc.assert(fc.property(document, assertSame), { numRuns: 500 });
  });
});

describe("describeYamlError", () => {
  const reasonOf = (text: string): string => {
    try {
      parseYaml(text);
    } catch (error) {
      return describeYamlError(error);
    }
    return assert.fail("is YAML");
  };

  it("quotes no password that YAML does not read as text", () => {
    const reasons = ["*CANARY", ">CANARY", "|CANARY", "[a]CANARY", '"CANARY" b'];
    for (const value of reasons) {
      const reason = reasonOf(`auth:\n  password: ${value}\n`);
      assert.match(reason, /^[A-Z]\w+ /);
      assert.doesNotMatch(reason, /CANARY/, value);
    }
  });

  it("keeps the reason and the position", () => {
    assert.equal(
      reasonOf("a: {b c: [}"),
      "Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 11",
    );
  });
});
