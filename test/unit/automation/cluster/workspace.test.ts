import assert from "node:assert/strict";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import {
  prepareWorkspace,
  programModule,
  readStackFile,
  withSecretsProvider,
} from "../../../../automation/cluster/workspace.js";
import { packageRoot } from "../../../../base/paths.js";

const salt = "v1:abc:v1:def";

describe("the private directory of a stack", () => {
  let project: string;
  let state: string;
  const before = process.env["XDG_STATE_HOME"];
  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), "project-"));
    state = mkdtempSync(join(tmpdir(), "state-"));
    process.env["XDG_STATE_HOME"] = state;
    writeFileSync(
      join(project, "Pulumi.yaml"),
      "name: thing\nruntime: { name: nodejs, options: { typescript: false } }\nmain: index.ts\n",
    );
    writeFileSync(join(project, "Pulumi.dev.yaml"), "# kept\nconfig:\n  thing:a: 1\n");
  });
  afterEach(() => {
    if (before === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = before;
    rmSync(project, { recursive: true });
    rmSync(state, { recursive: true });
  });
  const prepare = (more: Readonly<Record<string, string>> = {}) =>
    prepareWorkspace({ stack: "dev", projectDirectory: project, backend: "file:///b", ...more });

  it("holds the project without its entry file, since the program runs inline", () => {
    const { directory, project: name } = prepare();
    assert.equal(name, "thing");
    assert.deepEqual(parse(readFileSync(join(directory, "Pulumi.yaml"), "utf8")), {
      name: "thing",
      runtime: "nodejs",
    });
  });

  it("holds a private copy of the stack's settings; the checkout is not touched", () => {
    const original = readFileSync(join(project, "Pulumi.dev.yaml"), "utf8");
    const { directory } = prepare();
    const copy = join(directory, "Pulumi.dev.yaml");
    assert.deepEqual(parse(readFileSync(copy, "utf8")), { config: { "thing:a": 1 } });
    assert.equal(statSync(copy).mode & 0o777, 0o600);
    assert.equal(readFileSync(join(project, "Pulumi.dev.yaml"), "utf8"), original);
  });

  it("keeps the salt that the engine wrote into the copy, and takes changed settings", () => {
    const { directory } = prepare();
    const copy = join(directory, "Pulumi.dev.yaml");
    writeFileSync(copy, `${readFileSync(copy, "utf8")}encryptionsalt: ${salt}\n`);
    writeFileSync(join(project, "Pulumi.dev.yaml"), "config:\n  thing:a: 2\n");
    prepare();
    assert.deepEqual(parse(readFileSync(copy, "utf8")), {
      config: { "thing:a": 2 },
      encryptionsalt: salt,
    });
  });

  it("is written whole, so that a stop in the middle loses no salt", () => {
    const copy = join(prepare().directory, "Pulumi.dev.yaml");
    const before = readFileSync(copy, "utf8");
    linkSync(copy, join(state, "before"));
    writeFileSync(join(project, "Pulumi.dev.yaml"), "config:\n  thing:a: 2\n");
    prepare();
    assert.equal(readFileSync(join(state, "before"), "utf8"), before);
  });

  it("is another one for another backend, project or stack", () => {
    const one = prepare().directory;
    assert.match(one, /\/work\/dev-[0-9a-f]{8}$/);
    for (const backend of ["file:///c", "file:///b-", "postgres://one@host/b"])
      assert.notEqual(prepare({ backend }).directory, one, backend);
    writeFileSync(join(project, "Pulumi.prod.yaml"), "config: {}\n");
    assert.notEqual(prepare({ stack: "prod" }).directory, one);
    assert.equal(prepare().directory, one);
    writeFileSync(join(project, "Pulumi.yaml"), "name: other\nruntime: nodejs\n");
    assert.notEqual(prepare().directory, one);
  });

  it("is the same for a backend that is written another way, or has another password", () => {
    const of = (backend: string) => prepare({ backend }).directory;
    assert.equal(of("file:///b?create_dir=true"), of("file:///b"));
    assert.equal(of("file:///b/"), of("file:///b"));
    assert.equal(of("postgres://me:one@host/b"), of("postgres://me:tw%40o@host/b"));
    assert.notEqual(of("postgres://me:one@host/b"), of("postgres://you:one@host/b"));
  });

  it("takes over the salt that an earlier release kept, for each project that shared its directory", () => {
    const earlier = join(state, "stackadm", "work", "file-b", "dev", "Pulumi.dev.yaml");
    mkdirSync(dirname(earlier), { recursive: true });
    writeFileSync(earlier, `config: {}\nencryptionsalt: ${salt}\n`);
    const saltOf = (directory: string): unknown =>
      (parse(readFileSync(join(directory, "Pulumi.dev.yaml"), "utf8")) as Record<string, unknown>)[
        "encryptionsalt"
      ];
    assert.equal(saltOf(prepare().directory), salt);
    writeFileSync(join(project, "Pulumi.yaml"), "name: other\nruntime: nodejs\n");
    assert.equal(saltOf(prepare().directory), salt);
    rmSync(earlier);
    assert.equal(saltOf(prepare().directory), salt);
    assert.equal(saltOf(prepare({ backend: "file:///c" }).directory), undefined);
  });

  it("takes settings given as text instead of the file's", () => {
    const { directory } = prepare({ stack: "given", settings: "config: { thing:b: 3 }\n" });
    const copy = readFileSync(join(directory, "Pulumi.given.yaml"), "utf8");
    assert.deepEqual(parse(copy), { config: { "thing:b": 3 } });
  });

  it("is refused for a stack without a file, in a sentence that says what to do", () => {
    assert.throws(() => prepare({ stack: "none" }), /There is no .*Pulumi\.none\.yaml/);
  });

  it("is refused for a name that would lead elsewhere", () => {
    for (const stack of ["../x", "a/b", "", "a b"])
      assert.throws(() => readStackFile(project, stack), /is not the name of a stack/, stack);
  });
});

describe("the settings of a stack", () => {
  it("keep a salt of their own", () => {
    const own = "encryptionsalt: own\n";
    assert.deepEqual(parse(withSecretsProvider(own, `encryptionsalt: ${salt}\n`)), {
      encryptionsalt: "own",
    });
  });

  it("keep another secrets provider of their own", () => {
    const text = withSecretsProvider("secretsprovider: gcpkms://x\n", `encryptionsalt: ${salt}\n`);
    assert.deepEqual(parse(text), { secretsprovider: "gcpkms://x" });
  });

  it("may be empty", () => {
    assert.deepEqual(parse(withSecretsProvider("", `encryptionsalt: ${salt}\n`)), {
      config: {},
      encryptionsalt: salt,
    });
    assert.deepEqual(parse(withSecretsProvider("", undefined)), { config: {} });
  });
});

describe("the package", () => {
  it("has its root where Pulumi.yaml lies, and the program beside it", () => {
    assert.ok(existsSync(join(packageRoot(), "Pulumi.yaml")));
    assert.equal(programModule(), join(packageRoot(), "index.ts"));
  });
});
