import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { golden } from "../../../../support/golden.js";
import { jsonLines, Operator } from "../../../../support/commands/test-user.js";

// Uses a stub of the lab that records its calls. packages/lab/test/unit and test/lab test the lab
// itself.
describe("`stackadm lab`", function () {
  this.timeout(120_000);
  let operator: Operator;
  beforeEach(() => {
    operator = new Operator();
  });
  afterEach(() => {
    operator.remove();
  });
  const calls = (): string[] => {
    const file = join(operator.engine.directory, "lab-calls");
    return existsSync(file)
      ? readFileSync(file, "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => line.trim())
      : [];
  };
  const is = (status: Readonly<Record<string, unknown>>): void => {
    writeFileSync(join(operator.engine.directory, "lab.json"), JSON.stringify(status));
  };

  it("ends `up` with the line that makes it the shell's cloud", async () => {
    const { code, out } = await operator.start(["lab", "up", "--kubernetes", "1.36.3"]).ended;
    assert.equal(code, 0);
    assert.match(
      out,
      /^ {2}export OS_CLIENT_CONFIG_FILE=\/lab\/clouds\.yaml OS_CLOUD=stackadm-lab$/m,
    );
    assert.deepEqual(calls(), ["up 1.36.3"]);
  });

  it("ends `add` with what to write in the stack's settings, and knows what there is to add", async () => {
    const { code, out } = await operator.start(["lab", "add", "calico"]).ended;
    assert.equal(code, 0);
    const line = '  podNetwork: {"kind":"calico","manifest":{"source":"/c.yaml","sha256":"0"}}';
    assert.ok(out.split("\n").includes(line), out);
    const other = await operator.start(["lab", "add", "cilium"]).ended;
    assert.equal(other.code, 2);
    assert.match(other.err, /The lab has no cilium to add\.[^]*Add calico\./);
    assert.deepEqual(calls(), ["add calico"]);
  });

  it("shows how it is in a table, and ends with 0 only when it is up", async () => {
    is({
      state: "up",
      problems: [],
      versions: { keystone: "2:28.0.0" },
      startedAt: "2026-01-02T03:04:05Z",
      memory: 4096,
      current: false,
    });
    const { code, out } = await operator.run("lab", "status");
    assert.equal(code, 0);
    golden("cli/lab-status-table.txt", out);
  });

  for (const state of ["down", "busy", "broken"])
    it(`ends \`status\` with 1 when it is ${state}, and says why`, async () => {
      const problems = state === "down" ? [] : ["container stackadm-lab is exited"];
      is({ state, problems });
      const { code, out } = await operator.run("lab", "status");
      assert.equal(code, 1);
      assert.match(out, new RegExp(`^LAB +${state}$`, "m"));
      assert.equal(out.includes("container stackadm-lab is exited"), problems.length > 0);
      const [result, error] = jsonLines((await operator.run("lab", "status", "--json")).out);
      assert.deepEqual(result, { type: "result", ok: false, state, problems });
      assert.deepEqual([error?.["type"], error?.["code"]], ["error", "FAILED"]);
    });

  it("is taken away by `down` without a question, so that scripts can do it", async () => {
    const { code, out } = await operator.run("lab", "down");
    assert.equal(code, 0);
    assert.match(out, /^The lab is gone: /);
    assert.deepEqual(calls(), ["down"]);
  });

  it("is what `stackadm dev` starts when no cloud is named", async () => {
    const { code, err } = await operator.run("dev");
    assert.deepEqual(calls(), ["up"]);
    // The stub creates no clouds.yaml, so that no cloud is configured.
    assert.equal(code, 2);
    assert.match(err, /error: No cloud is configured/);
  });
});
