import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import { parseClusterSpec } from "../../../../components/config/cluster-spec.js";
import { findPlainTextSecrets } from "../../../../components/config/plain-text-secrets.js";
import { smallest } from "../../../support/config/spec.js";

const problems = (over: object): string[] => {
  const result = parseClusterSpec({ ...smallest, ...over });
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path}: ${message}`)
    : [];
};
const registries = (of: object): string[] => problems({ kubernetes: { registries: of } });
const proxy = (of: object): string[] => problems({ network: { proxy: of } });
const open = (over: object): string[] => {
  const result = parseClusterSpec({ ...smallest, ...over });
  assert.ok("spec" in result, JSON.stringify(result));
  return findPlainTextSecrets(result.spec, "stackadm").map(({ path }) => path);
};

describe("kubernetes.registries", () => {
  it("reports the wrong value's path and what to write", () => {
    const rows: readonly (readonly [object, RegExp])[] = [
      [
        { "https://r.example": {} },
        /registries\.https:\/\/r\.example: is not the host of a registry; write/,
      ],
      [{ "r.example": { mirrors: ["m.example"] } }, /mirrors\.0: .*begins with http/],
      [{ "r.example": { mirrors: ["https://m.example/"] } }, /mirrors\.0: .*slash/],
      [{ "r.example": { ca: "/etc/ca.pem" } }, /\.ca: .*PEM/],
      [{ "r.example": { user: "me" } }, /\.password: is missing, although user is set/],
      [{ "r.example": { password: "x" } }, /\.user: is missing, although password is set/],
      [{ "r.example": { user: "me", password: "" } }, /\.password: /],
      [
        {
          "r.example": {
            plainHttp: true,
            ca: "-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----",
          },
        },
        /\.ca: .*plainHttp/,
      ],
      [{ "r.example": { insecure: true } }, /does not know \["insecure"\]/],
    ];
    for (const [written, said] of rows) {
      const found = registries(written);
      assert.equal(found.length, 1, found.join("\n"));
      assert.match(found[0] ?? "", said);
    }
  });
});

describe("network.proxy", () => {
  it("reports the wrong value's path and what to write, without the password", () => {
    const rows: readonly (readonly [object, RegExp])[] = [
      [{}, /proxy\.https: is missing, and http is too/],
      [{ http: "proxy:3128" }, /proxy\.http: is not the address of a proxy; write one like http/],
      [{ http: 'http://u:CANARY"@p:1' }, /proxy\.http: is not/],
      [{ https: "http://u:CANARY'$(x)@p:1" }, /proxy\.https: is not/],
      [{ http: "http://p:1", noProxy: ["a b"] }, /noProxy\.0: .* is not a name/],
    ];
    for (const [written, said] of rows) {
      const found = proxy(written);
      assert.equal(found.length, 1, found.join("\n"));
      assert.match(found[0] ?? "", said);
      assert.doesNotMatch(found.join(), /CANARY/);
    }
  });

  it("accepts addresses, names, users and IPv6", () => {
    for (const http of [
      "http://p",
      "https://p.example:3128/",
      "http://u:p%40@10.0.0.1:1",
      "http://[fd00::1]:3128",
    ])
      assert.deepEqual(proxy({ http }), []);
  });
});

describe("findPlainTextSecrets", () => {
  const signedIn = (password: unknown) => ({
    kubernetes: { registries: { "r.example": { user: "me", password } } },
  });

  it("returns passwords, and proxy addresses with a password, that are plain text", () => {
    assert.deepEqual(open(signedIn("CANARY")), [
      'cluster.kubernetes.registries["r.example"].password',
    ]);
    assert.deepEqual(open({ network: { proxy: { http: "http://u:x@p", https: "http://p" } } }), [
      "cluster.network.proxy.http",
    ]);
    assert.deepEqual(open({ credential: { id: "i", secret: "s" } }), ["cluster.credential.secret"]);
  });

  it("omits encrypted values and outputs", () => {
    assert.deepEqual(open(signedIn({ secure: "AAAA" })), []);
    assert.deepEqual(open({ network: { proxy: { http: pulumi.secret("http://u:x@p") } } }), []);
    assert.deepEqual(open({}), []);
  });
});
