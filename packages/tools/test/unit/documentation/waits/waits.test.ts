import assert from "node:assert/strict";
import { basename } from "node:path";
import { nonEmpty } from "../../../../../../test/support/non-empty.js";
import { sourcesIn, type Source } from "../../../../../../test/support/sources.js";
import { noWaits, programWaits } from "../../../../documentation/waits/program-waits.js";
import { limitArguments, scriptEnds } from "../../../../documentation/waits/script-waits.js";
import { findEnd, findShellWaits } from "../../../../documentation/waits/shell-waits.js";
import {
  findScriptEnd,
  formatLimit,
  listProgramWaits,
  listScriptWaits,
  listStepLimits,
  readLimits,
  readNumber,
  readScripts,
  readSource,
} from "../../../../documentation/waits/waits.js";
import { waitsPage } from "../../../../documentation/waits/waits-page.js";

const scripts = readScripts();
const waits = nonEmpty(scripts.flatMap(findShellWaits));

/** Returns the lines of a source without comments. */
function codeLines({ path, text }: Source): readonly string[] {
  const comment = path.endsWith(".sh") ? /^\s*#/ : /^\s*(?:\/\/|\/?\*)/;
  return text.split("\n").filter((line) => !comment.test(line));
}

describe("findShellWaits", () => {
  const parse = (text: string) =>
    findShellWaits({ path: "a.sh", text }).map((wait) => [
      wait.waiter,
      wait.limit,
      wait.isScaled,
      wait.command,
      findEnd(wait),
    ]);

  it("finds the limit, the command and the end", () => {
    const text = [
      "# poll 1 comment || die 'no'",
      'poll 60 answers --all || die "the API server of $(hostname) does not answer"',
      "poll 30 ready ||",
      '  die_as NOT_READY "it is late$(print_why)"',
      'poll "$start_seconds" "$@" >&2 || say "goes on"',
      "poll 5 clock || :",
      "if poll 7 gone; then return 0; fi",
      "wait_unit join 1510",
      'flock -w "$((300 * factor))" 9 || die "another step is running"',
      "local end=$((SECONDS + 180))",
    ].join("\n");
    assert.deepEqual(parse(text), [
      ["poll", 60, true, "answers --all", 'fails: "the API server of the machine does not answer"'],
      ["poll", 30, true, "ready", 'fails: "it is late"'],
      ["poll", "$start_seconds", true, "$@", 'continues: "goes on"'],
      ["poll", 5, true, "clock", "continues"],
      ["poll", 7, true, "gone", undefined],
      ["wait_unit", 1510, true, "join", 'fails: "join did not end within ... s"'],
      ["flock", 300, true, "9", 'fails: "another step is running"'],
      ["loop", 180, false, "", undefined],
    ]);
  });

  it("finds the limits of programs", () => {
    assert.deepEqual(parse('timeout "$((20 * factor))" kubectl get nodes\ntimeout 60 python3 x'), [
      ["timeout", 20, true, "kubectl get nodes", undefined],
      ["timeout", 60, false, "python3 x", undefined],
    ]);
  });
});

describe("the waits of scripts", () => {
  it("are all found", () => {
    const calls: Readonly<Record<string, RegExp>> = {
      poll: /(?<![\w-])poll ["$\d]/g,
      timeout: /(?<![\w-])timeout ["\d]/g,
      wait_unit: /(?<![\w-])wait_unit \w/g,
      flock: /\bflock (?:-w|--wait) /g,
      loop: /\$\(\(SECONDS \+ \d/g,
    };
    for (const [waiter, pattern] of Object.entries(calls))
      for (const script of nonEmpty(scripts)) {
        // The function wait_unit calls `poll` with the limit of its caller.
        const lines = codeLines(script).filter((line) => !line.startsWith("wait_unit() {"));
        const found = findShellWaits(script).filter((wait) => wait.waiter === waiter);
        assert.equal(
          found.length,
          lines.join("\n").match(pattern)?.length ?? 0,
          `${script.path}: ${waiter}`,
        );
      }
  });

  it("have each a row with the limit and the end", () => {
    const without = [{ path: "a.sh", text: "until poll 5 ready; do :; done" }];
    assert.throws(() => listScriptWaits(without), /a\.sh: what happens at the end of ready/);
    const unknown = [{ path: "a.sh", text: 'poll "$other" ready || :' }];
    assert.throws(() => listScriptWaits(unknown), /a\.sh: the limit \$other is unknown/);
    const rows = listScriptWaits(scripts);
    assert.equal(rows.length, waits.filter(({ waiter }) => waiter !== "timeout").length);
    for (const wait of waits) assert.ok(Math.max(...readLimits(wait, scripts)) > 0);
  });

  it("use every entry of the table of ends and arguments", () => {
    const used = new Set(waits.map(findScriptEnd));
    assert.deepEqual(
      scriptEnds.filter((entry) => !used.has(entry)),
      [],
    );
    const files = new Set(
      waits.filter(({ limit }) => typeof limit === "string").map(({ path }) => basename(path)),
    );
    assert.deepEqual(
      limitArguments.filter(({ file }) => !files.has(file)),
      [],
    );
  });

  it("are shorter than their step", () => {
    const steps = listStepLimits(scripts);
    assert.equal(steps.length, 10);
    const shortest = Math.min(...steps.map(({ seconds }) => seconds));
    const longer = waits
      .filter(({ path, waiter }) => waiter !== "flock" && !path.endsWith("collect-backup.sh"))
      .filter((wait) => Math.max(...readLimits(wait, scripts)) > shortest);
    assert.deepEqual(longer, []);
  });
});

describe("the waits of the program", () => {
  const sources = sourcesIn(["automation", "base", "components", "openstack"], /\.ts$/);
  const all = nonEmpty([...sources, { path: "config.ts", text: readSource("config.ts") }]);

  /** Returns the lines that wait or set the limit of a wait. */
  const linesThatWait = (source: Source): readonly string[] => {
    const [, alias = "setTimeout"] =
      /import \{ setTimeout as (\w+) \} from "node:timers\/promises"/.exec(source.text) ?? [];
    const call = new RegExp(
      String.raw`\b(?:${alias}|setTimeout|setInterval|pause|AbortSignal\.timeout)\(|\bretryUntilSuccess\(|\bcustomTimeouts:`,
    );
    return codeLines(source).filter(
      (line) => call.test(line) && !/^\s*(?:import|async pause\()/.test(line),
    );
  };

  const isKnown = ({ path }: Source, line: string): boolean =>
    programWaits.some(
      ({ file, code }) => file === path && code.some((text) => line.includes(text)),
    ) || noWaits.some(({ file, code }) => file === path && line.includes(code));

  it("are found under the name of the import", () => {
    const text = [
      'import { setTimeout as after } from "node:timers/promises";',
      "// after(1) in a comment",
      "await after(1000);",
      "const signal = AbortSignal.timeout(5);",
      'const options = { customTimeouts: { create: "5m" } };',
    ].join("\n");
    assert.equal(linesThatWait({ path: "a.ts", text }).length, 3);
  });

  it("have each a row, or a reason why they are no waits", () => {
    const missing = all.flatMap((source) =>
      linesThatWait(source)
        .filter((line) => !isKnown(source, line))
        .map((line) => `${source.path}: ${line.trim()}`),
    );
    assert.deepEqual(missing, []);
  });

  it("are in the code that their rows name", () => {
    const rows = [...programWaits, ...noWaits.map((one) => ({ ...one, code: [one.code] }))];
    const stale = rows.flatMap(({ file, code }) =>
      code.filter((text) => !readSource(file).includes(text)).map((text) => `${file}: ${text}`),
    );
    assert.deepEqual(stale, []);
  });

  it("have a limit that the code contains", () => {
    assert.equal(readNumber("const a = 15 * 60_000;", "a"), 900_000);
    assert.equal(readNumber("export const limits = { ab: 1, a: 5_000 };", "a"), 5000);
    assert.throws(() => readNumber("readonly a: number;", "a"), /there is no number "a"/);
    for (const wait of nonEmpty(programWaits)) assert.doesNotMatch(formatLimit(wait), /[{}]|NaN/);
  });
});

describe("waitsPage", () => {
  it("has the limits of both kinds of waits", () => {
    const page = waitsPage();
    const steps = page.split("\n").filter((line) => line.startsWith("| `prepare` "));
    assert.match(steps.join(), /\| 90 min \|$/);
    for (const { waitsFor } of nonEmpty(listProgramWaits()))
      assert.ok(page.includes(`| ${waitsFor} |`), waitsFor);
  });
});
