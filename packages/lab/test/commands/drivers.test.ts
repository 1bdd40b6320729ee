import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nonEmpty } from "../../../../test/support/non-empty.js";
import { listCloudFiles } from "../../cloud/files.js";
import { placeholderSecrets } from "../../cloud/secrets.js";
import { readLabSettings } from "../../settings.js";

const drivers = join("packages", "lab", "drivers");

/**
 * Runs a command in packages/lab/drivers. If a program is missing, throws an error with its name.
 */
function run(command: string, ...words: string[]): { status: number | null; output: string } {
  const done = spawnSync(command, words, { cwd: drivers, encoding: "utf8" });
  if (done.error) throw new Error(`${command} is needed: ${done.error.message}`);
  return { status: done.status, output: done.stdout + done.stderr };
}

/** Returns the paths of the Python files below a folder of the drivers, relative to it. */
const modulesBelow = (folder: string): string[] =>
  readdirSync(join(drivers, folder), { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".py"),
  );

/** Returns whether a dotted name is a module of the drivers, or a class or function in a module. */
function isDefined(name: string): boolean {
  const file = (words: readonly string[]): string => `${join(drivers, ...words)}.py`;
  const words = name.split(".");
  if (existsSync(file(words))) return true;
  const [last = ""] = words.splice(-1);
  return (
    existsSync(file(words)) &&
    new RegExp(`^(class|def) ${last}\\(`, "m").test(readFileSync(file(words), "utf8"))
  );
}

describe("lab drivers", () => {
  it("pass their own unit tests", function () {
    this.timeout(180_000);
    const { status, output } = run(
      "python3",
      "-B",
      "-m",
      "unittest",
      "discover",
      "-s",
      "tests",
      "-t",
      ".",
    );
    assert.equal(status, 0, output);
    const count = Number(/Ran (\d+) tests/.exec(output)?.[1]);
    assert.ok(count >= 400, `expected at least 400 Python tests, found ${count}`);
    assert.doesNotMatch(output, /skipped=/);
  });

  it("have no test file outside the run above", () => {
    const paths = modulesBelow("tests");
    const helpers = [
      ...["commands.py", "support.py", "compute/nova_stubs.py", "load_balancers/objects.py"],
      ...["load_balancers/octavia_stubs.py", "virtual_machines/blank_kernel.py"],
    ];
    const others = paths.filter(
      (path) => !/(^|\/)(test_\w+|__init__)\.py$/.test(path) && !helpers.includes(path),
    );
    assert.deepEqual(others, []);
  });

  it("have an __init__.py in each directory, as tests and modules require", () => {
    const folders = ["labdriver", "tests"].flatMap((top) =>
      modulesBelow(top).map((path) => dirname(join(top, path))),
    );
    const without = nonEmpty([...new Set(folders)]).filter(
      (folder) => !existsSync(join(drivers, folder, "__init__.py")),
    );
    assert.deepEqual(without, []);
  });

  it("exist under each name by which OpenStack's services load them", () => {
    const files = listCloudFiles({ settings: readLabSettings({}), secrets: placeholderSecrets });
    const texts = files.map(({ content }) => content);
    const entryPoints = join(drivers, "labdriver-0.1.dist-info", "entry_points.txt");
    const named = [...texts, readFileSync(entryPoints, "utf8")]
      .flatMap((text) => text.match(/\blabdriver(?:[.:]\w+)+/g) ?? [])
      .map((name) => name.replace(":", "."));
    assert.deepEqual([...new Set(named)].sort(), [
      "labdriver.block_storage.cinder.LabVolumeDriver",
      "labdriver.compute.nova_compute",
      "labdriver.load_balancers.certificates.BarbicanAuth",
      "labdriver.load_balancers.octavia.LabProviderDriver",
      "labdriver.load_balancers.octavia_agent.main",
    ]);
    assert.deepEqual(
      named.filter((name) => !isDefined(name)),
      [],
    );
  });
});
