import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { silentProgress, type Progress } from "../../../../base/progress.js";
import { openstackPluginVersions } from "../../../../base/versions/pulumi-openstack-versions.js";
import { Failure } from "../../../../base/failures/failure.js";
import {
  ensureToolchain,
  type ToolchainOptions,
} from "../../../../automation/toolchain/toolchain.js";
import * as substitutes from "../../../../packages/toolchain/index.js";
import { engineVersion, pluginVersions } from "../../../../base/versions/pulumi-versions.js";
import { nonEmpty } from "../../../support/non-empty.js";

describe("ensureToolchain", () => {
  let folder: string;
  let cache: string;
  const path = process.env["PATH"];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-toolchain-"));
    cache = join(folder, "cache");
  });
  afterEach(() => {
    process.env["PATH"] = path;
    rmSync(folder, { recursive: true });
  });

  const tool = (directory: string, name: string, body = "exit 9"): string => {
    mkdirSync(join(folder, directory), { recursive: true });
    writeFileSync(join(folder, directory, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    return join(folder, directory, name);
  };
  const engine = (version: string) => tool("bin", "pulumi", `echo v${version}`);
  const plugins = Object.entries<string>(pluginVersions);
  const ensure = (
    progress: Progress = silentProgress,
    more: NodeJS.ProcessEnv = {},
    asked: Pick<ToolchainOptions, "openstackPlugin"> = {},
  ) =>
    ensureToolchain({
      progress,
      cache,
      substitutes,
      ...asked,
      env: { PATH: join(folder, "bin"), PULUMI_HOME: join(folder, "home"), ...more },
    });
  const install = () => {
    for (const [name, version] of plugins) {
      const file = `pulumi-resource-${name}`;
      tool(join("home/plugins", `resource-${name}-v${version}`), file);
    }
  };

  it("uses an installed Pulumi without building, downloading or changing PATH", async () => {
    engine(engineVersion);
    tool("bin", "pulumi-language-nodejs");
    install();
    const progress: Progress = {
      ...silentProgress,
      step: (title) => assert.fail(`${title} began`),
    };
    const { pieces, environment } = await ensure(progress);
    assert.deepEqual(
      pieces.map(({ name, origin }) => [name, origin]),
      [
        "pulumi",
        "pulumi-language-nodejs",
        "pulumi-resource-openstack",
        "pulumi-resource-kubernetes",
        "pulumi-resource-command",
      ].map((name) => [name, "found"]),
    );
    assert.deepEqual(environment, {
      PATH: join(folder, "bin"),
      PULUMI_SKIP_UPDATE_CHECK: "true",
    });
    assert.deepEqual(readdirSync(cache), [], "no lock is left");
  });

  it("adds a Pulumi home's tools to PATH, after the user's", async () => {
    engine(engineVersion);
    tool("home/bin", "pulumi-language-nodejs");
    install();
    const { environment } = await ensure();
    assert.equal(
      environment["PATH"],
      [join(folder, "bin"), join(folder, "home/bin")].join(delimiter),
    );
  });

  it("finds the language host next to the target of a link on PATH", async () => {
    const real = tool("opt", "pulumi", `echo v${engineVersion}`);
    const host = tool("opt", "pulumi-language-nodejs");
    mkdirSync(join(folder, "bin"));
    symlinkSync(real, join(folder, "bin", "pulumi"));
    install();
    const { pieces } = await ensure();
    assert.deepEqual([pieces[1]?.origin, pieces[1]?.path], ["found", host]);
    const onPath = tool("bin", "pulumi-language-nodejs");
    const [, found] = (await ensure()).pieces;
    assert.equal(found?.path, onPath, "the engine prefers the one on PATH");
  });

  it("reports version, path and reason of every program", async () => {
    const file = engine(engineVersion);
    tool("bin", "pulumi-language-nodejs");
    install();
    const { pieces } = await ensure();
    assert.equal(pieces[0]?.path, file);
    for (const { name, version, path: place, why } of pieces) {
      assert.ok(existsSync(place), `${name}: ${place}`);
      assert.ok(version !== "" && why !== "", name);
    }
  });

  /** Requires the error TOOL_MISSING before any step begins. */
  const refused = (said: RegExp): Promise<void> =>
    assert.rejects(
      ensure({ ...silentProgress, step: (title) => assert.fail(`${title} began`) }),
      (error) => {
        assert.ok(error instanceof Failure);
        assert.deepEqual([error.code, error.exitCode], ["TOOL_MISSING", 1]);
        assert.match(error.sentence, said);
        assert.match(error.hint, /^Install Pulumi \(https:.*set STACKADM_STAND_INS=1/);
        return true;
      },
    );

  it("names the Pulumi version to install before building anything if Pulumi is missing or too old", async () => {
    await refused(/^Pulumi 3\.246\.0 or newer is needed: there is no pulumi on PATH\.$/);
    engine("3.1.0");
    await refused(/^Pulumi 3\.246\.0 or newer is needed: \S+pulumi is v3\.1\.0, older than 3\./);
    assert.deepEqual(readdirSync(cache), []);
  });

  it("reports a missing Go if the toolchain must be built", async () => {
    process.env["PATH"] = join(folder, "bin");
    await assert.rejects(ensure(silentProgress, { STACKADM_STAND_INS: "1" }), (error: unknown) => {
      assert.ok(error instanceof Failure);
      assert.match(error.message, /^pulumi 3\.246\.0 is not installed, and there is no Go/);
      assert.match(error.hint, /Install Pulumi .* or Go/);
      return true;
    });
    assert.ok(!existsSync(join(cache, "lock")));
    assert.ok(readdirSync(cache).every((name) => name.endsWith(".part")));
  });

  it("uses a stand-in only on request", async () => {
    engine(engineVersion);
    install();
    await refused(
      /^The official pulumi-language-nodejs .* is not installed: it is neither on PATH nor next to /,
    );
    const told = await ensure(silentProgress, { STACKADM_STAND_INS: "1" }).then(
      ({ pieces }) => pieces[1]?.origin,
      (error: unknown) => (error as Error).message,
    );
    // A checkout that was never built has no compiled stand-in.
    assert.match(told ?? "", /^stand-in$|the stand-in for .* is not compiled/);
  });

  it("uses the requested version of the OpenStack plugin", async () => {
    engine(engineVersion);
    tool("bin", "pulumi-language-nodejs");
    install();
    for (const openstackPlugin of nonEmpty(openstackPluginVersions)) {
      const directory = `home/plugins/resource-openstack-v${openstackPlugin}`;
      const file = tool(directory, "pulumi-resource-openstack");
      const { pieces } = await ensure(silentProgress, {}, { openstackPlugin });
      const { path, version } = pieces[2] ?? {};
      assert.deepEqual({ path, version }, { path: file, version: openstackPlugin });
    }
  });

  it("lets a second concurrent call wait for the first and return the same result", async () => {
    engine(engineVersion);
    tool("bin", "pulumi-language-nodejs");
    install();
    const notes: string[] = [];
    const progress: Progress = { ...silentProgress, note: (text) => void notes.push(text) };
    const [one, other] = await Promise.all([ensure(progress), ensure(progress)]);
    assert.deepEqual(one, other);
    assert.ok(notes.every((note) => /^Waiting for process \d+, which prepares/.test(note)));
  });
});
