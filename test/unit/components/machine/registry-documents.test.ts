import { strict as assert } from "node:assert";
import fc from "fast-check";
import { parseClusterSpec } from "../../../../components/config/cluster-spec.js";
import {
  renderRegistryFiles,
  parseImagePrefixHost,
  renderRegistryLogins,
} from "../../../../components/machine/registry-documents.js";
import { smallest } from "../../../support/config/spec.js";

const ca = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
const files = (registries: object, registry: object = {}): Record<string, string> => {
  const result = parseClusterSpec({ ...smallest, kubernetes: { registries, registry } });
  assert.ok("spec" in result, JSON.stringify(result));
  const lines = renderRegistryFiles(result.spec.kubernetes).split("\n");
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [name = "", data = ""] = line.split(" ");
      return name === "" ? [] : [[name, Buffer.from(data, "base64").toString()]];
    }),
  );
};

describe("renderRegistryFiles", () => {
  it("returns nothing by default", () => {
    assert.deepEqual(files({}), {});
    assert.deepEqual(files({ "r.example": { user: "u", password: "p" } }), {});
  });

  it("uses HTTP for the host of the prefix, without its path", () => {
    const registry = { prefix: "mirror.example:5000/k8s", plainHttp: true };
    assert.equal(parseImagePrefixHost(registry.prefix), "mirror.example:5000");
    assert.deepEqual(files({}, registry), {
      "mirror.example:5000/hosts.toml":
        'server = "http://mirror.example:5000"\n\n[host."http://mirror.example:5000"]\n  capabilities = ["pull", "resolve"]\n',
    });
    assert.deepEqual(
      files({ "mirror.example:5000": { plainHttp: true } }),
      files({}, { ...registry, prefix: "mirror.example:5000" }),
    );
  });

  it("lists mirrors in order and then the registry, with Docker Hub's real host", () => {
    const mirrors = ["https://harbor.example/v2/hub", "http://near.example:5000"];
    assert.deepEqual(files({ "docker.io": { mirrors } }), {
      "docker.io/hosts.toml": [
        'server = "https://registry-1.docker.io"',
        ...["", '[host."https://harbor.example/v2/hub"]', '  capabilities = ["pull", "resolve"]'],
        "  override_path = true",
        ...["", '[host."http://near.example:5000"]', '  capabilities = ["pull", "resolve"]', ""],
      ].join("\n"),
    });
  });

  it("trusts an authority for its registry, also when used as a mirror", () => {
    const made = files({
      "quay.io": { mirrors: ["https://m.example:5001/v2/quay", "https://other.example"] },
      "m.example:5001": { ca },
    });
    const trusted = 'ca = "/etc/containerd/certs.d/m.example:5001/ca.crt"\n';
    assert.equal(made["m.example:5001/ca.crt"], `${ca}\n`);
    assert.equal(
      made["m.example:5001/hosts.toml"],
      `server = "https://m.example:5001"\n${trusted}`,
    );
    const [own = "", near = "", far = ""] = (made["quay.io/hosts.toml"] ?? "").split("\n\n");
    assert.equal(own, 'server = "https://quay.io"');
    assert.ok(near.endsWith(`\n  ${trusted.trimEnd()}`), near);
    assert.doesNotMatch(far, /ca =/);
  });

  it("does not depend on the written order", () => {
    const names = fc.uniqueArray(
      fc.constantFrom("a.example", "b.example:5", "docker.io", "c.example"),
    );
    fc.assert(
      fc.property(names, (hosts) => {
        const of = (list: readonly string[]) =>
          files(Object.fromEntries(list.map((host) => [host, { ca }])));
        assert.deepEqual(Object.entries(of(hosts)), Object.entries(of([...hosts].reverse())));
        assert.equal(Object.keys(of(hosts)).length, 2 * hosts.length);
      }),
    );
  });
});

describe("renderRegistryLogins", () => {
  it("names the host that answers for the registry", () => {
    const text = renderRegistryLogins([
      { host: "docker.io", user: "me", password: "x" },
      { host: "r.example:5000", user: "you", password: "y" },
    ]);
    const hosts = [...text.matchAll(/^\[.*\.configs\."(.*)"\.auth\]$/gm)].map(([, host]) => host);
    assert.deepEqual(hosts, ["registry-1.docker.io", "r.example:5000"]);
  });

  it("keeps every password as one value", () => {
    const password = fc.string({ unit: "grapheme", minLength: 1 });
    fc.assert(
      fc.property(password, password, (user, secret) => {
        const lines = renderRegistryLogins([{ host: "r.example", user, password: secret }]).split(
          "\n",
        );
        assert.equal(lines.length, 4);
        const values = lines.slice(1, 3).map((line) => line.replace(/^ {2}\w+ = /, ""));
        assert.deepEqual(
          values.map((text) => JSON.parse(text) as string),
          [user, secret],
        );
        for (const text of values) assert.doesNotMatch(text, /[\u0000-\u001f\u007f]/);
      }),
    );
  });
});
