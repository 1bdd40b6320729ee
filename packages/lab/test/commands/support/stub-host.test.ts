import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { StubHost } from "../../../../../test/support/machine/stub-host.js";

describe("stub host of the lab's tests", () => {
  let host: StubHost;
  beforeEach(() => {
    host = new StubHost();
  });
  afterEach(() => {
    host.close();
  });

  it("replaces a real command by a stub only inside the host", () => {
    const bin = join(host.root, "bin");
    const links = readdirSync(bin).filter((name) => lstatSync(join(bin, name)).isSymbolicLink());
    assert.deepEqual(links, [], "a stub would be written through them");
    assert.equal(spawnSync("true").status, 0);
    host.stub("true", "exit 3");
    assert.equal(spawnSync("true").status, 3);
    assert.equal(spawnSync("/bin/true").status, 0);
  });

  it("has no other commands, and uses no directory of the real lab", () => {
    assert.ok(spawnSync("podman").error);
    assert.notEqual(host.settings.name, "stackadm-lab");
    for (const path of Object.values<string>({ ...host.paths })) {
      assert.ok(path.startsWith(`${host.root}/`), path);
    }
  });

  it("restores the environment", () => {
    const inside = process.env["PATH"];
    host.close();
    assert.notEqual(process.env["PATH"], inside);
    host = new StubHost();
  });
});
