import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import {
  createScriptBundle,
  renderStepCommand,
  renderStandardInput,
  isLongValue,
  findScriptServerId,
  getShownValue,
  createScriptStep,
  type ScriptStep,
} from "../../../../components/remote-scripts/script-steps.js";

/** Home directory of a login user who may become root. */
class Home {
  readonly folder = mkdtempSync(join(tmpdir(), "stackadm-steps-"));

  constructor() {
    mkdirSync(join(this.folder, "bin"));
    const sudo = '#!/bin/bash\n[[ $1 == -n ]] || exit 99\nshift\nexec "$@"\n';
    writeFileSync(join(this.folder, "bin/sudo"), sudo, { mode: 0o755 });
  }

  put(server: string, text: string, name = createScriptBundle([]).digest): void {
    mkdirSync(join(this.folder, ".stackadm", server), { recursive: true });
    writeFileSync(join(this.folder, ".stackadm", server, `${name}.sh`), text);
  }

  run(
    command: string,
    input = renderStandardInput({}),
  ): { code: number | null; said: string; failed: string } {
    const path = `${join(this.folder, "bin")}:${process.env["PATH"] ?? ""}`;
    const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], {
      cwd: this.folder,
      env: { PATH: path },
      input,
      encoding: "utf8",
    });
    return { code: status, said: stdout, failed: stderr };
  }
}

const step = (script: string, name = "prepare"): ScriptStep =>
  createScriptStep(name, { scripts: [script] });

describe("step on a machine", () => {
  let home: Home;
  beforeEach(() => {
    home = new Home();
  });
  afterEach(() => {
    rmSync(home.folder, { recursive: true });
  });

  it("runs its own text with its argument and values, and exits with its code", () => {
    const one = step('set -e\nprintf "%s %s %s" "$1" "$A" "$B"\nfalse\necho not\n');
    home.put("s", createScriptBundle([step("echo first"), one, step("echo last")]).text);
    const ran = home.run(
      renderStepCommand(one, "create", { A: "it's\n$x" }),
      renderStandardInput({ B: "secret" }),
    );
    assert.deepEqual(ran, { code: 1, said: "create it's\n$x secret", failed: "" });
  });

  it("receives its programs in variables", () => {
    const programs = { MINT_SCRIPT: "#!/bin/bash\necho 'hi'\n" };
    const one = createScriptStep("x", { scripts: ['printf %s "$MINT_SCRIPT"'], programs });
    home.put("s", createScriptBundle([one]).text);
    assert.equal(home.run(renderStepCommand(one, "up", {})).said, programs.MINT_SCRIPT);
  });

  it("accepts any value that a variable can hold", () => {
    const one = step('printf %s "$A"');
    home.put("s", createScriptBundle([one]).text);
    const printable = fc.string({ unit: "grapheme-ascii" });
    fc.assert(
      fc.property(fc.array(printable), (lines) => {
        const value = lines.join("\n");
        assert.equal(home.run(renderStepCommand(one, "up", { A: value })).said, value);
      }),
      { numRuns: 20 },
    );
  });

  it("with its own text needs no file, and runs nothing if the text arrives incomplete or damaged", () => {
    const one = step('printf "%s %s %s" "$1" "$A" "$B"');
    const [command, input] = [
      renderStepCommand(one, "delete", { A: "a" }),
      renderStandardInput({ B: "b" }, one),
    ];
    assert.deepEqual(home.run(command, input), { code: 0, said: "delete a b", failed: "" });
    const damaged = input.replace(/H4sI.{20}/, "");
    const ends = Array.from(input.slice(0, -2), (_, end) => end);
    const some = ends.filter((end) => end < 3 || end % 17 === 0 || end > input.length - 12);
    for (const part of [damaged, ...some.map((end) => input.slice(0, end))]) {
      const { code, said } = home.run(command, part);
      assert.deepEqual([code === 0, said], [false, ""], part);
    }
  });

  it("finds its text in the files of several releases and servers", () => {
    const [one, other] = [step("echo one"), step("echo other")];
    home.put("a", createScriptBundle([one]).text, "1");
    home.put("a", createScriptBundle([other, one]).text, "2");
    home.put("b", createScriptBundle([one, other]).text);
    assert.equal(home.run(renderStepCommand(one, "up", {})).said, "one\n");
    assert.equal(home.run(renderStepCommand(other, "up", {})).said, "other\n");
  });

  it("skips a damaged or partially copied file", () => {
    const one = step("echo ran\necho more");
    const { text } = createScriptBundle([step("echo first"), one]);
    home.put("b", text);
    for (const damaged of ["", text.slice(0, -6), text.replace("ran", "evil"), text.slice(0, -1)]) {
      home.put("a", damaged);
      const ran = home.run(renderStepCommand(one, "up", {}));
      assert.deepEqual(ran, { code: 0, said: "ran\nmore\n", failed: "" });
    }
  });

  it("fails if its text is missing, incomplete or different", () => {
    const one = step("echo ran\necho more");
    const { text } = createScriptBundle([one]);
    for (const there of [undefined, "", text.slice(0, -6), text.replace("ran", "evil")]) {
      if (there !== undefined) home.put("s", there);
      const { code, said, failed } = home.run(renderStepCommand(one, "up", {}));
      assert.deepEqual([code, said], [1, ""]);
      assert.match(
        failed,
        new RegExp(`reason: \\[SCRIPT_MISSING\\] prepare@${one.digest} is not on \\S+\\n$`),
      );
    }
  });

  it("fails if its standard input is incomplete or missing, and prints no part of the input", () => {
    const one = step("echo ran");
    home.put("s", createScriptBundle([one]).text);
    const failed = `reason: prepare@${one.digest} did not get its standard input\n`;
    for (const input of [renderStandardInput({ A: "x", B: "(y" }), renderStandardInput({})])
      for (let length = 0; length < input.length - 1; length += 1) {
        const ran = home.run(renderStepCommand(one, "up", {}), input.slice(0, length));
        assert.deepEqual(ran, { code: 1, said: "", failed }, input.slice(0, length));
      }
  });

  it("does not take a digest for a long value", () => {
    const one = step('printf %s "${LONG-unset}"');
    home.put("s", createScriptBundle([one]).text);
    const [name, digest] = getShownValue("LONG", "x".repeat(2000));
    assert.equal(home.run(renderStepCommand(one, "up", { [name]: digest })).said, "unset");
  });

  it("keeps its digest if only another step changes", () => {
    const [before, after] = [
      createScriptBundle([step("a"), step("b")]),
      createScriptBundle([step("a"), step("c")]),
    ];
    assert.notEqual(before.digest, after.digest);
    assert.equal(step("a").digest, step("a\n").digest);
  });

  it("refuses a text that contains the end marker of a step", () => {
    assert.throws(() => step("a\n#=b\n"), /the step prepare has a line that begins with #=/);
  });
});

describe("renderStepCommand", () => {
  it("writes a line for each value, quoted if necessary", () => {
    const values = { NODE_NAME: "dev-0", VERSION: "1.36.3", EMPTY: "", TEXT: "a: b\nc: d" };
    const [, called, ...lines] = renderStepCommand(step("true"), "up", values).split(" \\\n");
    assert.equal(called, `  prepare@${step("true").digest} up`);
    assert.deepEqual(lines, [
      "  EMPTY=",
      "  NODE_NAME=dev-0",
      "  TEXT='a: b\nc: d'",
      "  VERSION=1.36.3",
    ]);
  });

  it("names the server", () => {
    const command = renderStepCommand(step("true"), "up", {
      SERVER_ID: "a-b",
      SERVER_PATH: "a-b,c",
    });
    assert.equal(findScriptServerId({ create: command }), "a-b");
    assert.equal(findScriptServerId({ delete: command }), "a-b");
    assert.equal(findScriptServerId({ create: "another command" }), undefined);
  });

  it("shows a digest of a long value", () => {
    const text = "x".repeat(2000);
    assert.ok(isLongValue(text) && !isLongValue("x".repeat(1999)));
    assert.match(getShownValue("A", text).join("="), /^A_SHA256=[0-9a-f]{16}$/);
    assert.deepEqual(getShownValue("A", "short"), ["A", "short"]);
  });
});
