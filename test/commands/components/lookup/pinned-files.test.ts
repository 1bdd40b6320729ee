import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { readPinnedFile } from "../../../../components/lookup/pinned-files.js";
import { digestOf } from "../../../support/manifests.js";

const text = "kind: ConfigMap # ä\n";
const sha256 = digestOf(text);
const other = digestOf("other");

/** Server in a separate process, because the reader blocks this one until it has the file. */
const serving = `
  const { createServer } = require("node:http");
  createServer((request, response) => {
    const isThere = ["/there", "http://files.example/there"].includes(request.url);
    response.writeHead(isThere ? 200 : 404);
    response.end(${JSON.stringify(text)});
  }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;

describe("readPinnedFile", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-pinned-"));
    writeFileSync(join(directory, "a.yaml"), text);
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it("resolves a relative path against the given directory", () => {
    assert.deepEqual(readPinnedFile({ source: "a.yaml", sha256 }, { directory }), { text });
    assert.deepEqual(readPinnedFile({ source: join(directory, "a.yaml"), sha256 }), { text });
  });

  it("resolves a relative path against the working directory by default", () => {
    const source = relative(process.cwd(), join(directory, "a.yaml"));
    assert.deepEqual(readPinnedFile({ source, sha256 }), { text });
  });

  it("refuses a file with another digest, and reports both digests", () => {
    const found = readPinnedFile({ source: "a.yaml", sha256: other }, { directory });
    assert.ok("problem" in found);
    assert.match(
      found.problem,
      new RegExp(`^a.yaml has the SHA-256 ${sha256}, not ${other}; check the changes`),
    );
  });

  it("reports which file cannot be read, and suggests a fix", () => {
    const found = readPinnedFile({ source: "b.yaml", sha256 }, { directory });
    assert.ok("problem" in found);
    assert.match(found.problem, /^b.yaml cannot be read: ENOENT.*; write an address or a path/);
  });

  describe("with a URL", () => {
    let server: ChildProcess;
    let origin: string;
    const cache = () => join(directory, "cache");
    const kept = () => join(cache(), sha256);
    beforeEach(async () => {
      server = spawn(process.execPath, ["-e", serving], { stdio: ["ignore", "pipe", "inherit"] });
      assert.ok(server.stdout);
      const [port] = (await once(server.stdout, "data")) as [Buffer];
      origin = `http://127.0.0.1:${port.toString().trim()}`;
    });
    afterEach(() => {
      server.kill();
    });

    it("fetches the file once, and caches it readable by the owner only", async () => {
      const pinned = { source: `${origin}/there`, sha256 };
      assert.deepEqual(readPinnedFile(pinned, { cache: cache() }), { text });
      assert.equal(statSync(kept()).mode & 0o777, 0o600);
      server.kill();
      await once(server, "exit");
      assert.deepEqual(readPinnedFile(pinned, { cache: cache() }), { text });
      writeFileSync(kept(), "damaged");
      assert.ok("problem" in readPinnedFile(pinned, { cache: cache() }));
    });

    it("caches no file with another digest", () => {
      const pinned = { source: `${origin}/there`, sha256: other };
      const found = readPinnedFile(pinned, { cache: cache() });
      assert.ok("problem" in found);
      assert.match(found.problem, /has the SHA-256/);
      assert.ok(!existsSync(cache()));
    });

    it("caches no file without a cache directory", () => {
      assert.deepEqual(readPinnedFile({ source: `${origin}/there`, sha256 }), { text });
      assert.ok(!existsSync(cache()));
    });

    it("fetches the file through the proxy, whose password is not an argument of a process", () => {
      const pinned = { source: "http://files.example/there", sha256 };
      const HTTP_PROXY = origin.replace("//", "//ann:secret@");
      assert.deepEqual(readPinnedFile(pinned, { proxies: { HTTP_PROXY } }), { text });
      const socks = readPinnedFile(pinned, { proxies: { HTTP_PROXY: "socks5://ann:secret@p" } });
      assert.ok("problem" in socks);
      assert.match(socks.problem, /HTTP_PROXY: 'socks5:\/\/ann@p' is not the address of a proxy/);
    });

    it("reports the server's HTTP status", () => {
      const found = readPinnedFile({ source: `${origin}/missing`, sha256 });
      assert.ok("problem" in found);
      assert.match(found.problem, /\/missing cannot be read: HTTP 404; write/);
    });
  });
});
