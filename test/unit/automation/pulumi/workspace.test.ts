import assert from "node:assert/strict";
import { createHash } from "node:crypto";
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
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parse } from "yaml";
import {
  prepareWorkDirectory,
  findProgramModulePath,
  findSecretsProvider,
  copySecretsProvider,
  withStackSettings,
} from "../../../../automation/pulumi/workspace.js";
import { getPackageRoot } from "../../../../base/paths.js";

const salt = "v1:abc:v1:def";

describe("workspace of a stack", () => {
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
    prepareWorkDirectory({
      stack: "dev",
      projectDirectory: project,
      backend: "file:///b",
      ...more,
    });

  const begin = (
    more: Readonly<Record<string, string>> = {},
    work: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<unknown> =>
    withStackSettings(
      { stack: "dev", projectDirectory: project, backend: "file:///b", ...more },
      undefined,
      work,
    );

  it("contains the project without its entry file, because the program runs inline", () => {
    const { directory, project: name } = prepare();
    assert.equal(name, "thing");
    assert.deepEqual(parse(readFileSync(join(directory, "Pulumi.yaml"), "utf8")), {
      name: "thing",
      runtime: "nodejs",
    });
  });

  it("contains a private copy of the stack's settings and leaves the checkout unchanged", () => {
    const original = readFileSync(join(project, "Pulumi.dev.yaml"), "utf8");
    const { directory } = prepare();
    const copy = join(directory, "Pulumi.dev.yaml");
    assert.deepEqual(parse(readFileSync(copy, "utf8")), { config: { "thing:a": 1 } });
    assert.equal(statSync(copy).mode & 0o777, 0o600);
    assert.equal(readFileSync(join(project, "Pulumi.dev.yaml"), "utf8"), original);
  });

  it("keeps the salt that the engine wrote, and takes changed settings", async () => {
    const { directory } = prepare();
    const copy = join(directory, "Pulumi.dev.yaml");
    writeFileSync(copy, `${readFileSync(copy, "utf8")}encryptionsalt: ${salt}\n`);
    writeFileSync(join(project, "Pulumi.dev.yaml"), "config:\n  thing:a: 2\n");
    await begin();
    assert.deepEqual(parse(readFileSync(copy, "utf8")), {
      config: { "thing:a": 2 },
      encryptionsalt: salt,
    });
  });

  it("keeps the copy until an engine starts, because another engine may be about to read it", () => {
    const { directory } = prepare();
    const copy = join(directory, "Pulumi.dev.yaml");
    const before = readFileSync(copy, "utf8");
    prepare({ settings: "config: { thing:a: 2 }\n" });
    assert.equal(readFileSync(copy, "utf8"), before);
  });

  it("gives each concurrent engine its own settings until the engine has read the settings", async () => {
    const copy = join(prepare().directory, "Pulumi.dev.yaml");
    const of = async (number: number): Promise<void> => {
      const settings = `config:\n  thing:a: ${number}\n`;
      await begin({ settings }, async () => {
        for (let look = 0; look < 3; look += 1) {
          assert.equal(readFileSync(copy, "utf8"), settings);
          await pause(5);
        }
      });
    };
    await Promise.all([1, 2, 3].map(of));
  });

  it("goes to the next engine if one fails to start", async () => {
    await assert.rejects(
      begin({}, () => Promise.reject(new Error("no"))),
      /no/,
    );
    await begin();
  });

  it("is written atomically, so that an interruption loses no salt", async () => {
    const copy = join(prepare().directory, "Pulumi.dev.yaml");
    const before = readFileSync(copy, "utf8");
    linkSync(copy, join(state, "before"));
    writeFileSync(join(project, "Pulumi.dev.yaml"), "config:\n  thing:a: 2\n");
    await begin();
    assert.equal(readFileSync(join(state, "before"), "utf8"), before);
  });

  it("differs for another backend, project or stack", () => {
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

  it("is the same for another spelling or another password of the backend", () => {
    const of = (backend: string) => prepare({ backend }).directory;
    assert.equal(of("file:///b?create_dir=true"), of("file:///b"));
    assert.equal(of("file:///b/"), of("file:///b"));
    assert.equal(of("postgres://me:one@host/b"), of("postgres://me:tw%40o@host/b"));
    assert.notEqual(of("postgres://me:one@host/b"), of("postgres://you:one@host/b"));
    const socket = "postgres:///b?host=/run&user=me&password=";
    assert.equal(of(`${socket}one`), of(`${socket}two`));
  });

  it("has the same name in each release, because it contains files of the cluster", () => {
    const { project: name, directory } = prepare({ backend: "file:///srv/stacks" });
    const hash = createHash("sha256").update(`/srv/stacks\n${name}`).digest("hex");
    assert.equal(basename(directory), `dev-${hash.slice(0, 8)}`);
  });

  it("uses settings that the caller passes as text instead of the file's", () => {
    const { directory } = prepare({ stack: "given", settings: "config: { thing:b: 3 }\n" });
    const copy = readFileSync(join(directory, "Pulumi.given.yaml"), "utf8");
    assert.deepEqual(parse(copy), { config: { "thing:b": 3 } });
  });

  it("requires the stack's file, and the error explains what to do", () => {
    assert.throws(() => prepare({ stack: "none" }), /There is no .*Pulumi\.none\.yaml/);
  });

  it("has absolute paths in settings of OpenStack's provider, which runs in another directory", async () => {
    const pem = '"-----BEGIN CERTIFICATE-----"';
    const paths = "openstack:cacertFile: certs/ca.pem, openstack:key: ~/key.pem";
    const settings = `config: { ${paths}, openstack:cert: ${pem}, thing:cacertFile: a.pem }\n`;
    const { directory } = prepare({ settings });
    const copy = (): unknown => parse(readFileSync(join(directory, "Pulumi.dev.yaml"), "utf8"));
    const expected = {
      config: {
        "openstack:cacertFile": join(project, "certs", "ca.pem"),
        "openstack:key": "~/key.pem",
        "openstack:cert": "-----BEGIN CERTIFICATE-----",
        "thing:cacertFile": "a.pem",
      },
    };
    assert.deepEqual(copy(), expected);
    await begin({ settings });
    assert.deepEqual(copy(), expected);
  });

  it("refuses a stack name that is a path", () => {
    for (const stack of ["../x", "a/b", "", "a b"])
      assert.throws(
        () => prepare({ stack, settings: "config: {}\n" }),
        /is not the name of a stack/,
        stack,
      );
  });

  it("copies the settings of another directory, and the copy names no directory", () => {
    mkdirSync(join(project, "stacks"));
    writeFileSync(join(project, "stacks", "Pulumi.dev.yaml"), "config: { thing:a: 7 }\n");
    for (const key of ["stackConfigDir", "config"]) {
      writeFileSync(join(project, "Pulumi.yaml"), `name: thing\nruntime: nodejs\n${key}: stacks\n`);
      const { directory } = prepare({ backend: `file:///${key}` });
      assert.deepEqual(parse(readFileSync(join(directory, "Pulumi.yaml"), "utf8")), {
        name: "thing",
        runtime: "nodejs",
      });
      assert.deepEqual(parse(readFileSync(join(directory, "Pulumi.dev.yaml"), "utf8")), {
        config: { "thing:a": 7 },
      });
    }
  });
});

describe("copySecretsProvider", () => {
  it("keeps the stack's own salt", () => {
    const own = "encryptionsalt: own\n";
    assert.deepEqual(parse(copySecretsProvider(own, `encryptionsalt: ${salt}\n`)), {
      encryptionsalt: "own",
    });
  });

  it("keeps the stack's own secrets provider", () => {
    const text = copySecretsProvider("secretsprovider: gcpkms://x\n", `encryptionsalt: ${salt}\n`);
    assert.deepEqual(parse(text), { secretsprovider: "gcpkms://x" });
  });

  it("keeps the key that Pulumi created for the secrets provider of the settings", () => {
    const provider = "secretsprovider: gcpkms://x\n";
    const text = copySecretsProvider(provider, `${provider}encryptedkey: abc\n`);
    assert.deepEqual(parse(text), { secretsprovider: "gcpkms://x", encryptedkey: "abc" });
    const changed = copySecretsProvider("secretsprovider: gcpkms://y\n", text);
    assert.deepEqual(parse(changed), { secretsprovider: "gcpkms://y" });
  });

  it("keeps the salt if the settings name the passphrase as secrets provider", () => {
    const text = copySecretsProvider("secretsprovider: passphrase\n", `encryptionsalt: ${salt}\n`);
    assert.deepEqual(parse(text), { secretsprovider: "passphrase", encryptionsalt: salt });
  });

  it("accepts empty settings", () => {
    assert.deepEqual(parse(copySecretsProvider("", `encryptionsalt: ${salt}\n`)), {
      config: {},
      encryptionsalt: salt,
    });
    assert.deepEqual(parse(copySecretsProvider("", undefined)), { config: {} });
  });
});

describe("findSecretsProvider", () => {
  it("returns the key service of the settings", () => {
    assert.equal(
      findSecretsProvider("secretsprovider: awskms://x\nencryptedkey: k\n"),
      "awskms://x",
    );
  });

  it("returns the passphrase only until the settings have its salt", () => {
    assert.equal(findSecretsProvider("secretsprovider: passphrase\n"), "passphrase");
    assert.equal(
      findSecretsProvider(`secretsprovider: passphrase\nencryptionsalt: ${salt}\n`),
      undefined,
    );
  });

  it("returns nothing for settings without a secrets provider", () => {
    assert.deepEqual(
      [findSecretsProvider("config: {}\n"), findSecretsProvider("")],
      [undefined, undefined],
    );
  });
});

describe("package", () => {
  it("has Pulumi.yaml and the program at its root", () => {
    assert.ok(existsSync(join(getPackageRoot(), "Pulumi.yaml")));
    assert.equal(findProgramModulePath(), join(getPackageRoot(), "index.ts"));
  });
});
