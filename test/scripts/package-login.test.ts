import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { prepareScripts } from "../../components/machine/preparation.js";
import { freshDebian, workerValues } from "../support/fresh-debian.js";
import { Sandbox, type Outcome } from "../support/sandbox.js";
import { WebServer } from "../support/web-server.js";

const fingerprint = "94D38D71174DE2B46EF4BB45EDCD78F39342DEBD";
const key = readFileSync(join(__dirname, "../fixtures/keys/two-keys.asc"));
const path = "/v1.36/deb/Release.key";
const list = "etc/apt/sources.list.d/stackadm.list";
const forApt = "etc/apt/auth.conf.d/90stackadm.conf";
/** As the address has it, and as the server has to get it. */
const [written, login] = ["jane:p%40ss%22%5Cx", 'jane:p@ss"\\x'];

/** With the real curl, gpg and apt. */
describe("a user and a password in kubernetes.packages.url", () => {
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
    const outcome = await machine.runBeside(prepareScripts, {
      ...{ ...workerValues(), PACKAGES_URL, PACKAGES_KEY_FINGERPRINT: fingerprint },
      NEWEST_PACKAGES_URL: "",
    });
    assert.equal(outcome.code, 0, outcome.stderr);
    return outcome;
  };

  it("reach the server, and stand in no argument, list or message", async () => {
    const { calls, stderr, stdout } = await prepare();
    assert.equal(repository.logins[repository.asked.indexOf(`GET ${path}`)], login);
    for (const text of [...calls, stderr, stdout, machine.file(list) ?? ""])
      assert.doesNotMatch(text, /jane|p%40ss|p@ss/);
    for (const file of [forApt, "var/lib/stackadm/packages-login"])
      assert.equal(statSync(join(machine.root, file)).mode & 0o777, 0o600, file);
  });

  it("are what apt sends to that repository, and to no other", async () => {
    await prepare();
    const folder = join(machine.root, "apt");
    mkdirSync(join(folder, "lists/partial"), { recursive: true });
    machine.put(
      "apt/list",
      `deb [trusted=yes] ${address("")} /\ndeb [trusted=yes] ${other.url()}/ /\n`,
    );
    const options = [
      `Dir::Etc::sourcelist=${folder}/list`,
      ...["Dir::Etc::sourceparts=-", `Dir::State::lists=${folder}/lists`, `Dir::Cache=${folder}`],
      `Dir::Etc::netrcparts=${join(machine.root, "etc/apt/auth.conf.d")}`,
      ...["APT::Sandbox::User=root", "Acquire::Retries=0"],
    ].flatMap((option) => ["-o", option]);
    // There are no lists, only the questions for them.
    await promisify(execFile)("apt-get", [...options, "update"]).catch(() => undefined);
    const logins = ({ asked, logins: all }: WebServer): Set<string | undefined> =>
      new Set(all.filter((_, index) => !(asked[index] ?? "").includes("Release.key")).slice(-3));
    assert.deepEqual(logins(repository), new Set([login]));
    assert.deepEqual(logins(other), new Set([""]));
  });

  it("are not sent to where a redirect leads", async () => {
    repository.redirect(path, `${other.url("localhost")}/Release.key`);
    other.answer("/Release.key", key);
    await prepare();
    assert.deepEqual(other.logins, [""]);
  });

  it("leave the list in which an earlier release wrote them, and the machine where the address has none", async () => {
    await prepare();
    machine.put(list, `deb [signed-by=/k.asc] ${address()} /\n`);
    await prepare();
    assert.doesNotMatch(machine.file(list) ?? "jane", /jane/);
    await prepare(address(""));
    assert.equal(machine.file(forApt), undefined);
    assert.equal(machine.file("var/lib/stackadm/packages-login"), undefined);
  });
});
