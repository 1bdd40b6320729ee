import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Mocha from "mocha";
import { getPackageRoot } from "../../../../base/paths.js";
import {
  getEvidenceFile,
  readEvidence,
  type TestRunSetup,
} from "../../../../packages/tools/evidence/record.js";
import { noteSetup, recordRowsOf } from "../../../support/evidence.js";

const setup: TestRunSetup = {
  machine: "container",
  image: "debian-12",
  overrides: [],
  octavia: "lab",
  plugins: {
    engine: "official",
    nodejs: "official",
    openstack: "built",
    kubernetes: "official",
    command: "stand-in",
  },
};

describe("evidence of a test run", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "stackadm-evidence-"));
    mkdirSync(join(root, "docs"));
    const who = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
    for (const words of [["init"], [...who, "commit", "--allow-empty", "-m", "first"]])
      execFileSync("git", [...words, "--quiet"], { cwd: root });
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  /** Runs tests as if they were in this file, one after another; returns the recorded rows. */
  const recorded = async (file: string, tests: Readonly<Record<string, () => void>>) => {
    const mocha = new Mocha({ reporter: class extends Mocha.reporters.Base {} });
    const suite = Mocha.Suite.create(mocha.suite, "a suite");
    for (const [title, body] of Object.entries(tests)) {
      const test = new Mocha.Test(title, body);
      test.file = join(getPackageRoot(), file);
      suite.addTest(test);
    }
    mocha.suite.afterEach(async function () {
      if (this.currentTest)
        await recordRowsOf(this.currentTest, { root, env: { STACKADM_EVIDENCE: "1" } });
    });
    await new Promise<number>((done) => mocha.run(done));
    return readEvidence(getEvidenceFile(root)).map(({ row, machine }) => `${row}: ${machine}`);
  };
  const pass = (): void => undefined;
  const fail = (): never => assert.fail("as it should");
  const five = "test/lab/all/control-planes/five.test.ts";

  it("contains a row after the last of its tests has passed, with the recorded setup", async () => {
    const forget = noteSetup(() => Promise.resolve(setup));
    assert.deepEqual(await recorded(five, { one: pass, two: pass }), ["topology/five: container"]);
    forget();
  });

  it("omits a row if one of its tests fails, before or after", async () => {
    const forget = noteSetup(() => Promise.resolve(setup));
    assert.deepEqual(await recorded(five, { one: fail, two: pass }), []);
    assert.deepEqual(await recorded(five, { one: pass, two: fail }), []);
    forget();
  });

  it("omits a row if no setup is active", async () => {
    noteSetup(() => Promise.resolve(setup))();
    assert.deepEqual(await recorded(five, { one: pass }), []);
  });

  it("uses the latest active setup", async () => {
    const forget = noteSetup(() => Promise.resolve(setup));
    const forgetOther = noteSetup(() => Promise.resolve({ ...setup, machine: "kernel" }));
    assert.deepEqual(await recorded(five, { one: pass }), ["topology/five: kernel"]);
    forgetOther();
    assert.deepEqual((await recorded(five, { one: pass })).at(-1), "topology/five: container");
    forget();
  });

  it("omits rows of another image or plugin", async () => {
    const forget = noteSetup(() => Promise.resolve({ ...setup, image: "debian-13" }));
    const rows = await recorded("test/lab/life.test.ts", { one: pass });
    forget();
    assert.ok(rows.includes("plugins/kubernetes-official: container"), rows.join());
    assert.ok(!rows.some((row) => /debian-12|kubernetes-stand-in/.test(row)), rows.join());
  });
});
