import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { preparationScripts } from "../../../../components/machine/preparation.js";
import { freshDebian, workerValues } from "../../../support/machine/fresh-debian.js";
import { Sandbox, type Outcome } from "../../../support/machine/sandbox.js";
import { WebServer } from "../../../support/web-server.js";

const fingerprint = "94D38D71174DE2B46EF4BB45EDCD78F39342DEBD";
const key = readFileSync(join(__dirname, "../../../fixtures/keys/two-keys.asc"));
const path = "/v1.36/deb/Release.key";
const list = "etc/apt/sources.list.d/stackadm.list";
/** Login in the URL, and decoded as the server must receive it. */
const [written, login] = ["jane:p%40ss%22%5Cx", 'jane:p@ss"\\x'];

/** Uses the real curl and gpg. */
describe("a login in kubernetes.packages.url", () => {
  let machine: Sandbox;
  let repository: WebServer;
  let other: WebServer;
  beforeEach(async () => {
    [repository, other] = [await WebServer.open(), await WebServer.open()];
    machine = new Sandbox(freshDebian);
    machine.stub("gpg", '/usr/bin/gpg "$@"');
    machine.stub("curl", '/usr/bin/curl "$@"');
    repository.answer(path, key);
  });
  afterEach(async () => {
    machine.close();
    await Promise.all([repository.close(), other.close()]);
  });
  const address = (user = `${written}@`): string =>
    `${repository.url().replace("//", `//${user}`)}/v1.36/deb/`;
  const prepare = async (PACKAGES_URL = address()): Promise<Outcome> => {
    const outcome = await machine.runBeside(preparationScripts, {
      ...workerValues(),
      PACKAGES_URL,
      PACKAGES_KEY_FINGERPRINT: fingerprint,
      NEWEST_PACKAGES_URL: "",
    });
    assert.equal(outcome.code, 0, outcome.stderr);
    return outcome;
  };
  const mode = (): number => statSync(join(machine.root, list)).mode & 0o777;

  it("reaches the server, and appears in no argument and no message", async () => {
    const { calls, stderr, stdout } = await prepare();
    assert.equal(repository.logins[repository.asked.indexOf(`GET ${path}`)], login);
    assert.ok(calls.some((call) => call.startsWith("curl ")));
    for (const text of [...calls, stderr, stdout]) assert.doesNotMatch(text, /jane|p%40ss|p@ss/);
  });

  it("is stored in a source list that only root can read", async () => {
    await prepare();
    assert.match(machine.file(list) ?? "", /jane/);
    assert.equal(mode(), 0o600);
  });

  it("is not sent to the target of a redirect", async () => {
    repository.redirect(path, `${other.url("localhost")}/Release.key`);
    other.answer("/Release.key", key);
    await prepare();
    assert.deepEqual(other.logins, [""]);
  });

  it("is optional, and a source list without login stays readable by all users", async () => {
    await prepare(address(""));
    assert.equal(mode(), 0o644);
  });
});
