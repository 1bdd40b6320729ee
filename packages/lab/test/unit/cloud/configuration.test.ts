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

describe("renderIni", () => {
  it("renders sections in order with oslo.config's notation", () => {
    const text = renderIni({ DEFAULT: { debug: false, workers: 1, log_dir: "" }, b: { x: "y" } });
    assert.equal(text, "[DEFAULT]\ndebug = false\nworkers = 1\nlog_dir = \n\n[b]\nx = y\n");
  });

  it("renders one line per key for any numbers and names", () => {
    const word = fc.stringMatching(/^[a-z_]{1,12}$/);
    fc.assert(
      fc.property(fc.dictionary(word, fc.integer()), (values) => {
        const lines = renderIni({ only: values }).trimEnd().split("\n");
        assert.equal(lines.length, 1 + Object.keys(values).length);
      }),
    );
  });
});

describe("lab secrets", () => {
  it("are distinct passwords that need no quoting", () => {
    const made = Object.values<string>({ ...generatePasswords() });
    for (const word of made) assert.match(word, /^[A-Za-z0-9]{24}$/);
    assert.equal(new Set(made).size, made.length);
  });

  it("differ for every cloud", async () => {
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

describe("configuration files of the cloud", () => {
  it("are written once each", () => {
    const paths = listCloudFiles({ settings, secrets }).map(({ path }) => path);
    assert.deepEqual(paths, [...new Set(paths)]);
    for (const path of paths) assert.match(path, /^\/[^ ]+$/);
  });

  it("are readable only by root if they contain passwords", () => {
    const secret = [...files.values()].filter(({ content: text }) =>
      hidden.some((word) => text.includes(word)),
    );
    for (const { path, mode } of nonEmpty(secret))
      assert.equal((mode ?? 0o644) & 0o007, 0, `${path} can be read by all users`);
  });

  it("contain the tenant's password in no service's file", () => {
    const holders = [...files.values()].filter((file) => file.content.includes("demo-word"));
    assert.deepEqual(
      holders.map(({ path }) => path),
      ["/etc/lab/cloud.env"],
    );
  });

  it("differ between two clouds in secrets only", () => {
    const other = listCloudFiles({ settings, secrets: placeholderSecrets });
    for (const { path, content: text } of nonEmpty(other)) {
      let ours = content(path);
      for (const word of [...hidden, front.certificate, tls.certificate])
        ours = ours.replaceAll(word, "x");
      assert.equal(ours, text, path);
    }
  });

  it("bind services to the management address only", () => {
    assert.equal(value("/etc/nova/nova.conf", "DEFAULT", "osapi_compute_listen"), "172.29.0.2");
    assert.equal(value("/etc/nova/nova.conf", "DEFAULT", "metadata_listen"), "172.29.0.2");
    assert.equal(value("/etc/neutron/neutron.conf", "DEFAULT", "bind_host"), "172.29.0.2");
    assert.equal(value("/etc/cinder/cinder.conf", "DEFAULT", "osapi_volume_listen"), "172.29.0.2");
    assert.equal(value("/etc/glance/glance-api.conf", "DEFAULT", "bind_host"), "172.29.0.2");
    assert.match(content("/etc/mysql/mariadb.conf.d/90-lab.cnf"), /bind-address = 127\.0\.0\.1/);
  });

  it("give Nova one host per zone and Cinder one backend per zone", () => {
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

  it("share the metadata secret between Nova and Neutron", () => {
    const nova = value("/etc/nova/nova.conf", "neutron", "metadata_proxy_shared_secret");
    const agent = value(
      "/etc/neutron/metadata_agent.ini",
      "DEFAULT",
      "metadata_proxy_shared_secret",
    );
    assert.equal(nova, "metadata-word");
    assert.equal(agent, nova);
  });

  it("pass the Neutron agent's host to the drivers that bind ports", () => {
    const host = value("/etc/neutron/neutron.conf", "DEFAULT", "host");
    assert.equal(value("/etc/nova/nova.conf", "lab", "network_host"), host);
    assert.equal(value("/etc/octavia/octavia.conf", "lab", "network_host"), host);
  });

  it("make Cinder use Nova's public interface, which extending an attached volume requires", () => {
    assert.equal(value("/etc/cinder/cinder.conf", "nova", "interface"), "public");
  });

  it("set RabbitMQ's node name before its first boot, and bind RabbitMQ to the loopback address", () => {
    const lines = content("/etc/rabbitmq/rabbitmq-env.conf").split("\n");
    assert.ok(lines.includes("NODENAME=rabbit@localhost"));
    assert.ok(lines.includes("NODE_IP_ADDRESS=127.0.0.1"));
  });

  it("set each service's type as in the catalog, as credentials with access rules require", () => {
    const types = getCloudOffering(settings).catalog.map(({ type }) => type);
    const told = [...files.values()]
      .filter((file) => file.content.includes("[keystone_authtoken]\n"))
      .map(({ path }) => value(path, "keystone_authtoken", "service_type") ?? path);
    assert.deepEqual(
      types.filter((type) => !told.includes(type)),
      ["identity", "block-storage"],
      "Keystone sends no requests, and Cinder is in the catalog under two types",
    );
    for (const type of told) assert.ok(types.includes(type), type);
  });

  it("resolve the names of all hosts", () => {
    assert.match(
      content("/etc/hosts"),
      /^172\.29\.0\.2 labcloud labcloud-a labcloud-b labcloud-c$/m,
    );
  });

  it("change with the networks", () => {
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

describe("TLS endpoints of the lab's cloud", () => {
  const site = content("/etc/nginx/conf.d/lab-tls.conf");

  it("exist for every API of the catalog, on a separate port that forwards to the API", () => {
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

  it("pass the original host and scheme to the services", () => {
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

  it("are not used between the services", () => {
    for (const { path, content: text } of files.values()) {
      if (!/\.(conf|ini)$/.test(path) || path.includes("/nginx/")) continue;
      assert.doesNotMatch(text, /https:|lab-tls/, path);
    }
    assert.equal(value("/etc/nova/nova.conf", "keystone", "region_name"), "lab");
  });

  it("use the certificate in the secrets, and keep the key readable only by root", () => {
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

describe("lab repositories", () => {
  it("serve packages and images at the addresses of the site", () => {
    assert.match(content("/etc/nginx/sites-available/lab"), /listen 172\.29\.0\.2:8081;/);
    assert.match(content("/etc/nginx/sites-available/lab"), /root \/srv\/site\/packages;/);
    const registry = content("/etc/docker/registry/config.yml");
    assert.match(registry, /addr: 172\.29\.0\.2:5001/);
    assert.match(registry, /rootdirectory: \/srv\/site\/registry/);
    assert.match(registry, /readonly:\n\s+enabled: true/);
  });

  it("replace Debian's default web site on port 80", () => {
    assert.ok(removedFiles.includes("/etc/nginx/sites-enabled/default"));
    assert.ok(listCloudLinks().some(({ path }) => path === "/etc/nginx/sites-enabled/lab"));
  });
});
