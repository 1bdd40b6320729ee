import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { packed, unpacked } from "../../../../components/support/packed-script.js";

const run = (script: string): { readonly code: number | null; readonly said: string } => {
  const { status, stdout } = spawnSync("bash", ["-s", "word"], { input: script });
  return { code: status, said: stdout.toString() };
};

describe("a packed script", () => {
  it("does what the script does, with its arguments and what stands before it, and ends with its code", () => {
    const script =
      'set -eu\nsay() { printf \'%s %s\\n\' "$1" "$BEFORE"; }\nsay "$1 ü \'"\n(exit 7)\nsay never\n';
    assert.deepEqual(run(`BEFORE=here\n${packed(script)}`), { code: 7, said: "word ü ' here\n" });
  });

  it("does nothing and fails where it arrives in part", () => {
    const whole = packed("echo ran\n".repeat(50));
    const at = whole.indexOf("<<<'") + 30;
    const cut = Array.from({ length: whole.length - 2 }, (_, index) => whole.slice(0, index + 1));
    const damaged = whole.slice(0, at) + whole.slice(at + 8);
    for (const part of [
      ...cut.filter((_, index) => index < 3 || index % 17 === 0 || index > whole.length - 12),
      damaged,
    ]) {
      const { code, said } = run(part);
      assert.notEqual(code, 0);
      assert.equal(said, "");
    }
  });

  it("is always the same for the same text", () => {
    assert.equal(
      packed("true\n"),
      `{ packed=$(base64 -d <<<'H4sIAAAAAAACAyspKk3lAgBCBSOhBQAAAA==' | gunzip) || exit; eval "$packed"; }\n`,
    );
  });

  it("is made a script again wherever it stands", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (script) => {
        assert.equal(unpacked(`A='b'\n${packed(script)}`), `A='b'\n${script}`);
      }),
    );
    assert.equal(unpacked("no script"), "no script");
  });
});
