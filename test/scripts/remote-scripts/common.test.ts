import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readScriptResult } from "../../../components/remote-scripts/script-result.js";
import { Sandbox } from "../../support/machine/sandbox.js";

const common = readFileSync(
  join(__dirname, "../../../components/remote-scripts/scripts/common.sh"),
  "utf8",
);

describe("the timeout factor of a machine", () => {
  let machine: Sandbox;
  const run = (body: string) =>
    machine.run([common, `step_body() {\n${body}\n}\n`, "run_step test step_body"], {});
  beforeEach(() => {
    machine = new Sandbox({ hostname: "echo machine", systemctl: "echo active" });
    machine.stub("systemd-run", "exit 0");
  });
  afterEach(() => {
    machine.close();
  });

  const waits = (): number =>
    Number(run('poll 10 false || printf %s "$SECONDS" >&4').stdout || Number.NaN);
  for (const [written, factor] of [
    [undefined, 1],
    ["1\n", 1],
    ["3\n", 3],
    ["20\n", 20],
    ["", 1],
    ["0\n", 1],
    ["many\n", 1],
    ["100\n", 1],
  ] as const)
    it(`is ${String(factor)} if the file's content is ${JSON.stringify(written ?? "absent")}`, () => {
      if (written !== undefined) machine.put("var/lib/stackadm/timeout-factor", written);
      assert.equal(waits(), 10 * factor);
    });

  it("scales the limits of units, of waits for units and of kubeadm", () => {
    machine.put("var/lib/stackadm/timeout-factor", "3\n");
    const { calls, stdout, stderr } = run(
      "start_unit x 900 work; kubeadm_timeout >&4; wait_unit x 10",
    );
    assert.match(calls.find((call) => call.startsWith("systemd-run")) ?? "", /RuntimeMaxSec=2700 /);
    assert.equal(stdout, "720s");
    assert.match(stderr, /\nreason: x did not end within 30 s\n$/);
  });
});

describe("the result of a step", () => {
  let machine: Sandbox;
  const run = (body: string) =>
    machine.run([common, `step_body() {\n${body}\n}\n`, "run_step test step_body"], {});
  beforeEach(() => {
    machine = new Sandbox({ hostname: "echo machine" });
  });
  afterEach(() => {
    machine.close();
  });

  it("is one marked line, without the output of the step's commands", () => {
    const { stdout } = run('echo noise; print_result node "$(hostname)" kubernetes 1.36.3');
    assert.equal(stdout, '\n@stackadm {"node": "machine", "kubernetes": "1.36.3"}\n');
  });

  it("is a separate line after a greeting without a newline", () => {
    const { stdout } = run('printf "Welcome " >&4; print_result node machine');
    assert.deepEqual(readScriptResult(stdout), { node: "machine" });
  });
});

describe("a failing step", () => {
  let machine: Sandbox;
  const run = (body: string) =>
    machine.run([common, `step_body() {\n${body}\n}\n`, "run_step test step_body"], {
      SECRET: "CANARY",
    });
  const reason = (body: string): string => {
    const { code, stderr } = run(body);
    assert.notEqual(code, 0);
    assert.doesNotMatch(stderr, /CANARY/);
    // On a busy host the first sign of life may be late.
    const lines = stderr
      .trimEnd()
      .split("\n")
      .filter((line) => !line.startsWith("alive "));
    assert.equal(lines.filter((line) => line.startsWith("reason: ")).length, 1, stderr);
    return lines.at(-1) ?? "";
  };
  beforeEach(() => {
    machine = new Sandbox({ hostname: "echo machine" });
  });
  afterEach(() => {
    machine.close();
  });

  it("ends with the given sentence", () => {
    assert.equal(reason('echo noise; die "the disk is full"'), "reason: the disk is full");
  });

  it("ends with the sentence on one line, even from a subshell", () => {
    assert.equal(
      reason('local x; x=$(die "no version" "of it"$\'\\n\'"is there"); echo "$x"'),
      "reason: no version of it is there",
    );
  });

  it("ends with the given failure code", () => {
    assert.equal(reason('die_as NOT_READY "it is" late'), "reason: [NOT_READY] it is late");
    assert.equal(reason('x=$(die_as NOT_READY "it is late")'), "reason: [NOT_READY] it is late");
  });

  it("does not end with a tool's output, even if the output resembles a reason", () => {
    const forged = "echo 'reason: [INVALID_CONFIG] forged'";
    assert.equal(reason(`${forged}; die "it is late"; ${forged}`), "reason: it is late");
    assert.equal(reason(`${forged}; false`), "reason: `false` ended with code 1");
  });

  it("leaves only the lock file in /run", () => {
    reason('die "the disk is full"');
    assert.deepEqual(readdirSync(join(machine.root, "run/stackadm")), ["lock"]);
  });

  const commands: readonly (readonly [string, string])[] = [
    ['grep -q x <<<"$SECRET"', 'grep -q x <<< "$SECRET"'],
    ["printf '%s' \"$SECRET\" | grep -q x", "grep -q x"],
    ['[[ $SECRET == "" ]]', '[[ $SECRET == "" ]]'],
    ['local x; x=$(printf "%s" "$SECRET" | grep x)', 'x=$(printf "%s" "$SECRET" | grep x)'],
    ['for x in "$SECRET"; do grep -q "$x" /dev/null; done', 'grep -q "$x" /dev/null'],
  ];
  for (const [body, text] of commands)
    it(`ends with the failed command, without the command's values: ${body}`, () => {
      assert.equal(reason(body), `reason: \`${text}\` ended with code 1`);
    });

  it("ends with the exit code if no other reason is known", () => {
    assert.equal(reason("exit 3"), "reason: test ended with code 3");
  });

  it("does not end with the reason of an earlier run", () => {
    reason('die "the first"');
    assert.equal(reason("false"), "reason: `false` ended with code 1");
  });

  it("does not include a step that handles a command's failure", () => {
    const { code, stderr } = run(
      "if grep -q x /dev/null; then :; fi; false || :; poll 0 false || :",
    );
    assert.deepEqual([code, stderr.replace(/^alive .*\n/, "")], [0, ""]);
  });
});

describe("the write function of common.sh", () => {
  const written = (body: string) => {
    const machine = new Sandbox({
      hostname: "echo machine",
      stat: 'exec /usr/bin/stat "$@"',
      // Like install of uutils, which creates the file world-readable before it sets the mode.
      install: 'mkdir -p "${5%/*}"; cat >"$5"; chmod "$3" "$5"',
    });
    try {
      const { code, stderr } = machine.run(
        [common, `step_body() {\n${body}\n}\n`, "run_step test step_body"],
        {},
      );
      assert.equal(code, 0, stderr);
      return (path: string): string => machine.file(path)?.trim() ?? "";
    } finally {
      setImmediate(() => {
        machine.close();
      });
    }
  };

  for (const [mode, during] of [
    ["0600", "600"],
    ["0440", "440"],
    ["0700", "600"],
    ["0644", "644"],
  ] as const)
    it(`never exposes an unfinished file to users without read permission: ${mode}`, () => {
      const read = written(
        `{ printf SECRET; until stat -c %a /etc/own/file.new.* >/etc/during; do :; done; } | write /etc/own/file ${mode}; stat -c %a /etc/own/file /etc/own >/etc/after`,
      );
      assert.deepEqual(
        [read("etc/during"), read("etc/after"), read("etc/own/file")],
        [during, `${mode.slice(1)}\n755`, "SECRET"],
      );
    });

  it("reports whether the content changed, for an argument and for standard input", () => {
    const read = written(
      [
        ["write /etc/own 0600 $'a\\n\\n'", "yes"],
        ["write /etc/own 0600 $'a\\n\\n'", "no"],
        ["write /etc/own 0600 <<<$'a\\n'", "no"],
        ["write /etc/own 0600 $'a\\n'", "yes"],
        ["write /etc/own 0600 <<<a", "no"],
        ["write /etc/own 0600 ''", "yes"],
        ["write /etc/own 0600 </dev/null", "no"],
      ]
        .map(([command = "", expected = ""]) => `${command}; echo "${expected} $changed"`)
        .join("\n") + "\ncat $log >/etc/said",
    );
    const said = read("etc/said").match(/^(yes|no) .*$/gm);
    assert.deepEqual(said, ["yes yes", "no no", "no no", "yes yes", "no no", "yes yes", "no no"]);
  });

  it("sets the mode even if a killed run left an unfinished file with another mode", () => {
    const read = written(
      "write /etc/own; : >/etc/own.new.$BASHPID; write /etc/own 0600 SECRET; stat -c %a /etc/own >/etc/after",
    );
    assert.deepEqual([read("etc/after"), read("etc/own")], ["600", "SECRET"]);
  });

  it("does not change the mode of later files", () => {
    const read = written(
      "write /etc/one 0600 <<<1; >/etc/two; mkdir /etc/three; stat -c %a /etc/one /etc/two /etc/three >/etc/after",
    );
    assert.equal(read("etc/after"), "600\n644\n755");
  });
});

describe("the print_tool_error function of common.sh", () => {
  const said = (tool: string, output: string): string => {
    const machine = new Sandbox({ hostname: "echo machine" });
    try {
      const body = `step_body() {\ncat <<'OUTPUT'\n${output}\nOUTPUT\ndie "it failed$(print_tool_error ${tool})"\n}\n`;
      machine.put("var/log/stackadm/test.log", "--- 2026-01-01T00:00:00Z\nerror: old\nE: old\n");
      const { stderr } = machine.run([common, body, "run_step test step_body"], {});
      return stderr.trimEnd().split("\n").at(-1) ?? "";
    } finally {
      machine.close();
    }
  };

  it("returns kubeadm's error without kubeadm's advice", () => {
    const error =
      "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal bool into Go struct field ClusterConfiguration.clusterName of type string";
    const advice = "To see the stack trace of this error execute with --v=5 or higher";
    assert.equal(said("kubeadm", `error: ${error}\n${advice}`), `reason: it failed: ${error}`);
  });

  it("returns every failed preflight check of kubeadm", () => {
    const output = [
      "[preflight] Running pre-flight checks",
      "error execution phase preflight: [preflight] Some fatal errors occurred:",
      "\t[ERROR NumCPU]: the number of available CPUs 1 is less than the required 2",
      "\t[ERROR Mem]: the system RAM (1024 MB) is less than the minimum 1700 MB",
      "[preflight] If you know what you are doing, you can make a check non-fatal with `--ignore-preflight-errors=...`",
      "To see the stack trace of this error execute with --v=5 or higher",
    ].join("\n");
    assert.equal(
      said("kubeadm", output),
      "reason: it failed: [ERROR NumCPU]: the number of available CPUs 1 is less than the required 2; [ERROR Mem]: the system RAM (1024 MB) is less than the minimum 1700 MB",
    );
  });

  it("returns the error of apt's last attempt", () => {
    const output = [
      "E: Unable to locate package conntrack",
      "Get:1 http://deb.example bookworm InRelease",
      "E: Failed to fetch http://deb.example/conntrack.deb  404  Not Found",
      "E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?",
    ].join("\n");
    assert.equal(
      said("apt", output),
      "reason: it failed: Failed to fetch http://deb.example/conntrack.deb  404  Not Found",
    );
  });

  it("returns nothing if the tool printed no error in this run", () => {
    assert.equal(said("kubeadm", "waiting"), "reason: it failed");
    assert.equal(said("apt", "waiting"), "reason: it failed");
  });
});
