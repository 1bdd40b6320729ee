import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import fc from "fast-check";
import {
  renderShellAssignments,
  quoteForShell,
} from "../../../../components/remote-scripts/shell-quoting.js";

/** Any text that a shell variable can hold. */
const text = fc.string({ unit: "binary", maxLength: 40 }).filter((any) => !any.includes("\0"));

const inShell = (shell: string, script: string): string =>
  execFileSync(shell, ["-s"], { input: script, encoding: "utf8" });

describe("shell quoting", () => {
  for (const shell of ["bash", "sh"]) {
    it(`passes every text through ${shell} unchanged`, () => {
      fc.assert(
        fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (texts) => {
          const printed = texts.map((any) => `printf '%s|' ${quoteForShell(any)}\n`).join("");
          assert.equal(inShell(shell, printed), texts.map((any) => `${any}|`).join(""));
        }),
        { numRuns: 25 },
      );
    });
  }

  for (const dangerous of [
    "$(touch /tmp/x)",
    "`id`",
    "a'b",
    "a\nb",
    "$HOME",
    "\\",
    '"',
    "-n",
    "",
  ]) {
    it(`quotes ${JSON.stringify(dangerous)} without executing anything`, () => {
      assert.equal(inShell("bash", `printf '%s' ${quoteForShell(dangerous)}`), dangerous);
    });
  }

  it("refuses characters that a shell cannot hold", () => {
    assert.throws(() => quoteForShell("a\0b"), RangeError);
  });

  it("assigns every value to its name", () => {
    const values = fc.dictionary(fc.stringMatching(/^[A-Z][A-Z0-9_]{0,10}$/), text, { maxKeys: 6 });
    fc.assert(
      fc.property(values, (given) => {
        // The prefix avoids names that have a meaning for the shell.
        const own = Object.entries(given).map(([name, value]) => [`V_${name}`, value] as const);
        const print = own.map(([name]) => `printf '%s|' "$${name}"\n`).join("");
        const script = renderShellAssignments(Object.fromEntries(own)) + print;
        assert.equal(inShell("bash", script), own.map(([, value]) => `${value}|`).join(""));
      }),
      { numRuns: 25 },
    );
  });

  it("returns the same text for any order of the values", () => {
    assert.equal(
      renderShellAssignments({ B: "2", A: "1" }),
      renderShellAssignments({ A: "1", B: "2" }),
    );
  });

  it("refuses an invalid name", () => {
    for (const name of ["a", "A-B", "A=B", "1A", "A;rm", ""])
      assert.throws(() => renderShellAssignments({ [name]: "x" }), RangeError);
  });
});
