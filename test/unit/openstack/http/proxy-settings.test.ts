import assert from "node:assert/strict";
import { findProxy, getProxyVariables } from "../../../../openstack/http/proxy-settings.js";
import { Failure } from "../../../../base/failures/failure.js";

const proxyOf = (url: string, env: Record<string, string>): string | undefined =>
  findProxy(new URL(url), env)?.href;

describe("findProxy", () => {
  const proxy = "http://proxy.example:3128/";

  it("returns the variable of the URL's protocol, in capitals first, then in lower case", () => {
    for (const [protocol, name] of [
      ["https", "HTTPS_PROXY"],
      ["http", "HTTP_PROXY"],
    ] as const) {
      const url = `${protocol}://cloud.example/`;
      assert.equal(proxyOf(url, { [name]: proxy }), proxy);
      assert.equal(proxyOf(url, { [name.toLowerCase()]: proxy }), proxy);
      const both = { [name]: proxy, [name.toLowerCase()]: "http://other" };
      assert.equal(proxyOf(url, both), proxy);
      assert.equal(proxyOf(url, { [name]: "", [name.toLowerCase()]: "http://o" }), "http://o/");
    }
    assert.equal(proxyOf("https://cloud.example", { HTTP_PROXY: proxy }), undefined);
    assert.equal(proxyOf("http://cloud.example", { HTTPS_PROXY: proxy }), undefined);
  });

  it("accepts an address without a protocol, as curl and Go do", () => {
    assert.equal(
      proxyOf("https://cloud.example", { HTTPS_PROXY: "ann:word@proxy.example:3128" }),
      "http://ann:word@proxy.example:3128/",
    );
  });

  it("never returns a proxy for this machine", () => {
    for (const host of ["localhost:5000", "127.0.0.1", "127.9.9.9:1", "[::1]:8080"])
      assert.equal(proxyOf(`http://${host}/`, { HTTP_PROXY: proxy }), undefined, host);
    for (const host of ["localhost.example", "128.0.0.1", "[::2]"])
      assert.equal(proxyOf(`http://${host}/`, { HTTP_PROXY: proxy }), proxy, host);
  });

  const direct: [entries: string, url: string][] = [
    ["*", "https://cloud.example"],
    ["cloud.example", "https://cloud.example:5000"],
    ["example", "https://cloud.example"],
    [".example", "https://cloud.example"],
    ["*.example", "https://cloud.example"],
    ["Cloud.EXAMPLE", "https://cloud.example"],
    ["other, cloud.example ,", "https://cloud.example"],
    ["cloud.example:443", "https://cloud.example"],
    ["10.0.0.0/8", "https://10.1.2.3:6443"],
    ["10.1.2.3", "https://10.1.2.3:6443"],
    ["10.1.2.3:6443", "https://10.1.2.3:6443"],
    ["fd00::/8", "https://[fd00::5]:6443"],
    ["fd00:0::5", "https://[fd00::5]:6443"],
    ["[fd00::5]:6443", "https://[fd00::5]:6443"],
  ];
  for (const [entries, url] of direct)
    it(`returns no proxy for ${url} with NO_PROXY="${entries}"`, () => {
      assert.equal(proxyOf(url, { HTTPS_PROXY: proxy, NO_PROXY: entries }), undefined);
      assert.equal(proxyOf(url, { HTTPS_PROXY: proxy, no_proxy: entries }), undefined);
    });

  const proxied: [entries: string, url: string][] = [
    ["", "https://cloud.example"],
    ["cloud.example", "https://notcloud.example"],
    [".example", "https://example"],
    ["cloud.example:5000", "https://cloud.example"],
    ["10.0.0.0/8", "https://11.1.2.3"],
    ["10.0.0.0/8", "https://10.example"],
    ["10.0.0.0/99,nonsense/8,:80", "https://10.1.2.3"],
    ["fd00::/8", "https://10.1.2.3"],
  ];
  for (const [entries, url] of proxied)
    it(`returns the proxy for ${url} with NO_PROXY="${entries}"`, () => {
      assert.equal(proxyOf(url, { HTTPS_PROXY: proxy, NO_PROXY: entries }), proxy);
    });

  it("refuses a value that is not an HTTP proxy, without its password", () => {
    for (const value of ["socks5://ann:word@p:1", "http://ann:word%zz@p", "http://"])
      assert.throws(
        () => proxyOf("https://cloud.example", { HTTPS_PROXY: value }),
        (error: unknown) => {
          assert.ok(error instanceof Failure);
          assert.equal(error.code, "INVALID_USAGE");
          assert.match(error.message, /^HTTPS_PROXY: '.*' is not the address of a proxy/);
          assert.match(error.hint, /like http:\/\/proxy\.example\.org:3128.* NO_PROXY/);
          assert.doesNotMatch(error.message, /word/);
          return true;
        },
      );
  });
});

describe("getProxyVariables", () => {
  it("returns only the variables of proxies that have a value", () => {
    const proxies = { HTTPS_PROXY: "http://p", http_proxy: "http://q", no_proxy: "x" };
    assert.deepEqual(
      getProxyVariables({ ...proxies, HTTP_PROXY: "", OS_PASSWORD: "secret", PATH: "/bin" }),
      proxies,
    );
  });
});
