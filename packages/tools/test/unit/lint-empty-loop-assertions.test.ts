import { join } from "node:path";
import { RuleTester, type Rule } from "eslint";
import { parser } from "typescript-eslint";
import { getPackageRoot } from "../../../../base/paths.js";

const test = (body: string): string => `it("holds", () => { ${body} });`;
const uncertain = (body: string, more = ""): RuleTester.InvalidTestCase => ({
  code: more + test(body),
  errors: [{ messageId: "uncertain" }],
});

describe("lint rule certain-assertion", () => {
  let rule: Rule.RuleModule;
  before(async () => {
    const file = join(getPackageRoot(), "packages/tools/lint-empty-loop-assertions.mjs");
    ({ default: rule } = (await import(file)) as { default: Rule.RuleModule });
  });
  const run = (valid: string[], invalid: RuleTester.InvalidTestCase[]): void => {
    const tester = new RuleTester({ languageOptions: { parser } });
    tester.run("certain-assertion", rule, { valid, invalid });
  };
  // By default, RuleTester registers each case as a test. This is not possible inside a test.
  before(() => {
    RuleTester.describe = (_text: string, method: () => unknown) => method();
    RuleTester.it = (_text: string, method: () => unknown) => method();
    RuleTester.itOnly = RuleTester.it;
  });

  it("reports a test whose every assertion is in a loop over a list that may be empty", () => {
    run(
      [],
      [
        uncertain("for (const one of rows) assert.ok(one);"),
        uncertain("for (const one of rows.filter(Boolean)) assert(one);"),
        uncertain("rows.forEach((one) => { assert.equal(one, 1); });"),
        uncertain("await Promise.all(rows.map(async (one) => assert.ok(await one)));"),
        uncertain("for (const one of [1, 2]) for (const two of rows) assert.equal(one, two);"),
        uncertain("for (const one of [...rows]) assert.ok(one);"),
      ],
    );
  });

  it("reports a loop in a function of the file that the test calls", () => {
    const helper = "const check = (rows) => { for (const one of rows) assert.ok(one); };";
    run([], [uncertain("check(rows());", helper)]);
  });

  it("accepts a loop over a literal, directly or by the name of a constant", () => {
    run(
      [
        test("for (const one of [1, 2]) assert.ok(one);"),
        test("for (const [name] of Object.entries({ a: 1 })) assert.ok(name);"),
        `const all = ["a", "b"] as const; ${test("for (const one of all) assert.ok(one);")}`,
        test("for (const one of new Set(['a'])) assert.ok(one);"),
      ],
      [],
    );
  });

  it("accepts a loop over the list that nonEmpty() returns", () => {
    run([test("for (const one of nonEmpty(rows.filter(Boolean))) assert.ok(one);")], []);
  });

  it("accepts a loop next to another assertion, also in a function of the file", () => {
    run(
      [
        test("assert.equal(rows.length, 2); for (const one of rows) assert.ok(one);"),
        test("for (const one of rows) assert.ok(one); golden('a.txt', rows.join());"),
        `function named(name) { assert.ok(name); return name; }
         ${test("named('a'); for (const one of rows) assert.ok(one);")}`,
      ],
      [],
    );
  });

  it("ignores loops without assertions and code outside tests", () => {
    run(
      [test("for (const one of rows) one.close();"), "for (const one of rows) assert.ok(one);"],
      [],
    );
  });
});
