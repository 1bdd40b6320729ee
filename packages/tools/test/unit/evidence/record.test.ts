import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  getCheckoutCommit,
  getEvidenceFile,
  isRowApplicable,
  readEvidence,
  recordEvidence,
  type Evidence,
} from "../../../evidence/record.js";
import { sampleEvidence as sample } from "./sample.js";

const on = { STACKADM_EVIDENCE: "1" };

describe("evidence record", () => {
  let root: string;
  const git = (...words: string[]): string =>
    execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "stackadm-evidence-"));
    mkdirSync(join(root, "docs", "reference"), { recursive: true });
    writeFileSync(join(root, "docs", "reference", "support-matrix.md"), "");
    writeFileSync(join(root, "code"), "");
    git("init", "--quiet");
    git("add", ".");
    const who = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
    git(...who, "commit", "--quiet", "-m", "first");
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });
  const records = () => readEvidence(getEvidenceFile(root));

  it("is written only if the variable is set", () => {
    for (const env of [{}, { STACKADM_EVIDENCE: "0" }])
      assert.equal(recordEvidence(sample, { root, env }), false);
    assert.deepEqual(records(), []);
  });

  it("contains the facts, the date and the commit", () => {
    const now = new Date("2026-11-27T12:00:00Z");
    assert.equal(recordEvidence(sample, { root, env: on, now }), true);
    const commit = git("rev-parse", "--short=7", "HEAD");
    assert.deepEqual(records(), [{ ...sample, at: "2026-11-27T12:00:00.000Z", commit }]);
  });

  it("does not count as a code change, like the rendered page", () => {
    recordEvidence(sample, { root, env: on });
    writeFileSync(join(root, "docs", "reference", "support-matrix.md"), "new");
    recordEvidence(sample, { root, env: on });
    const [first, second] = records().map(({ commit }) => commit);
    assert.equal(first, second);
    assert.match(first ?? "", /^[0-9a-f]{7,}$/);
  });

  it("marks code that differs from the commit by a change or a new file", () => {
    writeFileSync(join(root, "code"), "changed");
    assert.match(getCheckoutCommit(root), /^[0-9a-f]{7,}-dirty$/);
    git("checkout", "--quiet", "code");
    assert.doesNotMatch(getCheckoutCommit(root), /dirty/);
    writeFileSync(join(root, "new"), "");
    // Changes anywhere in the checkout count, even if a subfolder is given.
    assert.match(getCheckoutCommit(join(root, "docs")), /-dirty$/);
  });

  it("is refused for a row that does not apply, even if nothing is written", () => {
    const wrong: Evidence = { ...sample, row: "system/debian-13/up" };
    assert.throws(() => recordEvidence(wrong, { root, env: {} }), /system\/debian-13\/up cannot/);
    const plugin: Evidence = { ...sample, row: "plugins/command-official" };
    assert.throws(() => recordEvidence(plugin, { root, env: on }), /command-official cannot/);
    assert.deepEqual(records(), []);
  });

  it("applies to rows by image and plugin", () => {
    assert.ok(isRowApplicable("topology/five", sample));
    assert.ok(isRowApplicable("system/debian-12/up", { ...sample, image: "debian-12-vm" }));
    assert.ok(isRowApplicable("plugins/openstack-built", sample));
    assert.ok(!isRowApplicable("plugins/openstack-official", sample));
  });

  it("is read in the order of dates, independent of the order of lines", () => {
    for (const day of ["28", "27"])
      recordEvidence(sample, { root, env: on, now: new Date(`2026-11-${day}T00:00:00Z`) });
    const days = records().map(({ at }) => at.slice(8, 10));
    assert.deepEqual(days, ["27", "28"]);
  });

  it("is reported with its line number if unreadable", () => {
    recordEvidence(sample, { root, env: on });
    const line = readFileSync(getEvidenceFile(root), "utf8");
    appendFileSync(getEvidenceFile(root), line.replace(sample.row, "topology/none"));
    assert.throws(records, /evidence\.jsonl:2: .*no such row/s);
    writeFileSync(getEvidenceFile(root), "<<<<<<< one\n");
    assert.throws(records, /evidence\.jsonl:1: /);
  });
});
