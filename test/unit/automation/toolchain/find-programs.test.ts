import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import {
  findExecutable,
  findEngine as find,
  findPlugin,
  getSearchPlaces,
} from "../../../../automation/toolchain/find-programs.js";
import { isAcceptableVersion, pluginVersions } from "../../../../base/versions/pulumi-versions.js";

describe("find-programs", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "stackadm-find-"));
  });
  afterEach(() => {
    rmSync(home, { recursive: true });
  });

  const script = (directory: string, name: string, body: string): string => {
    mkdirSync(directory, { recursive: true });
    const file = join(directory, name);
    writeFileSync(file, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    return file;
  };
  const where = (...path: string[]) =>
    getSearchPlaces(
      { PATH: path.join(delimiter), PULUMI_HOME: join(home, "pulumi") },
      join(home, "own"),
    );

  const findEngine = (places: ReturnType<typeof where>, wanted: string) =>
    find(places, wanted, join(home, "own", "engine-version.json"));

  for (const [found, wanted, answer] of [
    ["3.246.0", "3.246.0", true],
    ["v3.250.3", "3.246.0", true],
    ["3.246.0-dev.1", "3.246.0", true],
    ["3.245.9", "3.246.0", false],
    ["4.0.0", "3.246.0", false],
    ["1.2.0", "1.2.1", false],
    ["", "1.2.1", false],
    ["unknown", "1.2.1", false],
  ] as const) {
    it(`${answer ? "accepts" : "refuses"} ${JSON.stringify(found)} if ${wanted} is required`, () => {
      assert.equal(isAcceptableVersion(found, wanted), answer);
    });
  }

  it("leaves its own cache out of the search path", () => {
    const own = join(home, "own");
    script(join(own, "bin-1"), "pulumi", "echo v3.999.0");
    assert.equal(findExecutable("pulumi", where(join(own, "bin-1"))), undefined);
  });

  it("finds a sufficiently new engine on PATH", async () => {
    const file = script(join(home, "bin"), "pulumi", "echo v3.251.0");
    assert.deepEqual(await findEngine(where(join(home, "bin")), "3.246.0"), {
      version: "v3.251.0",
      path: file,
    });
  });

  it("requests a program's version once while the file is unchanged", async () => {
    const asked = join(home, "asked");
    const body = (version: string) =>
      `echo >>${asked}; echo v3.${version}; exit\n${"#".repeat(2 ** 20)}`;
    const look = () => findEngine(where(join(home, "bin")), "3.246.0");
    const times = () => readFileSync(asked, "utf8").length;
    const path = script(join(home, "bin"), "pulumi", body("251.0"));
    mkdirSync(join(home, "own"));
    const found = { version: "v3.251.0", path };
    assert.deepEqual([await look(), await look()], [found, found]);
    assert.equal(times(), 1);
    rmSync(path);
    script(join(home, "bin"), "pulumi", body("260.0"));
    assert.deepEqual(await look(), { version: "v3.260.0", path });
    assert.equal(times(), 2);
    writeFileSync(join(home, "own", "engine-version.json"), "half");
    assert.deepEqual(await look(), { version: "v3.260.0", path });
  });

  it("requests the version every time if the program may be a wrapper script", async () => {
    const version = join(home, "version");
    script(join(home, "bin"), "pulumi", `cat ${version}`);
    for (const found of ["v3.251.0", "v3.252.0"]) {
      writeFileSync(version, found);
      const engine = await findEngine(where(join(home, "bin")), "3.246.0");
      assert.ok("version" in engine);
      assert.equal(engine.version, found);
    }
  });

  it("finds an engine in the Pulumi home that is not on PATH", async () => {
    const file = script(join(home, "pulumi", "bin"), "pulumi", "echo v3.246.0");
    assert.deepEqual(await findEngine(where(), "3.246.0"), { version: "v3.246.0", path: file });
  });

  it("reports an engine that is too old", async () => {
    const file = script(join(home, "bin"), "pulumi", "echo v3.100.0");
    assert.deepEqual(await findEngine(where(join(home, "bin")), "3.246.0"), {
      refused: `${file} is v3.100.0, older than 3.246.0`,
    });
  });

  it("reports a missing engine", async () => {
    assert.deepEqual(await findEngine(where(), "3.246.0"), {
      refused: "there is no pulumi on PATH",
    });
  });

  it("prefers a plugin on PATH, as the engine does", () => {
    const file = script(join(home, "bin"), "pulumi-resource-command", "true");
    mkdirSync(join(home, "pulumi", "plugins", "resource-command-v1.2.1"), { recursive: true });
    assert.equal(findPlugin("command", where(join(home, "bin")), "1.2.1")?.path, file);
  });

  const install = (version: string): string =>
    script(
      join(home, "pulumi", "plugins", `resource-command-v${version}`),
      "pulumi-resource-command",
      "true",
    );

  it("accepts an installed plugin only in the version that the engine requires", () => {
    for (const version of ["1.1.0", "1.2.2", "1.3.0", "2.0.0"]) install(version);
    assert.equal(findPlugin("command", where(), "1.2.1"), undefined);
    const path = install("1.2.1");
    assert.deepEqual(findPlugin("command", where(), "1.2.1"), { version: "1.2.1", path });
    assert.equal(findPlugin("kubernetes", where(), "4.34.2"), undefined);
  });

  it("ignores a partially installed plugin", () => {
    install("1.2.1");
    writeFileSync(join(home, "pulumi", "plugins", "resource-command-v1.2.1.partial"), "");
    assert.equal(findPlugin("command", where(), "1.2.1"), undefined);
  });

  it("ignores a plugin that is only a directory", () => {
    mkdirSync(join(home, "pulumi", "plugins", "resource-command-v1.2.1"), { recursive: true });
    assert.equal(findPlugin("command", where(), "1.2.1"), undefined);
  });
});

describe("pluginVersions", () => {
  for (const [name, version] of Object.entries(pluginVersions)) {
    // The program asks for its own version (test/graph/pulumi/openstack-plugin.test.ts).
    if (name === "openstack") continue;
    it(`contains the plugin version that @pulumi/${name} requests from the engine`, () => {
      const file = require.resolve(`@pulumi/${name}/package.json`);
      const { pulumi, version: own } = JSON.parse(readFileSync(file, "utf8")) as {
        version: string;
        pulumi?: { version?: string };
      };
      assert.equal(version, (pulumi?.version ?? own).replace(/^v/, ""));
    });
  }
});
