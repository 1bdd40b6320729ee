import assert from "node:assert/strict";
import fc from "fast-check";
import {
  getLoadBalancerMethod,
  quoteValue,
  renderCloudConf,
  type CloudConf,
} from "../../../../components/addons/cloud-conf.js";
import { clientCertificateFiles } from "../../../../components/addons/manifests/cloud-controller.js";
import { golden } from "../../../support/golden.js";
import { exampleCloud } from "./objects.js";
import { parseGcfg } from "./gcfg.js";

/** Text that gcfg can represent: all well-formed text without NUL and carriage return. */
const carried = fc
  .oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: fc.constantFrom('"', "\\", ";", "#", "\n", "\t", " ", "=", "[", "]", "a") }),
  )
  .filter((text) => !/[\0\r]/.test(text));

describe("addons/cloud-conf", () => {
  it("writes each key of the cloud controller once", () => {
    const parsed = parseGcfg(renderCloudConf(exampleCloud));
    assert.deepEqual(parsed, {
      Global: {
        "auth-url": exampleCloud.authUrl,
        region: exampleCloud.region,
        "application-credential-id": "5d6a0c1b0c2f4a0d9f6f",
        "application-credential-secret": 'se"cr;et #1\\',
        "ca-file": "/etc/config/ca.crt",
      },
      LoadBalancer: {
        "lb-provider": "amphora",
        "lb-method": "ROUND_ROBIN",
        "subnet-id": exampleCloud.subnetId,
        "member-subnet-id": exampleCloud.subnetId,
        "network-id": exampleCloud.networkId,
        "floating-network-id": exampleCloud.floatingNetworkId,
        "create-monitor": "true",
        "monitor-delay": "5s",
        "monitor-timeout": "3s",
        "monitor-max-retries": "1",
      },
      Metadata: { "search-order": "configDrive,metadataService" },
    });
  });

  it("omits floating IPs from load balancers without an external network", () => {
    const cloud = Object.entries(exampleCloud).filter(([key]) => key !== "floatingNetworkId");
    const conf = renderCloudConf(Object.fromEntries(cloud) as unknown as CloudConf);
    const { LoadBalancer } = parseGcfg(conf);
    assert.equal(LoadBalancer?.["internal-lb"], "true");
    assert.ok(!("floating-network-id" in LoadBalancer));
  });

  it("keeps members on the machines' network if addresses are elsewhere, and adds a class for internal balancers", () => {
    const machines = { subnetId: "near", networkId: "home", floatingNetworkId: "first" };
    const settings = { loadBalancerClasses: { far: { subnetId: "far" } } };
    const parsed = parseGcfg(renderCloudConf({ ...exampleCloud, machines, settings }));
    assert.equal(parsed["LoadBalancer"]?.["subnet-id"], exampleCloud.subnetId);
    assert.equal(parsed["LoadBalancer"]["member-subnet-id"], "near");
    assert.deepEqual(parsed['LoadBalancerClass "machines"'], {
      "member-subnet-id": "near",
      "subnet-id": "near",
      "network-id": "home",
      "floating-network-id": "first",
    });
    assert.deepEqual(parsed['LoadBalancerClass "far"'], {
      "member-subnet-id": "near",
      "subnet-id": "far",
    });
  });

  it("contains neither user nor password with an application credential", () => {
    const text = renderCloudConf(exampleCloud);
    assert.doesNotMatch(text, /^(user|password|tenant|trust|token|tls-insecure)/im);
  });

  it("contains a user by name and domain or by ID, and the project, instead of a credential", () => {
    const login = { password: 'se"cr;et #1\\', tenantId: "0123456789abcdef0123456789abcdef" };
    const named = { ...login, username: "shop", userDomainName: "Service users" };
    const text = renderCloudConf({ ...exampleCloud, login: named });
    golden("cloud-of-user.conf", text);
    assert.doesNotMatch(text, /application-credential|user-id/);
    const { Global } = parseGcfg(
      renderCloudConf({ ...exampleCloud, login: { ...login, userId: "5d6a" } }),
    );
    assert.equal(Global?.["user-id"], "5d6a");
    assert.ok(!("username" in Global) && !("user-domain-name" in Global));
  });

  it("names no certificate file without a certificate", () => {
    const cloud = { ...exampleCloud, caFile: undefined };
    assert.doesNotMatch(renderCloudConf(cloud), /ca-file/);
  });

  it("names the files of a client certificate and its key", () => {
    const text = renderCloudConf({ ...exampleCloud, ...clientCertificateFiles });
    golden("cloud-with-client-certificate.conf", text);
    const { Global } = parseGcfg(text);
    assert.equal(Global?.["cert-file"], "/etc/config/client.crt");
    assert.equal(Global["key-file"], "/etc/config/client.key");
    assert.doesNotMatch(renderCloudConf(exampleCloud), /cert-file|key-file/);
  });

  it("selects SOURCE_IP_PORT for OVN, which supports no other method, and ROUND_ROBIN otherwise", () => {
    assert.equal(getLoadBalancerMethod("ovn"), "SOURCE_IP_PORT");
    for (const provider of ["amphora", "octavia", "lab"]) {
      assert.equal(getLoadBalancerMethod(provider), "ROUND_ROBIN");
    }
    const parsed = parseGcfg(renderCloudConf({ ...exampleCloud, loadBalancerProvider: "ovn" }));
    assert.equal(parsed["LoadBalancer"]?.["lb-method"], "SOURCE_IP_PORT");
    assert.equal(parsed["LoadBalancer"]["lb-provider"], "ovn");
  });

  it("reproduces every value, with any characters in a secret", () => {
    fc.assert(
      fc.property(carried, carried, (secret, region) => {
        const text = renderCloudConf({
          ...exampleCloud,
          login: { applicationCredentialId: "id", applicationCredentialSecret: secret },
          region,
        });
        const parsed = parseGcfg(text);
        assert.equal(parsed["Global"]?.["application-credential-secret"], secret);
        assert.equal(parsed["Global"]["region"], region);
        assert.equal(parsed["Global"]["auth-url"], exampleCloud.authUrl);
        assert.deepEqual(Object.keys(parsed), ["Global", "LoadBalancer", "Metadata"]);
      }),
      { numRuns: 500 },
    );
  });

  it("reproduces every user, with any characters in name and password", () => {
    const user = fc.record({ username: carried, userDomainName: carried, password: carried });
    fc.assert(
      fc.property(user, ({ username, userDomainName, password }) => {
        const login = { username, userDomainName, password, tenantId: "p" };
        const parsed = parseGcfg(renderCloudConf({ ...exampleCloud, login }));
        assert.deepEqual(parsed["Global"], {
          "auth-url": exampleCloud.authUrl,
          region: exampleCloud.region,
          username,
          "user-domain-name": userDomainName,
          password,
          "tenant-id": "p",
          "ca-file": "/etc/config/ca.crt",
        });
        assert.deepEqual(Object.keys(parsed), ["Global", "LoadBalancer", "Metadata"]);
      }),
      { numRuns: 500 },
    );
  });

  it("quotes exactly the four characters that gcfg unescapes", () => {
    const rows: readonly (readonly [string | number | boolean, string])[] = [
      ["plain", '"plain"'],
      ["", '""'],
      ["a;b#c", '"a;b#c"'],
      ['say "hi"', '"say \\"hi\\""'],
      ["back\\slash", '"back\\\\slash"'],
      ["two\nlines\tand a tab", '"two\\nlines\\tand a tab"'],
      ["grüße ☂", '"grüße ☂"'],
      [true, '"true"'],
      [3, '"3"'],
    ];
    for (const [value, expected] of rows) {
      assert.equal(quoteValue("key", value), expected);
    }
  });

  it("refuses values that gcfg would drop or reject, and reports the key without the value", () => {
    for (const bad of ["a\rb", "a\0b", "a\uD800b"]) {
      assert.throws(
        () => quoteValue("application-credential-secret", bad),
        (error: Error) =>
          error.message.includes("application-credential-secret") && !error.message.includes(bad),
      );
    }
  });
});
