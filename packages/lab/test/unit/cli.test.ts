import assert from "node:assert/strict";
import { join } from "node:path";
import { goldenIn } from "../../../../test/support/golden.js";
import { buildProgram } from "../../cli/main.js";
import type { LabFunctions } from "../../cli/commands.js";
import type { LabStatus } from "../../lab.js";

const golden = goldenIn(join(__dirname, "../golden"));
const facts = {
  cloud: "stackadm-lab",
  tlsCloud: "stackadm-lab-tls",
  container: "stackadm-lab",
  cloudsFile: "/lab/clouds.yaml",
  adminCloudsFile: "/lab/admin.yaml",
  siteFile: "/s.yaml",
};

describe("lab command line", () => {
  let calls: string[];
  let status: LabStatus;
  const lab: LabFunctions = {
    labUp: ({ kubernetes = "" }) => {
      calls.push(`up ${kubernetes}`);
      return Promise.resolve(facts);
    },
    labStatus: () => Promise.resolve(status),
    labAdd: (name) => {
      calls.push(`add ${name}`);
      return Promise.resolve({ calico: { source: "/c.yaml", sha256: "0" } });
    },
    labDown: () => {
      calls.push("down");
      return Promise.resolve();
    },
  };
  beforeEach(() => {
    calls = [];
  });

  /** Runs a command. Returns its exit code and its output. */
  async function run(...args: string[]): Promise<{ code: unknown; out: string; err: string }> {
    const written = { out: "", err: "" };
    const streams = [process.stdout, process.stderr] as const;
    const writes = streams.map((stream) => stream.write.bind(stream));
    const [wasCode, wasCi] = [process.exitCode, process.env["CI"]];
    process.env["CI"] = "true";
    process.stdout.write = (text: unknown) => (written.out += String(text)) !== "";
    process.stderr.write = (text: unknown) => (written.err += String(text)) !== "";
    try {
      await buildProgram(lab).parseAsync(args, { from: "user" });
      return { code: process.exitCode ?? 0, ...written };
    } finally {
      for (const [index, stream] of streams.entries())
        stream.write = writes[index] as typeof stream.write;
      process.exitCode = wasCode;
      if (wasCi === undefined) delete process.env["CI"];
      else process.env["CI"] = wasCi;
    }
  }

  const program = buildProgram(lab);
  for (const command of [program, ...program.commands])
    it(`describes '${command.name()}' in its help`, () => {
      let text = "";
      command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 100 });
      command.outputHelp();
      golden(`help/${command.name()}.txt`, text);
    });

  it("ends `up` with the line that selects the cloud in a shell", async () => {
    const { code, out } = await run("up", "--kubernetes", "1.36.3");
    assert.equal(code, 0);
    assert.match(
      out,
      /^ {2}export OS_CLIENT_CONFIG_FILE=\/lab\/clouds\.yaml OS_CLOUD=stackadm-lab$/m,
    );
    assert.deepEqual(calls, ["up 1.36.3"]);
  });

  it("ends `add` with the lines for a stack's settings, and refuses an unknown part", async () => {
    const { code, out } = await run("add", "calico");
    assert.equal(code, 0);
    const line = '  podNetwork: {"kind":"calico","manifest":{"source":"/c.yaml","sha256":"0"}}';
    assert.ok(out.split("\n").includes(line), out);
    const other = await run("add", "cilium");
    assert.equal(other.code, 2);
    assert.match(other.err, /The lab has no cilium to add\.[^]*Add calico, /);
    assert.deepEqual(calls, ["add calico"]);
  });

  it("shows the status in a table, with exit code 0 if the lab is up", async () => {
    status = {
      state: "up",
      problems: [],
      versions: { keystone: "2:28.0.0" },
      startedAt: "2026-01-02T03:04:05Z",
      memory: 4096,
      current: false,
    };
    const { code, out } = await run("status");
    assert.equal(code, 0);
    golden("status-table.txt", out);
  });

  for (const state of ["down", "busy", "broken"] as const)
    it(`exits \`status\` with code 1 and the problems if the lab is ${state}`, async () => {
      const problems = state === "down" ? [] : ["container stackadm-lab is exited"];
      status = { state, problems };
      const { code, out } = await run("status");
      assert.equal(code, 1);
      assert.match(out, new RegExp(`^LAB +${state}$`, "m"));
      assert.equal(out.includes("container stackadm-lab is exited"), problems.length > 0);
      const json = (await run("status", "--json")).out.trim().split("\n");
      const [result, error] = json.map((line) => JSON.parse(line) as Record<string, unknown>);
      assert.deepEqual(result, { type: "result", ok: false, state, problems });
      assert.deepEqual([error?.["type"], error?.["code"]], ["error", "FAILED"]);
    });

  it("destroys the lab by `down` without a prompt, for scripts", async () => {
    const { code, out } = await run("down");
    assert.equal(code, 0);
    assert.match(out, /^The lab is gone: /);
    assert.deepEqual(calls, ["down"]);
  });
});
