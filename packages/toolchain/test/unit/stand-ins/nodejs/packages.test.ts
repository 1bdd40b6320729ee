import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  listDependencies,
  findPackageDirectory,
  getPackagePlugin,
  readPackageJson,
  listRequiredPlugins,
} from "../../../../stand-ins/nodejs/packages.js";

describe("packages of a Node program", () => {
  let root: string;
  const install = (path: string, manifest: object): void => {
    const directory = join(root, path);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "package.json"), JSON.stringify(manifest));
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "stackadm-packages-"));
    install(".", { name: "it", dependencies: { "@pulumi/a": "^1", plain: "^2", gone: "^3" } });
    install("node_modules/@pulumi/a", {
      name: "@pulumi/a",
      version: "1.2.3",
      pulumi: { resource: true, name: "alpha" },
    });
    install("node_modules/plain", { name: "plain", version: "2.0.0" });
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  it("include plugins in node_modules, nested ones and those in parent directories", () => {
    install("node_modules/plain/node_modules/b", {
      name: "b",
      version: "2.0.0",
      pulumi: { resource: true, server: "https://plugins.example.org" },
    });
    install("programs/one", { name: "one" });
    const expected = [
      { name: "alpha", version: "v1.2.3", server: undefined },
      { name: "b", version: "v2.0.0", server: "https://plugins.example.org" },
    ];
    assert.deepEqual(listRequiredPlugins(root), expected);
    assert.deepEqual(listRequiredPlugins(join(root, "programs/one")), expected);
  });

  it("are found once, even with circular links", () => {
    mkdirSync(join(root, "node_modules/plain/node_modules"));
    symlinkSync(
      join(root, "node_modules/plain"),
      join(root, "node_modules/plain/node_modules/self"),
    );
    symlinkSync(join(root, "node_modules/@pulumi/a"), join(root, "node_modules/again"));
    assert.deepEqual(
      listRequiredPlugins(root).map(({ name }) => name),
      ["alpha"],
    );
  });

  it("have name and version of the pulumi object, else of the package", () => {
    assert.equal(getPackagePlugin({ name: "x", version: "1.0.0" }), undefined);
    assert.equal(
      getPackagePlugin({ name: "x", version: "1.0.0", pulumi: { resource: false } }),
      undefined,
    );
    const server = undefined;
    const of = (manifest: Parameters<typeof getPackagePlugin>[0]): unknown =>
      getPackagePlugin(manifest);
    assert.deepEqual(of({ name: "@pulumi/x", version: "1.0.0", pulumi: { resource: true } }), {
      name: "x",
      version: "v1.0.0",
      server,
    });
    assert.deepEqual(of({ name: "@org/x", version: "v1.0.0", pulumi: { resource: true } }), {
      name: "org/x",
      version: "v1.0.0",
      server,
    });
    assert.equal(of({ name: "x", pulumi: { resource: true } }), undefined);
  });

  it("list direct dependencies with the installed versions", () => {
    assert.deepEqual(listDependencies(root, false), [
      { name: "@pulumi/a", version: "1.2.3" },
      { name: "plain", version: "2.0.0" },
      { name: "gone", version: "^3" },
    ]);
    const all = listDependencies(root, true).map(({ name }) => name);
    assert.deepEqual(all.sort(), ["@pulumi/a", "plain"]);
  });

  it("read an invalid package.json as none, but still return its directory", () => {
    mkdirSync(join(root, "src"));
    writeFileSync(join(root, "src", "package.json"), "not json");
    assert.equal(readPackageJson(join(root, "src")), undefined);
    assert.equal(findPackageDirectory(join(root, "src", "deeper")), join(root, "src"));
    assert.equal(findPackageDirectory(root), root);
  });
});
