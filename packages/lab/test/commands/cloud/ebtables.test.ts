import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Stub of ebtables-nft: records its arguments and lists two rules. */
const stub = `#!/bin/sh
echo "$*" >>"$RECORD"
case " $* " in *" -L "*)
  echo 'Bridge table: nat'
  echo
  echo 'Bridge chain: neutronMAC-tap1, entries: 3, policy: DROP'
  echo '-i tap1 --among-src fa:16:3e:19:a3:1 -j RETURN '
  echo '-i tap1 --among-src fa:16:3e:19:a3:1,fa:16:3e:19:a3:2 -j RETURN '
  echo '-j DROP '
esac
`;

describe("lab/cloud/ebtables.sh", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "lab-ebtables-"));
    writeFileSync(join(folder, "ebtables-nft"), stub);
    chmodSync(join(folder, "ebtables-nft"), 0o755);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  /** Runs the wrapper and returns the arguments of each call of the real command. */
  function called(...words: string[]): string[] {
    const record = join(folder, "record");
    const result = spawnSync("packages/lab/cloud/ebtables.sh", words, {
      env: { ...process.env, RECORD: record, LAB_EBTABLES: join(folder, "ebtables-nft") },
      encoding: "utf8",
    });
    assert.equal(result.status, 0, result.stderr);
    return readFileSync(record, "utf8").trimEnd().split("\n");
  }

  const table = ["-t", "nat", "--concurrent"];
  const rule = (macs: string) => ["-i", "tap1", "--among-src", macs, "-j", "RETURN"];

  it("passes all other calls through unchanged", () => {
    assert.deepEqual(called(...table, "-A", "chain", ...rule("fa:16:3e:19:a3:01")), [
      "-t nat --concurrent -A chain -i tap1 --among-src fa:16:3e:19:a3:01 -j RETURN",
    ]);
    rmSync(join(folder, "record"));
    assert.deepEqual(called(...table, "-D", "PREROUTING", "-i", "tap1", "-j", "x"), [
      "-t nat --concurrent -D PREROUTING -i tap1 -j x",
    ]);
  });

  it("deletes a rule with addresses by its number", () => {
    const chain = "neutronMAC-tap1";
    const macs = "fa:16:3e:19:a3:1,fa:16:3e:19:a3:2";
    assert.deepEqual(called(...table, "-D", chain, ...rule(macs)), [
      "-t nat --concurrent -L neutronMAC-tap1",
      "-t nat --concurrent -D neutronMAC-tap1 2",
    ]);
  });

  it("treats the deletion of a missing rule as successful", () => {
    assert.deepEqual(called(...table, "-D", "neutronMAC-tap1", ...rule("fa:16:3e:0:0:9")), [
      "-t nat --concurrent -L neutronMAC-tap1",
    ]);
  });
});
