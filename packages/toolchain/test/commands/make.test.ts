import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentProgress } from "../../../../base/progress.js";
import { LocalModule, withEnvironment } from "./support/local-module.js";
import { createBinDirectory } from "../../../../automation/toolchain/program-scripts.js";
import { renderForwardScript, makeWithGo, renderStandInScript } from "../../make.js";

describe("toolchain/make", () => {
  let cache: string;
  beforeEach(() => {
    cache = mkdtempSync(join(tmpdir(), "stackadm-make-"));
  });
  afterEach(() => {
    rmSync(cache, { recursive: true });
  });

  const source = (message: string) => {
    const directory = join(cache, "source");
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "go.mod"), "module hello\n\ngo 1.22\n");
    writeFileSync(
      join(directory, "main.go"),
      `package main\n\nvar version = "?"\n\nfunc main() { print("${message} " + version) }\n`,
    );
    return directory;
  };
  const build = (message: string) => ({
    name: "hello",
    version: "1.0.0",
    sources: [source(message)],
    package: ".",
    ldflags: "-X main.version=1.0.0",
    expectedSeconds: 1,
  });

  it("builds once, names the result by its content and leaves no partial folder", async function () {
    this.timeout(120_000);
    const first = await makeWithGo(build("one"), { cache, progress: silentProgress });
    const made = statSync(first).mtimeMs;
    assert.equal(await makeWithGo(build("one"), { cache, progress: silentProgress }), first);
    assert.equal(statSync(first).mtimeMs, made);
    const second = await makeWithGo(build("two"), { cache, progress: silentProgress });
    assert.notEqual(second, first);
    assert.deepEqual(
      readdirSync(cache).filter((entry) => /\.(part|modules)$/.test(entry)),
      [],
    );
    assert.match(execFileSync("sh", ["-c", `'${second}' 2>&1`]).toString(), /two 1\.0\.0/);
  });

  it("ignores the remains of an interrupted build", async function () {
    this.timeout(120_000);
    const done = await makeWithGo(build("one"), { cache, progress: silentProgress });
    const directory = join(done, "..");
    rmSync(directory, { recursive: true });
    mkdirSync(join(`${directory}.part`, "source"), { recursive: true });
    writeFileSync(join(`${directory}.part`, "hello"), "half");
    assert.equal(await makeWithGo(build("one"), { cache, progress: silentProgress }), done);
    assert.match(execFileSync("sh", ["-c", `'${done}' 2>&1`]).toString(), /one/);
  });

  it("builds the files of several directories together, without their subdirectories", async function () {
    this.timeout(120_000);
    const more = join(cache, "source", "more");
    const two = build("two");
    mkdirSync(more);
    writeFileSync(join(more, "more.go"), 'package main\n\nfunc init() { print("more ") }\n');
    const said = async (sources: readonly string[]): Promise<string> => {
      const made = await makeWithGo({ ...two, sources }, { cache, progress: silentProgress });
      return execFileSync("sh", ["-c", `'${made}' 2>&1`]).toString();
    };
    assert.equal(await said(two.sources), "two 1.0.0");
    assert.equal(await said([...two.sources, more]), "more two 1.0.0");
  });

  it("copies files of a required module next to the main package, which embeds the files", async function () {
    this.timeout(120_000);
    const module = new LocalModule(join(cache, "proxy"), { "texts/data.txt": "from the module" });
    const directory = join(cache, "embedding");
    mkdirSync(directory);
    writeFileSync(
      join(directory, "go.mod"),
      `module hello\n\ngo 1.22\n\nrequire ${module.name} ${module.version}\n`,
    );
    writeFileSync(join(directory, "go.sum"), module.sums(directory));
    const embed = 'import _ "embed"\n\n//go:embed data.txt\nvar data string';
    const main = `package main\n\n${embed}\n\nfunc main() { print(data) }\n`;
    writeFileSync(join(directory, "main.go"), main);
    const embedded = { module: module.name, files: ["texts/data.txt"] };
    const made = await withEnvironment(module.environment, () =>
      makeWithGo(
        { ...build("one"), sources: [directory], embedded },
        { cache, progress: silentProgress },
      ),
    );
    assert.equal(execFileSync("sh", ["-c", `'${made}' 2>&1`]).toString(), "from the module");
    assert.deepEqual(
      readdirSync(directory).sort(),
      ["go.mod", "go.sum", "main.go"],
      "the sources are left as they are",
    );
  });

  it("throws the compiler's output", async function () {
    this.timeout(120_000);
    const broken = build("one");
    writeFileSync(join(cache, "source", "main.go"), "package main\n\nfunc main() { nonsense() }\n");
    await assert.rejects(
      makeWithGo(broken, { cache, progress: silentProgress }),
      /undefined: nonsense/,
    );
  });

  it("names a bin directory by its content: the same scripts give the same directory", () => {
    const scripts = new Map([["tool", renderStandInScript("/opt/it's/main.js")]]);
    const directory = createBinDirectory(cache, scripts);
    assert.equal(createBinDirectory(cache, new Map(scripts)), directory);
    assert.notEqual(
      createBinDirectory(cache, new Map([["tool", renderForwardScript("/bin/true")]])),
      directory,
    );
    assert.equal(statSync(join(directory, "tool")).mode & 0o777, 0o755);
  });

  it("writes scripts that support quotes in paths and forward every argument", () => {
    const folder = join(cache, "it's here");
    mkdirSync(folder);
    const target = join(folder, "echo.sh");
    writeFileSync(target, '#!/bin/sh\nprintf "%s|" "$@"\n', { mode: 0o755 });
    const directory = createBinDirectory(cache, new Map([["tool", renderForwardScript(target)]]));
    assert.equal(execFileSync(join(directory, "tool"), ["a b", "c"]).toString(), "a b|c|");
    assert.match(readFileSync(join(directory, "tool"), "utf8"), /^#!\/bin\/sh\nexec /);
  });
});
