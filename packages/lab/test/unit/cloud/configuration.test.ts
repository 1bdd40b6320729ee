import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { listCloudFiles, listCloudLinks, removedFiles } from "../../../cloud/files.js";
import { renderIni } from "../../../cloud/render-ini.js";
import { getCloudOffering } from "../../../cloud/offering.js";
import {
  generatePasswords,
  generateLabSecrets,
  placeholderSecrets,
} from "../../../cloud/secrets.js";
import { readLabSettings } from "../../../settings.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";

const settings = readLabSettings({});
const passwords = {
  database: "database-word",
  bus: "bus-word",
  service: "service-word",
  metadata: "metadata-word",
  admin: "admin-word",
  demo: "demo-word",
};
const tls = {
  authority: "authority-text",
  certificate: "certificate-text",
  privateKey: "private-key-text",
};
const front = { certificate: "front-certificate-text", privateKey: "front-key-text" };
const secrets = { ...passwords, secretsKey: "secrets-key", tls, front };
const hidden = [...Object.values(passwords), secrets.secretsKey, tls.privateKey, front.privateKey];
const files = new Map(listCloudFiles({ settings, secrets }).map((file) => [file.path, file]));
const content = (path: string): string => {
  const file = files.get(path);
  assert.ok(file, `${path} is not written`);
  return file.content;
};
/** Returns the value of a key in a section of a rendered INI file. */
const value = (path: string, section: string, key: string): string | undefined => {
  const body = content(path).split(`[${section}]\n`)[1]?.split(/^\[/m)[0] ?? "";
  return new RegExp(`^${key} = (.*)$`, "m").exec(body)?.[1];
};

describe("lab/cloud/render-ini", () => {
  it("renders sections in order with oslo.config's spelling", () => {
    const text = renderIni({ DEFAULT: { debug: false, workers: 1, log_dir: "" }, b: { x: "y" } });
    assert.equal(text, "[DEFAULT]\ndebug = false\nworkers = 1\nlog_dir = \n\n[b]\nx = y\n");
  });

  it("gives one line per key whatever the numbers and names", () => {
    const word = fc.stringMatching(/^[a-z_]{1,12}$/);
    fc.assert(
      fc.property(fc.dictionary(word, fc.integer()), (values) => {
        const lines = renderIni({ only: values }).trimEnd().split("\n");
        assert.equal(lines.length, 1 + Object.keys(values).length);
      }),
    );
  });
});

describe("lab/cloud/secrets", () => {
  it("makes passwords that need no quoting and differ from each other", () => {
    const made = Object.values<string>({ ...generatePasswords() });
    for (const word of made) assert.match(word, /^[A-Za-z0-9]{24}$/);
    assert.equal(new Set(made).size, made.length);
  });

  it("makes other ones for every cloud", async () => {
    assert.notDeepEqual(generatePasswords(), generatePasswords());
    const paths = { front: mkdtempSync(join(tmpdir(), "stackadm-test-")) };
    const [one, other] = [
      await generateLabSecrets(settings, paths),
      await generateLabSecrets(settings, paths),
    ];
    rmSync(paths.front, { recursive: true });
    assert.notEqual(one.secretsKey, other.secretsKey);
    assert.equal(Buffer.from(one.secretsKey, "base64url").length, 32);
    assert.notEqual(one.tls.authority, other.tls.authority);
    assert.notEqual(one.tls.privateKey, other.tls.privateKey);
  });
});

describe("lab/cloud configuration files", () => {
  it("writes every file once", () => {
    const paths = listCloudFiles({ settings, secrets }).map(({ path }) => path);
    assert.deepEqual(paths, [...new Set(paths)]);
    for (const path of paths) assert.match(path, /^\/[^ ]+$/);
  });

  it("shows passwords to root only", () => {
    const secret = [...files.values()].filter(({ content: text }) =>
      hidden.some((word) => text.includes(word)),
    );
    for (const { path, mode } of nonEmpty(secret))
      assert.equal((mode ?? 0o644) & 0o007, 0, `${path} can be read by everybody`);
  });

  it("keeps the tenant's password out of every service", () => {
    const holders = [...files.values()].filter((file) => file.content.includes("demo-word"));
    assert.deepEqual(
      holders.map(({ path }) => path),
      ["/etc/lab/cloud.env"],
    );
  });

  it("differs in nothing but passwords between two clouds", () => {
    const other = listCloudFiles({ settings, secrets: placeholderSecrets });
    for (const { path, content: text } of nonEmpty(other)) {
      let ours = content(path);
      for (const word of [...hidden, front.certificate, tls.certificate])
        ours = ours.replaceAll(word, "x");
      assert.equal(ours, text, path);
    }
  });

  it("listens on the management address only", () => {
    assert.equal(value("/etc/nova/nova.conf", "DEFAULT", "osapi_compute_listen"), "172.29.0.2");
    assert.equal(value("/etc/nova/nova.conf", "DEFAULT", "metadata_listen"), "172.29.0.2");
    assert.equal(value("/etc/neutron/neutron.conf", "DEFAULT", "bind_host"), "172.29.0.2");
    assert.equal(value("/etc/cinder/cinder.conf", "DEFAULT", "osapi_volume_listen"), "172.29.0.2");
    assert.equal(value("/etc/glance/glance-api.conf", "DEFAULT", "bind_host"), "172.29.0.2");
    assert.match(content("/etc/mysql/mariadb.conf.d/90-lab.cnf"), /bind-address = 127\.0\.0\.1/);
  });

  it("gives Nova one host per zone and Cinder one backend per zone", () => {
    for (const zone of settings.zones) {
      assert.equal(value(`/etc/nova/nova-compute-${zone.name}.conf`, "DEFAULT", "host"), zone.host);
      const zoneOf = value("/etc/cinder/cinder.conf", zone.name, "backend_availability_zone");
      assert.equal(zoneOf, zone.name);
    }
    assert.equal(
      value("/etc/cinder/cinder.conf", "DEFAULT", "enabled_backends"),
      "zone-a,zone-b,zone-c",
    );
    assert.equal(value("/etc/nova/nova.conf", "lab", "hosts"), "3");
  });

  it("shares the metadata secret between Nova and Neutron", () => {
    const nova = value("/etc/nova/nova.conf", "neutron", "metadata_proxy_shared_secret");
    const agent = value(
      "/etc/neutron/metadata_agent.ini",
      "DEFAULT",
      "metadata_proxy_shared_secret",
    );
    assert.equal(nova, "metadata-word");
    assert.equal(agent, nova);
  });

  it("names the Neutron agent's host to the drivers that bind ports", () => {
    const host = value("/etc/neutron/neutron.conf", "DEFAULT", "host");
    assert.equal(value("/etc/nova/nova.conf", "lab", "network_host"), host);
    assert.equal(value("/etc/octavia/octavia.conf", "lab", "network_host"), host);
  });

  it("reaches Nova from Cinder by the public interface: growing an attached volume needs it", () => {
    assert.equal(value("/etc/cinder/cinder.conf", "nova", "interface"), "public");
  });

  it("fixes the bus server's name before its first boot, and keeps it to the cloud itself", () => {
    const lines = content("/etc/rabbitmq/rabbitmq-env.conf").split("\n");
    assert.ok(lines.includes("NODENAME=rabbit@localhost"));
    assert.ok(lines.includes("NODE_IP_ADDRESS=127.0.0.1"));
  });

  it("tells each service what the catalogue calls it: else it refuses every credential with access rules", () => {
    const types = getCloudOffering(settings).catalog.map(({ type }) => type);
    const told = [...files.values()]
      .filter((file) => file.content.includes("[keystone_authtoken]\n"))
      .map(({ path }) => value(path, "keystone_authtoken", "service_type") ?? path);
    assert.deepEqual(
      types.filter((type) => !told.includes(type)),
      ["identity", "block-storage"],
      "Keystone asks nobody, and Cinder has one word of its two",
    );
    for (const type of told) assert.ok(types.includes(type), type);
  });

  it("resolves the names of all its hosts", () => {
    assert.match(
      content("/etc/hosts"),
      /^172\.29\.0\.2 labcloud labcloud-a labcloud-b labcloud-c$/m,
    );
  });

  it("moves everything with the networks", () => {
    const moved = readLabSettings({
      STACKADM_LAB_MANAGEMENT: "10.213.0.0/24",
      STACKADM_LAB_EXTERNAL: "10.213.1.0/24",
      STACKADM_LAB_SERVICES: "10.213.2.0/24",
    });
    for (const { path, content: text } of nonEmpty(listCloudFiles({ settings: moved, secrets }))) {
      assert.ok(!text.includes("172.29."), path);
    }
  });
});

describe("lab/cloud over TLS", () => {
  const site = content("/etc/nginx/conf.d/lab-tls.conf");

  it("is there for every API of the catalogue, on a port of its own that leads to it", () => {
    const { catalog, regions } = getCloudOffering(settings);
    assert.deepEqual(regions, ["lab-tls"]);
    for (const { type, urls } of catalog) {
      const url = urls["lab-tls"] ?? "";
      const [, port = ""] = /^https:\/\/172\.29\.0\.2:(\d+)/.exec(url) ?? [];
      const plain = String(Number(port) - 10_000);
      assert.ok(site.includes(`listen 172.29.0.2:${port} ssl;`), type);
      assert.ok(site.includes(`proxy_pass http://172.29.0.2:${plain};`), type);
      const expected = url.replace("https:", "http:").replace(port, plain);
      assert.equal(urls["lab"], type === "identity" ? undefined : expected);
    }
  });

  it("never hides from a service how it was asked", () => {
    assert.match(site, /^proxy_set_header Host \$http_host;$/m);
    assert.match(site, /^proxy_set_header X-Forwarded-Proto \$scheme;$/m);
    for (const name of [
      "keystone/keystone",
      "glance/glance-api",
      "nova/nova",
      "neutron/neutron",
    ].concat(["cinder/cinder", "octavia/octavia"])) {
      const path = `/etc/${name}.conf`;
      assert.equal(value(path, "oslo_middleware", "enable_proxy_headers_parsing"), "true", path);
    }
    assert.equal(value("/etc/octavia/octavia.conf", "api_settings", "api_base_uri"), undefined);
  });

  it("is nothing that the services use among themselves", () => {
    for (const { path, content: text } of files.values()) {
      if (!/\.(conf|ini)$/.test(path) || path.includes("/nginx/")) continue;
      assert.doesNotMatch(text, /https:|lab-tls/, path);
    }
    assert.equal(value("/etc/nova/nova.conf", "keystone", "region_name"), "lab");
  });

  it("proves itself by what the secrets hold, and keeps the key to root", () => {
    for (const [directive, held] of [
      ["ssl_certificate", "certificate-text"],
      ["ssl_certificate_key", "private-key-text"],
    ] as const) {
      const file = new RegExp(`^${directive} (\\S+);$`, "m").exec(site)?.[1] ?? "";
      assert.equal(content(file), held);
    }
    assert.ok(![...files.values()].some((file) => file.content.includes("authority-text")));
  });
});

describe("lab/cloud repositories", () => {
  it("serves the packages and the images at the addresses of the site", () => {
    assert.match(content("/etc/nginx/sites-available/lab"), /listen 172\.29\.0\.2:8081;/);
    assert.match(content("/etc/nginx/sites-available/lab"), /root \/srv\/site\/packages;/);
    const registry = content("/etc/docker/registry/config.yml");
    assert.match(registry, /addr: 172\.29\.0\.2:5001/);
    assert.match(registry, /rootdirectory: \/srv\/site\/registry/);
    assert.match(registry, /readonly:\n\s+enabled: true/);
  });

  it("replaces Debian's web site on port 80", () => {
    assert.ok(removedFiles.includes("/etc/nginx/sites-enabled/default"));
    assert.ok(listCloudLinks().some(({ path }) => path === "/etc/nginx/sites-enabled/lab"));
  });
});
