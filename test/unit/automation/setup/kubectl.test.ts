import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { checkKubectl } from "../../../../automation/setup/kubectl.js";

describe("checkKubectl", () => {
  let directory: string;
  let env: NodeJS.ProcessEnv;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "kubectl-"));
    mkdirSync(join(directory, "bin"));
    env = { PATH: join(directory, "bin") };
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });
  const kubectl = (script: string): void => {
    writeFileSync(join(directory, "bin", "kubectl"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  };
  const says = (gitVersion: string): void => {
    const answer = JSON.stringify({ clientVersion: { gitVersion } });
    kubectl(`[ "$*" = "version --client -o json" ] && echo '${answer}'`);
  };
  const install = "install one of 1.35 to 1.37 (https://kubernetes.io/docs/tasks/tools/)";

  for (const version of ["v1.35.9", "v1.36.0", "v1.37.0-rc.1"])
    it(`accepts version ${version} for a cluster of 1.36.3`, async () => {
      says(version);
      assert.deepEqual(await checkKubectl("1.36.3", { env }), { version });
    });

  for (const version of ["v1.34.9", "v1.32.4-dispatcher", "v1.38.0", "v2.36.0"])
    it(`reports version ${version} as too far from a cluster of 1.36.3`, async () => {
      says(version);
      assert.deepEqual(await checkKubectl("1.36.3", { env }), {
        version,
        advice: `kubectl of this machine is ${version}, too far from the cluster's 1.36.3: ${install}`,
      });
    });

  it("reports a missing kubectl and what to install", async () => {
    assert.deepEqual(await checkKubectl("1.36.3", { env }), {
      advice: `kubectl is not installed on this machine: ${install}`,
    });
  });

  const silent = { advice: `kubectl of this machine does not report its version: ${install}` };
  for (const script of ["exit 1", "echo not JSON", "echo '{}'"])
    it(`ignores a kubectl that fails: ${script}`, async () => {
      kubectl(script);
      assert.deepEqual(await checkKubectl("1.36.3", { env }), silent);
    });

  it("does not wait for kubectl without limit", async () => {
    kubectl("exec sleep 600");
    const path = [env["PATH"], process.env["PATH"]].join(delimiter);
    assert.deepEqual(await checkKubectl("1.36.3", { env: { PATH: path }, timeout: 200 }), silent);
  });
});
