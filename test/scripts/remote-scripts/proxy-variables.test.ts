import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { restoreScript } from "../../../automation/backup/machine-programs.js";
import { Sandbox } from "../../support/machine/sandbox.js";

const folder = join(__dirname, "../../../components/remote-scripts/scripts");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

/** Variables that an image may set for all sessions, for example in /etc/environment. */
const setProxies = [
  ...["http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY"],
]
  .map((name) => `export ${name}=http://proxy.corp:3128`)
  .join("\n");
const printEnvironment = "printf 'environment of a command\\n'; env";

describe("proxy variables in the environment of a machine", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox({ hostname: "echo machine" });
  });
  afterEach(() => {
    machine.close();
  });
  const requireNone = (stdout: string): void => {
    assert.match(stdout, /^environment of a command$/m);
    assert.doesNotMatch(stdout, /_proxy=/i);
  };

  it("do not reach the commands of a step", () => {
    const step = `step_body() { { ${printEnvironment}; } >&4; }`;
    const run = "run_step test step_body";
    requireNone(machine.run([setProxies, read("common.sh"), step, run], {}).stdout);
  });

  it("do not reach the commands of an installed program", () => {
    const program = [setProxies, read("timeout-factor.sh"), printEnvironment].join("\n");
    requireNone(machine.execute(program).stdout);
  });

  it("do not reach the commands of a restore", () => {
    const atExit = `trap ${JSON.stringify(printEnvironment)} EXIT`;
    const { code, stdout } = machine.execute([setProxies, atExit, restoreScript].join("\n"));
    assert.equal(code, 64);
    requireNone(stdout);
  });
});
