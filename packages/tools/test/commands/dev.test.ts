import assert from "node:assert/strict";
import { startLabAndRunUp } from "../../dev.js";
import { Repository } from "./support/repository.js";

/**
 * Stub of a command line. It records its arguments. It exits with the code in the environment
 * variable that has its name.
 */
const stub = (name: string): string => `
import { appendFileSync } from "node:fs";
appendFileSync(process.env.CALLS, ["${name}", ...process.argv.slice(2)].join(" ") + "\\n");
if (process.argv[2] === "toolchain") process.exitCode = 1;
else process.exitCode = Number(process.env["${name}"] ?? 0);
`;

describe("`npm run dev`", function () {
  this.timeout(60_000);
  let repository: Repository;
  beforeEach(() => {
    repository = new Repository();
    repository.put("packages/lab/cli/stackadm-lab.mjs", stub("LAB"));
    repository.put("automation/cli/stackadm.mjs", stub("STACKADM"));
  });
  afterEach(() => {
    repository.remove();
  });
  const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> => {
    const { root } = repository;
    return startLabAndRunUp(args, {
      root,
      env: { PATH: process.env["PATH"], CALLS: `${root}/calls`, ...env },
    });
  };
  const calls = (): string[] => repository.text("calls").trimEnd().split("\n");

  it("starts the lab, the toolchain and then `up` if no cloud is configured", async () => {
    assert.equal(await start(["--stack", "other"]), 0);
    assert.deepEqual(calls().slice(0, 2).sort(), ["LAB up", "STACKADM toolchain"]);
    assert.deepEqual(calls().slice(2), ["STACKADM up --stack other"]);
  });

  it("skips the lab if a cloud is configured, and returns the exit code of `up`", async () => {
    for (const name of ["OS_CLOUD", "OS_AUTH_URL"])
      assert.equal(await start([], { [name]: "cloud", STACKADM: "5" }), 5);
    assert.deepEqual(calls(), ["STACKADM up", "STACKADM up"]);
  });

  it("returns the lab's exit code if the lab fails", async () => {
    assert.equal(await start([], { LAB: "3" }), 3);
    assert.deepEqual(calls().sort(), ["LAB up", "STACKADM toolchain"]);
  });
});
