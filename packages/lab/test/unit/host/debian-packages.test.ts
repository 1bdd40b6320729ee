import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { downloadDebianPackages } from "../../../host/debian-packages.js";

describe("downloadDebianPackages", () => {
  let folder: string;
  const path = process.env["PATH"];
  const put = (script: string) => {
    writeFileSync(join(folder, "apt-get"), `#!/bin/sh\necho "$*" >>${folder}/calls\n${script}\n`);
    chmodSync(join(folder, "apt-get"), 0o755);
  };
  const calls = () => readFileSync(join(folder, "calls"), "utf8").trimEnd().split("\n");
  const get = () =>
    downloadDebianPackages({
      folder: join(folder, "packages"),
      packages: ["one", "two"],
      mirrors: ["deb http://mirror.test/debian bookworm main"],
      step: { update: () => undefined },
    });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
    process.env["PATH"] = `${folder}:${path ?? ""}`;
  });
  afterEach(() => {
    process.env["PATH"] = path;
    rmSync(folder, { recursive: true });
  });

  it("downloads once, with sources, lists and packages separate from the host's", async () => {
    put('case "$*" in *download*) touch b.deb a.deb ;; esac');
    assert.deepEqual(
      (await get()).map((file) => basename(file)),
      ["a.deb", "b.deb"],
    );
    assert.equal((await get()).length, 2);
    const [update = "", download = "", ...more] = calls();
    assert.match(update, / update$/);
    assert.match(download, / download one two$/);
    assert.deepEqual(more, []);
    for (const call of [update, download])
      for (const option of ["etc::sourcelist=/", "etc::sourceparts=-", "State=/", "Cache=/"])
        assert.ok(call.toLowerCase().includes(`dir::${option.toLowerCase()}`), option);
  });

  it("keeps no file of a failed download", async () => {
    put('case "$*" in *download*) touch a.deb; echo "E: gone" >&2; exit 100 ;; esac');
    await assert.rejects(get, /E: gone/);
    assert.ok(!existsSync(join(folder, "packages")));
    put('case "$*" in *download*) touch a.deb ;; esac');
    assert.equal((await get()).length, 1);
  });
});
