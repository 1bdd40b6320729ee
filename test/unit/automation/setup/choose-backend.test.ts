import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  chooseBackend,
  isDefaultBackend,
  listOtherBackends,
  renderBackendExport,
  renderBackendLine,
} from "../../../../automation/setup/choose-backend.js";
import { Failure } from "../../../../base/failures/failure.js";

describe("rule for the backend", () => {
  let root: string;
  const before = process.env["XDG_STATE_HOME"];
  const own = (folder = ""): string => `file://${join(root, "stackadm", folder, "pulumi")}`;
  /** Stores a login as `pulumi login` does. Without a text, there is no file. */
  const store = (text?: string, directory = root): void => {
    const file = join(directory, "credentials.json");
    rmSync(file, { force: true, recursive: true });
    if (text !== undefined) writeFileSync(file, text);
  };
  const logIn = (current: string): void => {
    store(JSON.stringify({ current, accessTokens: { [current]: "" } }));
  };
  const choose = (
    env: NodeJS.ProcessEnv = {},
    { project, onLab = false }: { readonly project?: string; readonly onLab?: boolean } = {},
  ) => chooseBackend({ env: { PULUMI_CREDENTIALS_PATH: root, ...env }, project, onLab });
  const refuses = (sentence: RegExp, hint: RegExp, env: NodeJS.ProcessEnv = {}): void => {
    assert.throws(
      () => choose(env),
      (error: unknown) => {
        assert.ok(error instanceof Failure, String(error));
        assert.equal(error.code, "INVALID_USAGE");
        assert.match(error.sentence, sentence);
        assert.match(error.hint, hint);
        return true;
      },
    );
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "rule-"));
    process.env["XDG_STATE_HOME"] = root;
  });
  afterEach(() => {
    if (before === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = before;
    rmSync(root, { recursive: true });
  });

  it("takes the environment, then the project, then the login, then stackadm's directory", () => {
    const env = { PULUMI_BACKEND_URL: "s3://a" };
    logIn("s3://c");
    const settings: readonly [NodeJS.ProcessEnv, string, string, string, string][] = [
      [env, "s3://b", "s3://a", "environment", "PULUMI_BACKEND_URL"],
      [env, "", "s3://a", "environment", "PULUMI_BACKEND_URL"],
      [{ PULUMI_BACKEND_URL: "" }, "s3://b", "s3://b", "project", "backend.url in Pulumi.yaml"],
      [{}, "s3://b", "s3://b", "project", "backend.url in Pulumi.yaml"],
      [{}, "", "s3://c", "login", "pulumi login"],
    ];
    for (const [variables, project, url, chosenBy, setting] of settings)
      for (const onLab of [false, true])
        assert.deepEqual(choose(variables, { project, onLab }), { url, chosenBy, setting });
    assert.ok(!existsSync(join(root, "stackadm")), "a directory was created needlessly");
    store();
    assert.deepEqual(choose(), {
      url: own(),
      chosenBy: "default",
      setting: "stackadm's directory",
    });
    assert.deepEqual(choose({}, { onLab: true }), {
      url: own("lab"),
      chosenBy: "default",
      setting: "the lab's directory",
    });
    assert.equal(statSync(join(root, "stackadm", "lab", "pulumi")).mode & 0o777, 0o700);
  });

  it("uses the directory of the lab that STACKADM_LAB_NAME names", () => {
    process.env["STACKADM_LAB_NAME"] = "two";
    try {
      assert.equal(choose({}, { onLab: true }).url, own("two"));
      assert.ok(isDefaultBackend(own("two")));
    } finally {
      Reflect.deleteProperty(process.env, "STACKADM_LAB_NAME");
    }
  });

  for (const [what, text] of [
    ["is missing", undefined],
    ["is empty", ""],
    ["has an empty `current`", '{ "current": "", "accessTokens": { "s3://a": "" } }'],
    ["has no `current`", '{ "accessTokens": { "s3://a": "" } }'],
  ] as const)
    it(`uses stackadm's directory if the file of \`pulumi login\` ${what}`, () => {
      store(text);
      assert.equal(choose().chosenBy, "default");
    });

  for (const [what, text] of [
    ["is cut off", '{ "current": "s3://'],
    ["is a list", "[]"],
    ["is null", "null"],
    ["has a number as `current`", '{ "current": 1 }'],
  ] as const)
    it(`refuses a file of \`pulumi login\` that ${what}, unless another setting decides`, () => {
      store(text);
      refuses(
        /^\S+\/credentials\.json is not the JSON object .* unknown\.$/,
        /set PULUMI_BACKEND_URL/,
      );
      refuses(/is not the JSON object/, /./, { PULUMI_ACCESS_TOKEN: "pul-0123456789" });
      assert.equal(choose({ PULUMI_BACKEND_URL: "s3://a" }).url, "s3://a");
      assert.equal(choose({}, { project: "s3://b" }).url, "s3://b");
    });

  it("refuses an encrypted file, and a file that cannot be read", () => {
    store('{ "$pulumiSecureStore": 1, "backend": "keychain", "data": "AAAA" }');
    refuses(/is encrypted, so the backend that `pulumi login` selected is unknown/, /PULUMI_BACK/);
    store();
    mkdirSync(join(root, "credentials.json"));
    refuses(/cannot be read \(EISDIR\)/, /Correct or delete the file/);
  });

  it("reads the login in PULUMI_CREDENTIALS_PATH, else in PULUMI_HOME", () => {
    const [home, other] = [join(root, "home"), join(root, "other")];
    for (const directory of [home, other]) mkdirSync(directory);
    store('{ "current": "s3://home" }', home);
    store('{ "current": "s3://other" }', other);
    const both = { PULUMI_HOME: home, PULUMI_CREDENTIALS_PATH: other };
    assert.equal(choose(both).url, "s3://other");
    assert.equal(choose({ ...both, PULUMI_CREDENTIALS_PATH: "" }).url, "s3://home");
  });

  it("takes each kind of backend from the login unchanged", () => {
    const directory = `file://${root}`;
    for (const url of [
      ...["https://api.pulumi.com", "http://pulumi.example:8080", "s3://b?region=c", "gs://d"],
      ...["azblob://e", "postgres://f:word@g/h", directory, `${directory}?metadata=skip`],
      ...["file://~", "file://~/?create_dir=true"],
    ]) {
      logIn(url);
      assert.deepEqual(choose(), { url, chosenBy: "login", setting: "pulumi login" });
    }
  });

  it("refuses a login that stackadm cannot use, and says how to end it", () => {
    const out =
      /Or select another backend with `pulumi login`; after `pulumi logout`, stackadm uses/;
    const wrong: readonly [string, RegExp][] = [
      ["file://.", /^pulumi login: 'file:\/\/\.' must name an absolute directory/],
      ["file:///nowhere/at/all", /^pulumi login: .* \/nowhere\/at\/all does not exist\.$/],
      ["mem://a", /^pulumi login: 'mem:\/\/a' is not the address of a backend\.$/],
      ["s3:///a", /^pulumi login: 's3:\/\/\/a' names no bucket, database or host\.$/],
    ];
    for (const [url, sentence] of wrong) {
      logIn(url);
      refuses(sentence, out);
    }
  });

  it("takes Pulumi Cloud if only an access token logs the user in", () => {
    const env = { PULUMI_ACCESS_TOKEN: "pul-0123456789" };
    const setting = "PULUMI_ACCESS_TOKEN";
    const url = "https://api.pulumi.com";
    assert.deepEqual(choose(env), { url, chosenBy: "login", setting });
    const service = "https://pulumi.example";
    assert.equal(choose({ ...env, PULUMI_API: service }).url, service);
    assert.equal(choose({ PULUMI_ACCESS_TOKEN: "", PULUMI_API: service }).chosenBy, "default");
    logIn("s3://a");
    assert.equal(choose(env).url, "s3://a");
  });

  it("names the variable or the file of a wrong URL", () => {
    assert.throws(
      () => choose({ PULUMI_BACKEND_URL: "stacks" }),
      /^Failure: PULUMI_BACKEND_URL: 'st/,
    );
    assert.throws(
      () => choose({}, { project: "stacks" }),
      /^Failure: Pulumi\.yaml: backend\.url: 'stacks' is/,
    );
  });

  it("lists the places that it did not choose, each once", () => {
    logIn("s3://c");
    const list = (chosen: string, project?: string, env: NodeJS.ProcessEnv = {}): string[] =>
      listOtherBackends(chosen, {
        env: { PULUMI_CREDENTIALS_PATH: root, ...env },
        project,
        onLab: false,
      });
    assert.deepEqual(list("s3://a", "s3://b"), ["s3://b", "s3://c", own()]);
    assert.deepEqual(list("s3://b", "s3://b"), ["s3://c", own()]);
    assert.deepEqual(list("s3://c", "s3://c"), [own()]);
    assert.deepEqual(list(`${own()}/?metadata=skip`), ["s3://c"]);
    logIn("file://.");
    assert.deepEqual(list("s3://a"), [own()]);
    store("{");
    assert.deepEqual(list("s3://a"), [own()]);
    assert.ok(!existsSync(join(root, "stackadm")), "a directory was created needlessly");
  });

  it("is described without passwords", () => {
    logIn("postgres://ann:secret-word@db.example/stacks");
    const choice = choose();
    assert.equal(
      renderBackendLine(choice),
      "State: postgres://ann@db.example/stacks (pulumi login)",
    );
    assert.equal(
      renderBackendExport(choice.url),
      "export PULUMI_BACKEND_URL='postgres://ann@db.example/stacks'",
    );
  });
});
