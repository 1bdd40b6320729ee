import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { loadLate } from "../../../../automation/cluster/late-modules.js";
import { run } from "../../../../base/run.js";

describe("modules that are loaded on first use", () => {
  let directory: string;
  let count = 0;
  const here = (name: string): string => join(directory, name);
  const required = (): Record<string, unknown> =>
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    require(here("heavy.cjs")) as Record<string, unknown>;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-late-"));
    writeFileSync(here("heavy.cjs"), "globalThis.onHeavy(); exports.weight = 7;");
    count = 0;
    Object.assign(globalThis, { onHeavy: () => (count += 1) });
    loadLate("./heavy.cjs", here("index.cjs"));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
    Reflect.deleteProperty(globalThis, "onHeavy");
  });

  it("are not loaded by who only requires them, or asks whether they are ES modules", () => {
    assert.equal(required()["__esModule"], true);
    assert.equal(count, 0);
  });

  it("are themselves from the first use on, loaded once", () => {
    const early = required();
    assert.equal(early["weight"], 7);
    assert.equal(early["__esModule"], undefined);
    assert.deepEqual({ ...early }, { weight: 7 });
    assert.ok("weight" in early);
    assert.equal(required()["weight"], 7);
    assert.equal(count, 1);
  });

  it("are what an importer takes for their default, who saw no ES module nor anything else", () => {
    // Equals the compiler's output for `import heavy from "./heavy.cjs"`.
    const early = required();
    const imported = early["__esModule"] === true ? early : { default: early };
    assert.equal((imported["default"] as Record<string, unknown>)["weight"], 7);
  });

  it("may be functions", () => {
    writeFileSync(here("function.cjs"), "module.exports = (one, other) => one + other;");
    loadLate("./function.cjs", here("index.cjs"));
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    const add = require(here("function.cjs")) as (one: number, other: number) => number;
    assert.equal(add(3, 4), 7);
  });

  it("need not be there", () => {
    assert.doesNotThrow(() => {
      loadLate("./missing.cjs", here("index.cjs"));
    });
  });
});

describe("the SDK behind them", function () {
  this.timeout(60_000);
  const root = resolve(__dirname, "..", "..", "..", "..");
  const program = `
    require("./automation/cluster/late-modules.ts");
    const pulumi = require("@pulumi/pulumi");
    const isLoaded = () => Object.keys(require.cache).some((file) => file.includes("/@npmcli/map-workspaces/"));
    const before = [isLoaded(), process.memoryUsage().heapUsed < 100e6];
    const five = 5;
    pulumi.runtime.serializeFunction(() => five).then(({ text }) => {
      console.log(JSON.stringify([...before, /=> five/.test(text)]));
    });
  `;

  it("loads neither the compiler nor npm's resolver, and still serializes functions", async () => {
    const loader = pathToFileURL(require.resolve("tsx")).href;
    const { stdout } = await run(process.execPath, ["--import", loader, "-e", program], {
      cwd: root,
    });
    assert.deepEqual(JSON.parse(stdout), [false, true, true]);
  });

  const programOfOnesOwn = `
    require("./automation/cluster/late-modules.ts");
    const kubernetes = require("@pulumi/kubernetes");
    const { z } = require("zod");
    const loaded = (part) => Object.keys(require.cache).some((file) => file.includes(part));
    const parts = ["/kubernetes/helm/v3/", "/kubernetes/kustomize/v2/", "/kubernetes/yaml/v2/", "/v4/locales/de"];
    const before = parts.map(loaded);
    const { helm, kustomize, yaml } = kubernetes;
    const classes = [helm.v3.Release, helm.v4.Chart, kustomize.Directory, yaml.ConfigFile, yaml.v2.ConfigGroup];
    const message = z.locales.de().localeError({ code: "too_small", origin: "number", minimum: 5, inclusive: true });
    console.log(JSON.stringify([before, classes.map((one) => typeof one), message]));
  `;

  it("loads no charts and no languages, and still has them for who uses them", async () => {
    const loader = pathToFileURL(require.resolve("tsx")).href;
    const { stdout } = await run(process.execPath, ["--import", loader, "-e", programOfOnesOwn], {
      cwd: root,
    });
    const [before, classes, message] = JSON.parse(stdout) as [boolean[], string[], string];
    assert.deepEqual(before, [false, false, false, false]);
    assert.deepEqual(classes, Array(5).fill("function"));
    assert.match(message, /5/);
  });
});
