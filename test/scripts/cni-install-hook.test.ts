import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  cniConfigDirectory,
  buildCniInstallHook,
} from "../../components/pod-network/cni-install-hook.js";

describe("the CNI install hook", () => {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-cni-"));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });
  const place = (): { from: string; to: string; script: string } => {
    const [from, to] = [join(directory, "draft"), join(directory, "net.d")];
    mkdirSync(to);
    const { postStart } = buildCniInstallHook({
      when: `grep -q range ${from}`,
      from,
      as: "10-x.conflist",
    });
    const script = postStart.exec.command[2] ?? "";
    return { from, to, script: script.replaceAll(cniConfigDirectory, to) };
  };
  const run = (script: string): Promise<number | null> =>
    new Promise((resolve) => {
      spawn("sh", ["-ec", script]).once("exit", resolve);
    });

  it("installs the CNI configuration only after the configuration is complete", async () => {
    const { from, to, script } = place();
    writeFileSync(from, "draft\n");
    const ended = run(script.replaceAll("sleep 0.2", "sleep 0.01"));
    writeFileSync(from, "draft\nrange\n");
    assert.equal(await ended, 0);
    assert.deepEqual(readdirSync(to), ["10-x.conflist"]);
    assert.equal(readFileSync(join(to, "10-x.conflist"), "utf8"), "draft\nrange\n");
  });

  it("fails if the configuration never becomes complete, so that kubelet restarts the container", async () => {
    const { from, to, script } = place();
    writeFileSync(from, "draft\n");
    assert.equal(await run(script.replaceAll("sleep 0.2", "true")), 1);
    assert.deepEqual(readdirSync(to), []);
  });
});
