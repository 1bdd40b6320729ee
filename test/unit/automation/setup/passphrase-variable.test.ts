import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { preparePassphraseEnvironment } from "../../../../automation/setup/passphrase-variable.js";
import { Failure } from "../../../../base/failures/failure.js";

describe("preparePassphraseEnvironment", () => {
  let state: string;
  let notes: string[];
  const before = process.env["XDG_STATE_HOME"];
  beforeEach(() => {
    state = mkdtempSync(join(tmpdir(), "state-"));
    process.env["XDG_STATE_HOME"] = state;
    notes = [];
    places = [];
  });
  afterEach(() => {
    if (before === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = before;
    rmSync(state, { recursive: true });
  });
  const own = (): string => join(state, "stackadm", "passphrase");
  const local = (): string => pathToFileURL(join(state, "stackadm", "pulumi")).href;
  let places: string[] = [];
  const ask = (backend: string, env: NodeJS.ProcessEnv = {}, needed: boolean | "optional" = true) =>
    preparePassphraseEnvironment(env, {
      backend,
      needed,
      note: (text) => void notes.push(text),
      listPlaces: () => places,
    });
  const shared = [
    "file:///srv/stacks",
    "s3://bucket",
    "gs://b",
    "azblob://c",
    "postgres://me:SECRET@db.example/stacks",
  ];

  it("creates a passphrase once for stackadm's own directory and prints one note to keep a copy", () => {
    const variables = { PULUMI_CONFIG_PASSPHRASE_FILE: own() };
    assert.deepEqual(ask(local()), variables);
    assert.equal(notes.length, 1);
    assert.ok(notes[0]?.startsWith(`Created ${own()} with `));
    assert.match(notes[0] ?? "", /Keep a copy/);
    assert.deepEqual(ask(local()), variables);
    assert.equal(notes.length, 1);
  });

  for (const backend of shared)
    it(`requires the user's passphrase for a backend of the user: ${backend.split("://")[0]}`, () => {
      assert.throws(
        () => ask(backend),
        (error: unknown) => {
          assert.ok(error instanceof Failure);
          assert.deepEqual([error.code, error.exitCode], ["INVALID_USAGE", 2]);
          assert.match(error.sentence, /^No passphrase is set for the secrets of the stacks at \S/);
          assert.match(error.hint, /^Set PULUMI_CONFIG_PASSPHRASE_FILE to a file .* openssl rand/);
          assert.doesNotMatch(error.sentence, /SECRET/);
          return true;
        },
      );
      assert.ok(!existsSync(own()));
      assert.deepEqual(notes, []);
    });

  it("prints a note instead of failing if the passphrase is optional and the backend is shared", () => {
    for (const backend of shared) {
      notes = [];
      assert.deepEqual(ask(backend, {}, "optional"), {});
      assert.equal(notes.length, 1);
      assert.match(
        notes[0] ?? "",
        /^No passphrase is set for the secrets of the stacks at \S+, so .* PULUMI_CONFIG_PASSPHRASE_FILE/,
      );
      assert.doesNotMatch(notes[0] ?? "", /SECRET/);
    }
    assert.ok(!existsSync(own()));
    assert.deepEqual(ask(local(), {}, "optional"), { PULUMI_CONFIG_PASSPHRASE_FILE: own() });
  });

  it("does not use the passphrase of this machine with a shared backend, and names its file", () => {
    ask(local());
    for (const backend of shared) {
      assert.throws(
        () => ask(backend),
        (error: unknown) => error instanceof Failure && error.hint.includes(` ${own()}. `),
      );
      assert.deepEqual(ask(backend, {}, "optional"), {});
    }
  });

  it("uses the passphrase of this machine for the lab's directory, in each spelling", () => {
    const lab = pathToFileURL(join(state, "stackadm", "lab", "pulumi")).href;
    for (const backend of [local(), lab, `${lab}/?metadata=skip`])
      assert.deepEqual(ask(backend), { PULUMI_CONFIG_PASSPHRASE_FILE: own() });
  });

  it("names another backend that has the stack, and the command that selects it", () => {
    places = [local(), "s3://others"];
    for (const backend of shared)
      assert.throws(
        () => ask(backend),
        (error: unknown) =>
          error instanceof Failure &&
          error.hint.startsWith(
            `A stack with this name is in ${local()}; to use that stack, run \`export PULUMI_BACKEND_URL='${local()}'\`. Otherwise: Set PULUMI_CONFIG`,
          ),
      );
  });

  it("keeps the user's variable, even if empty", () => {
    const file = join(state, "mine");
    writeFileSync(file, "words");
    for (const env of [{ PULUMI_CONFIG_PASSPHRASE: "" }, { PULUMI_CONFIG_PASSPHRASE_FILE: file }])
      for (const backend of [local(), ...shared]) assert.deepEqual(ask(backend, env), {});
    assert.ok(!existsSync(own()));
  });

  it("requires no passphrase if Pulumi Cloud or another provider keeps the secrets", () => {
    assert.deepEqual(ask("https://api.pulumi.com"), {});
    for (const backend of [local(), ...shared]) assert.deepEqual(ask(backend, {}, false), {});
    assert.deepEqual([existsSync(own()), notes], [false, []]);
  });
});
