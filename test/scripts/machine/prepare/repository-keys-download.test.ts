import assert from "node:assert/strict";
import { join } from "node:path";
import { preparationScripts } from "../../../../components/machine/preparation.js";
import { expiringKey, type ExpiringKey } from "../../../support/machine/expiring-key.js";
import { freshDebian, workerValues } from "../../../support/machine/fresh-debian.js";
import { Sandbox, type Outcome } from "../../../support/machine/sandbox.js";
import { WebServer } from "../../../support/web-server.js";
import { selfSigned } from "../../../../packages/toolchain/test/unit/stand-ins/kubernetes/support/certificate.js";

const keyring = "etc/apt/keyrings/stackadm.asc";
const release = (minor: string): string => `/v${minor}/deb/Release.key`;
const repository = (server: WebServer, minor: string): string => `${server.url()}/v${minor}/deb/`;
const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const index = `Origin: here\nDate: Tue, 02 Jan 2024 00:00:00 UTC\nSHA256:\n ${empty} 0 Packages\n`;

/** Uses the real curl, gpg and apt. */
describe("prepare.sh with a package repository", () => {
  let key: ExpiringKey;
  let machine: Sandbox;
  let server: WebServer;
  before(() => {
    key = expiringKey(index);
  });
  beforeEach(async () => {
    server = await WebServer.open();
    machine = new Sandbox(freshDebian);
    machine.stub("gpg", '/usr/bin/gpg "$@"');
    // Without this, curl waits between its retries.
    machine.stub("curl", '/usr/bin/curl "$@" --retry 0');
  });
  afterEach(async () => {
    machine.close();
    await server.close();
  });
  const run = (over: Record<string, string> = {}): Promise<Outcome> =>
    machine.runBeside(preparationScripts, {
      ...workerValues(),
      PACKAGES_URL: repository(server, "1.35"),
      PACKAGES_KEY_FINGERPRINT: key.fingerprint,
      ...over,
    });
  const reason = async (over: Record<string, string> = {}): Promise<string> => {
    const { code, stderr } = await run(over);
    assert.equal(code, 1, stderr);
    return (stderr.trimEnd().split("\n").at(-1) ?? "").replaceAll(server.url(), "SERVER");
  };
  const asked =
    "reason: kubernetes.packages.url: machine asked SERVER/v1.35/deb/Release.key for the key of SERVER/v1.35/deb/ and got";
  const otherwise = "write another address in kubernetes.packages.url";

  describe("that returns no key", () => {
    const page = "look at what answers there, which may be a page for signing in";
    const later =
      "run the same command again later, as that host limits what one address may fetch and machines behind one router share theirs";
    for (const [what, answer, got, todo] of [
      ["reports an HTML page", { body: "<!DOCTYPE html>\n<html>Sign in" }, "an HTML page", page],
      ["reports an empty answer", { body: "" }, "an empty answer", page],
      ["reports other text", { body: "hello" }, "no OpenPGP key", page],
      ["reports a refusal", { status: 403 }, "HTTP 403", "have it let these machines read"],
      [
        "reports a missing file",
        { status: 404 },
        "HTTP 404",
        "look whether that is published there",
      ],
      ["reports a rate limit", { status: 429 }, "HTTP 429", later],
      ["reports a server error", { status: 503 }, "HTTP 503", "run the same command again later"],
      [
        "reports a refusal of the proxy",
        { status: 407 },
        "HTTP 407",
        "correct user and password in network.proxy",
      ],
      [
        "reports a redirect loop",
        { status: 302, headers: { location: release("1.35") } },
        "more than 5 redirects",
        page,
      ],
    ] as const)
      it(what, async () => {
        server.answer(release("1.35"), answer);
        assert.equal(await reason(), `${asked} ${got}; ${todo}, or ${otherwise}`);
        assert.equal(machine.file(keyring), undefined);
      });

    it("reports the address of a redirect without login, query and fragment", async () => {
      server.redirect(release("1.35"), "/elsewhere?token=canary#canary");
      server.answer("/elsewhere", { status: 403 });
      const said = await reason({
        PACKAGES_URL: repository(server, "1.35").replace("//", "//me:canary@"),
      });
      assert.equal(
        said,
        `${asked} HTTP 403 from SERVER/elsewhere; have it let these machines read, or ${otherwise}`,
      );
    });

    it("reports a certificate that the machine does not trust", async () => {
      const secure = await WebServer.open(await selfSigned());
      try {
        assert.match(
          await reason({ PACKAGES_URL: repository(secure, "1.35") }),
          /and got a certificate that it does not trust \(.*self.signed certificate.*\); have the image trust the authority of what answers there, and look at the machine's clock, or write another address in/,
        );
      } finally {
        await secure.close();
      }
    });

    it("reports a server that does not answer and a host name that does not resolve", async () => {
      const gone = await WebServer.open();
      const address = gone.url();
      await gone.close();
      assert.match(
        await reason({ PACKAGES_URL: `${address}/` }),
        /and got no answer \(Failed to connect .*\); let the machine reach it, by a router, by security groups or by network\.proxy, or write/,
      );
      assert.match(
        await reason({ PACKAGES_URL: "http://nowhere.invalid/" }),
        /and got no answer \(Could not resolve host: nowhere\.invalid\); let the name servers of the machine know that host, or write/,
      );
    });
  });

  describe("that returns an expired key", () => {
    const newest = (): Record<string, string> => ({
      NEWEST_PACKAGES_URL: repository(server, "1.36"),
    });
    const expired = `reason: [INVALID_CONFIG] kubernetes.packages.url: the key @ of SERVER/v1.35/deb/ expired on 2024-01-31`;
    beforeEach(() => {
      server.answer(release("1.35"), key.expired);
    });
    const says = async (over: Record<string, string>, newer: string): Promise<void> => {
      const said = (await reason(over)).replace(key.fingerprint, "@");
      assert.ok(
        said.startsWith(`${expired}${newer}; ${otherwise} that has one, or look at the clock`),
        said,
      );
      assert.equal(machine.file(keyring), undefined);
    };

    it("uses the prolonged key of the newest minor's repository", async () => {
      server.answer(release("1.36"), key.prolonged);
      server.answer("/v1.35/deb/InRelease", key.signed);
      server.answer("/v1.35/deb/Packages", "");
      realApt();
      const done = await run(newest());
      assert.equal(done.code, 0, done.stderr);
      assert.match(done.stderr, /the key of \S+\/v1\.35\/deb\/ has expired there; taking/);
      assert.ok(server.asked.includes("GET /v1.35/deb/InRelease"), server.asked.join("\n"));
    });

    it("sends no request to the newest minor's repository while the key is valid", async () => {
      server.answer(release("1.35"), key.prolonged);
      assert.equal((await run(newest())).code, 0);
      assert.deepEqual(server.downloads, [`GET ${release("1.35")}`]);
    });

    it("fails if the newest minor's repository has no later copy of the key", async () => {
      const newer = ", and SERVER/v1.36/deb/Release.key has no later copy of it";
      await says(newest(), newer);
      server.answer(release("1.36"), key.expired);
      await says(newest(), newer);
      server.answer(release("1.36"), expiringKey("").prolonged);
      await says(newest(), newer);
      await says({ NEWEST_PACKAGES_URL: "" }, "");
    });
  });

  /** Replaces the stub by the real apt, limited to files of the sandbox. */
  function realApt(): void {
    const body = machine.bodyOf("apt-get");
    const at = (name: string, path: string): string => `-o ${name}=${join(machine.root, path)}`;
    const options = [
      at("Dir::Etc", "etc/apt"),
      at("Dir::State", "var/lib/apt"),
      at("Dir::Cache", "var/cache/apt"),
      "-o APT::Sandbox::User=root -o Acquire::Retries=0 -o Dir::Etc::trustedparts=-",
    ].join(" ");
    machine.put("var/lib/apt/lists/partial/none");
    machine.put("var/cache/apt/archives/partial/none");
    machine.stub(
      "apt-get",
      `case "$*" in *stackadm.list*) PATH=/usr/bin:/bin /usr/bin/apt-get "$@" ${options}; exit ;; esac\n${body}`,
    );
  }

  describe("that returns no package list", () => {
    const list = "/v1.35/deb/InRelease";
    beforeEach(() => {
      server.answer(release("1.35"), key.prolonged);
      realApt();
    });
    const cannot =
      "reason: kubernetes.packages.url: machine cannot list the packages of SERVER/v1.35/deb/: ";
    for (const [what, answer, said, todo] of [
      [
        "reports an HTML page",
        { body: "<!DOCTYPE html>" },
        /Failed to fetch SERVER\S+InRelease +Clearsigned file isn't valid, got 'NOSPLIT' .*/,
        "look at what answers there, which may be a page for signing in",
      ],
      [
        "reports a missing file",
        { status: 404 },
        /The repository .* \(404 +Not Found.*\)/,
        "look whether",
      ],
      ["reports a refusal", { status: 403 }, /Failed to fetch .* 403 +Forbidden .*/, "have it let"],
      [
        "reports a rate limit",
        { status: 429 },
        /Failed to fetch .* 429 +Too Many.*/,
        "run the same command",
      ],
      [
        "reports a redirect loop",
        { status: 302, headers: { location: list } },
        /The repository .* \(Redirection loop encountered.*\)/,
        "look at what answers there",
      ],
    ] as const)
      it(what, async () => {
        server.answer(list, answer);
        server.answer("/v1.35/deb/Release", answer);
        const text = await reason();
        assert.ok(text.startsWith(cannot), text);
        assert.match(text, new RegExp(`${said.source}; ${todo}.*, or ${otherwise}$`));
      });

    it("reports a list that another key signs", async () => {
      server.answer(list, expiringKey(index).signed);
      assert.match(
        await reason(),
        /The repository .* is not signed\. \(The following signatures .*NO_PUBKEY.*\); look at the key that signs it, or write/,
      );
    });
  });
});
