import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { getPackageRoot } from "../../../../base/paths.js";
import { reporterLinePrefix } from "../../json-lines-reporter.js";
import { runTests } from "../../test.js";
import { selectTiers, getTestFileOrder, tiers } from "../../tiers.js";
import { ended, recordedSession, Repository } from "./support/repository.js";

/**
 * Stub of mocha. It records its call. It reports one passed test for each file, unless the file's
 * name requests another result.
 */
const mocha = `
const { appendFileSync, readFileSync, writeFileSync } = require("node:fs");
const args = process.argv.slice(2);
const files = args.slice(args.indexOf("--reporter") + 2);
const jobs = args.includes("--parallel") ? args[args.indexOf("--jobs") + 1] : "1";
const { NO_COLOR, STACKADM_TEST_ALL } = process.env;
appendFileSync("calls", JSON.stringify({ cwd: process.cwd(), jobs, files, NO_COLOR, STACKADM_TEST_ALL }) + "\\n");
const say = (fields) => console.log(${JSON.stringify(reporterLinePrefix)} + JSON.stringify(fields));
for (const title of files) {
  say({ type: "begin", title });
  const hangs = /hangs-\\d/.exec(title);
  if (hangs) { writeFileSync(hangs[0], process.pid + "\\n"); return setInterval(() => {}, 1000); }
  const meets = /meets-([a-z]+)/.exec(title);
  for (const end = Date.now() + 20_000; meets && !readFileSync("calls", "utf8").includes("/" + meets[1] + "/"); )
    if (Date.now() > end) throw new Error("no process came");
  if (title.includes("shows")) say({ type: "evidence", example: "one", point: "it works", seen: "yes" });
  say(title.includes("fails") ? { type: "fail", title, message: "1 !== 2" } : { type: "pass", title });
}
say({ type: "end" });
`;

interface Call {
  readonly jobs: string;
  readonly files: string[];
}

describe("tiers of tests", () => {
  it("correspond to the folders with tests", () => {
    const packages = join(getPackageRoot(), "packages");
    const roots = readdirSync(packages).map((name) => join(packages, name, "test"));
    const folders = [join(getPackageRoot(), "test"), ...roots.filter(existsSync)].flatMap((root) =>
      readdirSync(root, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .filter(({ name }) =>
          readdirSync(join(root, name), { recursive: true }).some((file) =>
            String(file).endsWith(".test.ts"),
          ),
        ),
    );
    assert.deepEqual(
      new Set(tiers.map(({ name }) => name)),
      new Set(folders.map(({ name }) => name)),
    );
  });
});

describe("default tiers", () => {
  it("are those without root, lab and Go builds; every other tier runs on request", () => {
    const names = (asked: readonly string[]) => selectTiers(asked).map(({ name }) => name);
    assert.deepEqual(names([]), ["unit", "graph", "scripts", "commands"]);
    for (const { name } of tiers) assert.deepEqual(names([name]), [name]);
  });
});

describe("`npm test`", function () {
  this.timeout(60_000);
  const { PATH } = process.env;
  let repository: Repository;
  beforeEach(() => {
    repository = new Repository();
    repository.link("tsx");
    // Creates the programs that the tiers need, so that nothing is installed.
    const programs = ["qemu-system-x86_64", "qemu-img", "genisoimage", "sfdisk"];
    for (const name of ["python3", "ssh-agent", ...programs])
      repository.program(`bin/${name}`, "#!/bin/sh\n");
    process.env["PATH"] = repository.path;
    repository.put("node_modules/mocha/bin/mocha.js", mocha);
    for (const file of ["unit/b.test.ts", "unit/a.test.ts", "unit/a.ts", "graph/fails.test.ts"])
      repository.put(`test/${file}`);
  });
  afterEach(() => {
    process.env["PATH"] = PATH;
    repository.remove();
  });
  const calls = (): Call[] =>
    repository
      .text("calls")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Call);
  const test = async (names: readonly string[], all = false, seed?: number) => {
    const session = recordedSession();
    const code = await runTests(names, { root: repository.root, all, seed, session });
    return { code, ...session };
  };

  const unit = (name: string): string => join(repository.root, "test", "unit", name);

  it("runs a tier's files in the repository from any directory, and passes --all", async () => {
    const { code, printed, steps } = await test(["unit"], true);
    assert.deepEqual([code, printed, steps], [0, ["2 passed, 0 failed"], ["Tests: unit"]]);
    const call = { cwd: repository.root, NO_COLOR: "1", STACKADM_TEST_ALL: "1" };
    const files = ["a.test.ts", "b.test.ts"].map(unit);
    assert.deepEqual(calls(), [{ ...call, jobs: "2", files }]);
  });

  it("runs a tier's files in each package after those of the product", async () => {
    repository.put("packages/lab/test/unit/a.test.ts");
    repository.put("packages/lab/test/unit/all/b.test.ts");
    repository.put("packages/lab/unit/c.test.ts");
    repository.put("packages/README.md");
    await test(["unit"]);
    const own = join(repository.root, "packages", "lab", "test", "unit", "a.test.ts");
    assert.deepEqual(calls()[0]?.files, [...["a.test.ts", "b.test.ts"].map(unit), own]);
  });

  it("runs the files in a tier's folder `all` only with --all", async () => {
    repository.put("test/unit/all/c.test.ts");
    await test(["unit"]);
    await test(["unit"], true);
    const counts = calls().map(({ files }) => files.filter((file) => /c\.test/.test(file)).length);
    assert.deepEqual(counts, [0, 1]);
  });

  it("runs one file of a tier's folder `in-turn`, preferably a recently changed one, and each file with --all", async () => {
    for (const name of ["c", "d"]) repository.put(`test/unit/in-turn/${name}.test.ts`);
    const git = (...words: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t.test", ...words], {
        cwd: repository.root,
      });
    git("init", "--quiet");
    const ran = async (all = false): Promise<string> => {
      await test(["unit"], all);
      const files = calls().at(-1)?.files ?? [];
      return files.flatMap((file) => /in-turn\/(\w)/.exec(file)?.[1] ?? []).join("");
    };
    assert.equal(await ran(), "c", "no history");
    const commit = (): void => {
      git("commit", "--quiet", "--allow-empty", "-m", "one more");
    };
    commit();
    assert.equal(await ran(), "d");
    commit();
    assert.equal(await ran(), "c");
    git("add", "test/unit/in-turn/d.test.ts");
    commit();
    commit();
    assert.equal(await ran(), "d");
    assert.equal(await ran(true), "cd");
  });

  it("starts a quick tier with its largest files, so that none runs alone at the end", async () => {
    repository.put("test/unit/b.test.ts", "// a comment".repeat(10));
    repository.put("test/unit/c.test.ts", "// short");
    assert.equal((await test(["unit"])).code, 0);
    assert.deepEqual(calls()[0]?.files, ["b.test.ts", "c.test.ts", "a.test.ts"].map(unit));
  });

  it("runs files in the order of a printed seed, but those of the lab by path", async () => {
    const names = ["a", "b", "c", "d", "e", "f"].map((name) => `${name}.test.ts`);
    for (const name of names) repository.put(`test/unit/${name}`);
    const filesBy = async (seed: number): Promise<string[]> => {
      const { notes } = await test(["unit"], false, seed);
      assert.deepEqual(notes, [`Order of the files: --shuffle ${seed}`]);
      return calls().at(-1)?.files ?? [];
    };
    const [first, again, ...others] = [await filesBy(7), await filesBy(7), await filesBy(8)];
    assert.deepEqual([...first].sort(), names.map(unit));
    assert.deepEqual(again, first);
    assert.notDeepEqual(others, [first]);
    const inOrder = tiers.filter((tier) => getTestFileOrder(tier, 7) === "by path");
    assert.deepEqual(
      inOrder.map(({ name }) => name),
      ["lab"],
    );
  });

  it("draws a seed for --shuffle, and accepts only a number", async () => {
    const { code, out, err } = await ended(repository.chores("test", "unit", "--shuffle"));
    assert.deepEqual([code, out], [0, "2 passed, 0 failed\n"]);
    assert.match(err, /^Order of the files: --shuffle \d+\n/);
    const wrong = await ended(repository.chores("test", "--shuffle", "unit"));
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /argument 'unit' is invalid\. Write a number/);
  });

  it("fails if a test fails, or if mocha fails although every test passed", async () => {
    repository.put("test/unit/c-fails.test.ts");
    const { code, printed, notes } = await test(["unit"]);
    assert.deepEqual([code, printed], [1, ["2 passed, 1 failed"]]);
    assert.match(notes.join("\n"), /^\nx unit: \S+c-fails\.test\.ts\n {4}1 !== 2$/);
    repository.put("node_modules/mocha/bin/mocha.js", `${mocha}process.exitCode = 7;`);
    const dies = await test(["scripts"]);
    assert.deepEqual([dies.code, dies.printed], [1, ["0 passed, 1 failed"]]);
    assert.match(dies.notes.join("\n"), /^\nx scripts: the test runner\n {4}ended with 7/);
  });

  it("prints the examples' results as a table before the total", async () => {
    repository.put("test/scripts/shows.test.ts");
    const { printed } = await test(["scripts"]);
    const table = "\nEXAMPLE  POINT     SEEN\none      it works  yes\n";
    assert.deepEqual(printed, [table, "1 passed, 0 failed"]);
  });

  it("runs quick tiers concurrently, and every other tier alone", async () => {
    for (const file of ["unit/meets-scripts", "scripts/meets-unit", "commands/c"])
      repository.put(`test/${file}.test.ts`);
    const { printed, steps } = await test(["unit", "scripts", "commands"]);
    assert.deepEqual(printed, ["5 passed, 0 failed"]);
    assert.deepEqual(steps, ["Tests: unit", "Tests: scripts", "Tests: commands"]);
    assert.match(calls().at(-1)?.files.join() ?? "", /commands\/c\.test\.ts$/);
  });

  it("runs the named tiers in their fixed order, and continues after a failed one", async () => {
    repository.put("test/scripts/c.test.ts");
    const { code, printed, notes, steps } = await test(["scripts", "graph"]);
    assert.deepEqual([code, printed], [1, ["1 passed, 1 failed"]]);
    assert.deepEqual(steps, ["Tests: graph", "Tests: scripts"]);
    assert.match(notes.join("\n"), /^\nx graph: \S+fails\.test\.ts\n {4}1 !== 2$/);
    assert.ok(!("STACKADM_TEST_ALL" in (calls()[0] ?? {})));
  });

  it("fails for an unknown tier and lists the known ones", async () => {
    const { code, printed, notes, steps } = await test(["unit", "nothing"]);
    assert.deepEqual([code, printed], [1, ["0 passed, 1 failed"]]);
    const known = tiers.map(({ name }) => name).join(", ");
    assert.equal(notes[0], `error: There is no tier 'nothing'. There are: ${known}.`);
    assert.deepEqual(steps, [], "nothing runs when one name is wrong");
  });

  it("returns the tests' exit code and prints the total as the last line", async () => {
    const { code, out, err } = await ended(repository.chores("test", "graph"));
    assert.deepEqual([code, out], [1, "0 passed, 1 failed\n"]);
    assert.match(
      err,
      /^> Tests: graph \(about .+\)\nx Tests: graph \(\d+ s\): 0 passed, 1 failed\n/,
    );
  });

  it("stops the running tests on Ctrl-C, exits with 130 and prints the total", async () => {
    repository.put("test/unit/hangs-1.test.ts");
    const child = repository.chores("test", "unit", "commands");
    const all = ended(child);
    const pid = await repository.appears("hangs-1");
    child.kill("SIGINT");
    const { code, out, err } = await all;
    assert.deepEqual([code, out], [130, "2 passed, 1 failed\n"]);
    assert.match(
      err,
      /\nx unit: the test runner\n {4}ended with SIGINT after '\S+hangs-1\.test\.ts'/,
    );
    assert.doesNotMatch(err, /Tests: commands/);
    assert.throws(() => process.kill(Number(pid), 0), { code: "ESRCH" });
  });
});
