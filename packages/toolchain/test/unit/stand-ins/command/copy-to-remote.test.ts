import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signatureKey, signatures } from "../../../../stand-ins/plugin/values.js";
import type { JsonObject } from "../../../../stand-ins/plugin/values.js";
import type { SshServer } from "../../../../../../test/engine/support/ssh-server.js";
import { Bench } from "./bench.js";
import { secret } from "./harness.js";

const type = "command:remote:CopyToRemote";

function text(content: string): JsonObject {
  return { [signatureKey]: signatures.asset, hash: `hash of ${content}`, text: content };
}
function file(path: string): JsonObject {
  return { [signatureKey]: signatures.asset, hash: "1", path };
}
function directory(path: string): JsonObject {
  return { [signatureKey]: signatures.archive, hash: "1", path };
}

describe("CopyToRemote", () => {
  let bench: Bench;
  let server: SshServer;
  let local: string;

  beforeEach(async () => {
    bench = await Bench.start();
    server = await bench.serve();
    local = mkdtempSync(join(tmpdir(), "stackadm-copy-"));
    mkdirSync(join(local, "tree", "inner"), { recursive: true });
    writeFileSync(join(local, "tree", "a"), "A");
    writeFileSync(join(local, "tree", "inner", "b"), "B");
  });
  afterEach(async () => {
    await bench.stop();
    rmSync(local, { recursive: true, force: true });
  });

  function copy(source: JsonObject, remotePath: string): Promise<unknown> {
    const connection = secret(bench.connection(server));
    return bench.harness.create({ type, news: { connection, source, remotePath } });
  }
  const remote = (path: string): string => readFileSync(join(server.files, path), "utf8");

  it("writes text and creates missing parent directories", async () => {
    await copy(text("hello"), "/etc/deep/greeting");
    assert.equal(remote("etc/deep/greeting"), "hello");
  });

  it("overwrites a longer file", async () => {
    await copy(text("a long text"), "/f");
    await copy(text("short"), "/f");
    assert.equal(remote("f"), "short");
  });

  it("puts a file, but not text, into an existing directory under the file's own name", async () => {
    mkdirSync(join(server.files, "d"));
    await copy(file(join(local, "tree", "a")), "/d");
    assert.equal(remote("d/a"), "A");
    await assert.rejects(copy(text("x"), "/d"), /is a directory/);
  });

  it("copies a directory into the target, or its content if the source ends in a slash", async () => {
    await copy(directory(join(local, "tree")), "/whole");
    await copy(directory(join(local, "tree") + "/"), "/content");
    assert.equal(remote("whole/tree/inner/b"), "B");
    assert.equal(remote("content/inner/b"), "B");
    assert.equal(existsSync(join(server.files, "content", "tree")), false);
  });

  it("copies an archive of assets", async () => {
    const assets = { "x/one": text("1"), two: file(join(local, "tree", "a")) };
    await copy({ [signatureKey]: signatures.archive, hash: "1", assets }, "/many");
    assert.deepEqual([remote("many/x/one"), remote("many/two")], ["1", "A"]);
  });

  it("refuses to replace a file by a directory, and a missing source", async () => {
    writeFileSync(join(server.files, "f"), "");
    await assert.rejects(copy(directory(join(local, "tree")), "/f"), /not a directory/);
    await assert.rejects(copy(file("/nonexistent"), "/x"), {
      message: "open /nonexistent: no such file or directory",
    });
  });

  it("copies again on update only if source or path changed", async () => {
    const connection = secret(bench.connection(server));
    const inputs = (content: string, more: JsonObject = {}): JsonObject => ({
      connection,
      source: text(content),
      remotePath: "/f",
      ...more,
    });
    const update = (news: JsonObject): Promise<unknown> =>
      bench.harness.update({ type, oldInputs: inputs("one"), olds: inputs("one"), news });
    await update(inputs("one", { triggers: ["changed"] }));
    assert.equal(server.logins, 0);
    await update(inputs("two"));
    assert.equal(remote("f"), "two");
  });

  it("does nothing in a preview and on delete", async () => {
    const connection = secret(bench.connection(server));
    const news = { connection, source: text("x"), remotePath: "/f" };
    await bench.harness.create({ type, news, preview: true });
    await bench.harness.delete({ type, olds: news });
    assert.equal(server.connections, 0);
  });
});
