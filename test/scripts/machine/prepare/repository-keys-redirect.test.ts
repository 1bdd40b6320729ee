import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { preparationScripts } from "../../../../components/machine/preparation.js";
import { selfSigned } from "../../../../packages/toolchain/test/unit/stand-ins/kubernetes/support/certificate.js";
import { freshDebian, workerValues } from "../../../support/machine/fresh-debian.js";
import { Sandbox, type Outcome } from "../../../support/machine/sandbox.js";
import { WebServer } from "../../../support/web-server.js";

const fingerprint = "94D38D71174DE2B46EF4BB45EDCD78F39342DEBD";
const key = readFileSync(join(__dirname, "../../../fixtures/keys/two-keys.asc"));
const keyring = "etc/apt/keyrings/stackadm.asc";
const path = "/v1.36/deb/Release.key";
const elsewhere = "/packages/core/Release.key";

/** Uses the real curl and gpg. */
describe("a redirect of a repository key's address", () => {
  let machine: Sandbox;
  let plain: WebServer;
  let other: WebServer;
  let secure: WebServer;
  let proxies: { readonly http: WebServer; readonly https: WebServer };
  const servers = (): WebServer[] => [plain, other, secure, proxies.http, proxies.https];
  beforeEach(async () => {
    const certified = await selfSigned();
    plain = await WebServer.open();
    other = await WebServer.open();
    secure = await WebServer.open(certified);
    proxies = { http: await WebServer.open(), https: await WebServer.open() };
    machine = new Sandbox(freshDebian);
    machine.put("authority.pem", certified.cert);
    machine.stub("gpg", '/usr/bin/gpg "$@"');
    machine.stub("curl", '/usr/bin/curl --cacert $root/authority.pem "$@"');
  });
  afterEach(async () => {
    machine.close();
    await Promise.all(servers().map((server) => server.close()));
  });
  const prepare = (repository: WebServer, over: Record<string, string> = {}): Promise<Outcome> =>
    machine.runBeside(preparationScripts, {
      ...workerValues(),
      PACKAGES_URL: `${repository.url()}/v1.36/deb/`,
      PACKAGES_KEY_FINGERPRINT: fingerprint,
      ...over,
    });
  const trusts = ({ code, stderr }: Outcome): void => {
    assert.equal(code, 0, stderr);
    assert.match(machine.file(keyring) ?? "", /BEGIN PGP PUBLIC KEY BLOCK/);
  };
  const refuses = ({ code, stderr }: Outcome): void => {
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^reason: kubernetes\.packages\.url: machine /m);
    assert.equal(machine.file(keyring), undefined);
  };

  it("is followed to another host, as the default repository requires", async () => {
    plain.redirect(path, other.url("localhost") + elsewhere);
    other.answer(elsewhere, key);
    trusts(await prepare(plain));
    assert.deepEqual(other.asked, [`GET ${elsewhere}`]);
  });

  it("is followed to a path of the same host, and from http to https", async () => {
    plain.redirect(path, "/here");
    plain.redirect("/here", secure.url() + elsewhere);
    secure.answer(elsewhere, key);
    trusts(await prepare(plain));
  });

  it("is followed from https to https", async () => {
    secure.redirect(path, secure.url() + elsewhere);
    secure.answer(elsewhere, key);
    trusts(await prepare(secure));
  });

  it("is not followed from https to http, even after another redirect", async () => {
    plain.redirect(path, secure.url() + path);
    secure.redirect(path, other.url() + elsewhere);
    other.answer(elsewhere, key);
    for (const server of [plain, secure]) refuses(await prepare(server));
    assert.deepEqual(other.asked, []);
  });

  it("is not followed to a local file or by another protocol", async () => {
    for (const location of ["file:///etc/os-release", "ftp://127.0.0.1/key"]) {
      plain.redirect(path, location);
      refuses(await prepare(plain));
    }
  });

  it("is followed five times at most", async () => {
    for (const [hop, next] of [1, 2, 3, 4, 5].entries())
      plain.redirect(hop === 0 ? path : `/${String(hop)}`, `/${String(next)}`);
    plain.answer("/5", key);
    trusts(await prepare(plain));
    plain.redirect("/5", "/5");
    machine.close();
    machine = new Sandbox(freshDebian);
    machine.stub("curl", '/usr/bin/curl "$@"');
    plain.asked.length = 0;
    refuses(await prepare(plain));
    assert.equal(plain.downloads.length, 6);
  });

  it("is requested through the proxy of the address's own scheme", async () => {
    plain.redirect(path, `${secure.url()}${path}`);
    secure.redirect(path, secure.url() + elsewhere);
    secure.answer(elsewhere, key);
    proxies.http.redirect(path, `${secure.url()}${path}`);
    const file = (server: WebServer): string =>
      Buffer.from(`proxy = "${server.url()}"\n`).toString("base64");
    const PROXY = Object.entries(proxies)
      .map(([scheme, server]) => `curl-${scheme} ${file(server)}`)
      .join("\n");
    trusts(await prepare(plain, { PROXY }));
    assert.deepEqual(proxies.http.downloads, [`GET ${plain.url()}${path}`]);
    const tunnel = `CONNECT ${secure.url().replace("https://", "")}`;
    assert.deepEqual(proxies.https.asked, [tunnel, tunnel]);
    assert.deepEqual(plain.asked, []);
  });
});
