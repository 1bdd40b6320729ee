import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { Address4 } from "ip-address";
import fc from "fast-check";
import { parseClusterSpec, type ClusterSpec } from "../../../../components/config/cluster-spec.js";
import {
  getProxyExceptions,
  matchesProxyException,
  renderProxyFiles,
} from "../../../../components/machine/proxy-documents.js";
import { smallest } from "../../../support/config/spec.js";

const url = "http://me:p%40ss@proxy.example:3128";
const specOf = (noProxy: readonly string[] = [], over: object = {}): ClusterSpec => {
  const proxy = { http: url, https: url, noProxy };
  const { network = {}, ...more } = over as { network?: object };
  const result = parseClusterSpec({ ...smallest, ...more, network: { ...network, proxy } });
  assert.ok("spec" in result, JSON.stringify(result));
  return result.spec;
};
const files = (
  spec: ClusterSpec,
  proxies = { http: url, https: url } as Parameters<typeof renderProxyFiles>[1],
) =>
  Object.fromEntries(
    renderProxyFiles(spec, proxies)
      .split("\n")
      .map((line) => line.split(" "))
      .map(([name = "", data = ""]) => [name, Buffer.from(data, "base64").toString()]),
  );

describe("getProxyExceptions", () => {
  it("contains the machine, the metadata service, the cluster's ranges and names, and the user's entries", () => {
    assert.deepEqual(getProxyExceptions(specOf([".example.org"])), [
      ...["localhost", "127.0.0.1", "::1", "169.254.169.254"],
      ...["10.0.0.0/24", "10.244.0.0/16", "10.96.0.0/12"],
      ...[".svc", ".cluster.local", specOf().apiName, ".example.org"],
    ]);
  });

  it("contains the API's written address", () => {
    const found = getProxyExceptions(
      specOf([], { endpoint: { kind: "existing", host: "203.0.113.7" } }),
    );
    assert.ok(found.includes("203.0.113.7"));
    const shared = getProxyExceptions(
      specOf([], { endpoint: { kind: "virtual-ip", address: "10.0.0.9" } }),
    );
    assert.ok(shared.includes("10.0.0.9"));
  });

  it("covers every address of machines, pods and services in any range", () => {
    const octet = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(octet, octet, octet, fc.integer({ min: 16, max: 28 }), (a, b, host, bits) => {
        const range = new Address4(`172.20.${String(a)}.${String(b)}/${String(bits)}`);
        const nodes = `${range.startAddress().address}/${String(bits)}`;
        const spec = specOf([], { network: { nodes } });
        const found = getProxyExceptions(spec);
        const ends = [range.startAddress(), range.endAddress()].map(({ address }) => address);
        const inside = [...ends, `10.244.${String(a)}.${String(host)}`, `10.96.${String(b)}.1`];
        for (const one of [...inside, "169.254.169.254", "127.0.0.1"])
          assert.ok(
            found.some((entry) => matchesProxyException(entry, one)),
            one,
          );
        for (const outside of ["198.51.100.7", "registry.example.org", "notcluster.local"])
          assert.ok(!found.some((entry) => matchesProxyException(entry, outside)), outside);
      }),
    );
  });

  it("contains each of the user's entries once", () => {
    const entry = fc.stringMatching(/^\.?[a-z]{1,5}(\.[a-z]{1,5}){0,2}$/);
    fc.assert(
      fc.property(fc.array(entry), (written) => {
        const found = getProxyExceptions(specOf(written));
        assert.equal(new Set(found).size, found.length);
        for (const one of written) assert.ok(found.includes(one));
      }),
    );
  });

  it("contains the package repository's host if a range or domain covers it, for tools that support only hosts", () => {
    const packages = (address: string) => ({ kubernetes: { packages: { url: address } } });
    const found = getProxyExceptions(
      specOf(["172.29.0.0/16"], packages("http://172.29.0.2:8081/deb/")),
    );
    assert.ok(found.includes("172.29.0.2"));
    assert.ok(
      getProxyExceptions(specOf([".example.org"], packages("https://apt.example.org/x/"))).includes(
        "apt.example.org",
      ),
    );
    assert.ok(!getProxyExceptions(specOf()).includes("pkgs.k8s.io"));
  });
});

describe("renderProxyFiles", () => {
  it("writes variables in both spellings, which a shell reads unchanged", () => {
    const { environment = "" } = files(specOf([".example.org"]));
    const read = (name: string): string =>
      execFileSync("bash", ["-c", `eval "$(cat)"; printf %s "$${name}"`], {
        input: environment,
        encoding: "utf8",
      });
    for (const name of ["HTTP_PROXY", "https_proxy"]) assert.equal(read(name), url);
    for (const name of ["NO_PROXY", "no_proxy"])
      assert.equal(read(name), getProxyExceptions(specOf([".example.org"])).join(","));
  });

  it("writes apt's proxy per scheme and exceptions that are hosts", () => {
    const { apt = "" } = files(specOf(["apt.example.org", ".org", "10.9.0.0/16"]), {
      http: url,
      https: undefined,
    });
    const lines = apt.trimEnd().split("\n");
    assert.equal(lines[0], `Acquire::http::Proxy "${url}";`);
    assert.ok(lines.includes('Acquire::http::Proxy::apt.example.org "DIRECT";'));
    assert.ok(lines.includes('Acquire::http::Proxy::169.254.169.254 "DIRECT";'));
    assert.doesNotMatch(apt, /https|\/16|::\.|::::/);
  });

  it("writes curl's proxy per scheme, or an empty file", () => {
    const found = files(specOf(), { http: undefined, https: url });
    assert.equal(found["curl-http"], "");
    assert.match(
      found["curl-https"] ?? "",
      /^proxy = "http:\/\/me:\S+"\nnoproxy = "localhost,.*"\n$/,
    );
  });

  it("adds hosts of containerd's repository for apt and curl, but not for containerd, which would restart", () => {
    const containerd = { source: "http://172.29.0.7:80/x /", key: "https://keys.example.org/key" };
    const own = { kubernetes: { packages: { containerd } } };
    const among = [".example.org", "172.29.0.0/24"];
    const found = files(specOf(among, own));
    for (const name of ["172.29.0.7", "keys.example.org"]) {
      assert.ok(found["apt"]?.includes(`Acquire::http::Proxy::${name} "DIRECT";`), name);
      for (const scheme of ["http", "https"])
        assert.match(found[`curl-${scheme}`] ?? "", new RegExp(`noproxy = ".*,${name}[,"]`));
    }
    assert.equal(found["environment"], files(specOf(among))["environment"]);
    assert.doesNotMatch(files(specOf([], own))["apt"] ?? "", /172\.29|keys/);
  });
});
