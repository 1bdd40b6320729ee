import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listCloudFiles } from "../../../cloud/files.js";
import { getBootstrapEnvironment, getCloudOffering } from "../../../cloud/offering.js";
import { placeholderSecrets } from "../../../cloud/secrets.js";
import { readLabSettings } from "../../../settings.js";
import { Sandbox, type Outcome } from "../../../../../test/support/machine/sandbox.js";

const settings = readLabSettings({});

describe("lab/cloud/wait-for-ports.sh", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "lab-ports-"));
    writeFileSync(join(folder, "sleep"), "#!/bin/sh\necho waiting\nexec /bin/sleep 0.1\n");
    chmodSync(join(folder, "sleep"), 0o755);
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });
  const listen = async (port = 0) => {
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    return { server, port: (server.address() as AddressInfo).port };
  };

  it("returns at once if all ports listen", async () => {
    const { server, port } = await listen();
    const done = spawnSync("packages/lab/cloud/wait-for-ports.sh", [String(port), String(port)]);
    server.close();
    assert.deepEqual([done.status, done.stdout.toString()], [0, ""]);
  });

  it("waits until the last port listens", async () => {
    const one = await listen();
    const other = await listen();
    await new Promise((closed) => other.server.close(closed));
    const waiting = spawn(
      "packages/lab/cloud/wait-for-ports.sh",
      [String(one.port), String(other.port)],
      {
        env: { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` },
      },
    );
    const ended = once(waiting, "exit");
    await once(waiting.stdout, "data");
    assert.equal(waiting.exitCode, null);
    const again = await listen(other.port);
    assert.equal((await ended)[0], 0);
    one.server.close();
    again.server.close();
  });
});

describe("lab/cloud/first-boot.sh", () => {
  const programs = [
    ...["rabbitmqctl", "mysqladmin", "keystone-manage", "glance-manage", "placement-manage"],
    ...["octavia-db-manage", "cinder-manage", "neutron-db-manage", "nova-manage", "systemctl"],
    "barbican-db-manage",
  ];
  /** File in which Octavia's package registers drivers under their names. */
  const registered = "usr/lib/python3/dist-packages/octavia-11.0.0.egg-info/entry_points.txt";
  const drivers = (amphora: string): string =>
    `[octavia.amphora.drivers]\namphora = untouched\n\n[octavia.api.drivers]\namphora = ${amphora}\namphorav1 = one\n\n[others]\namphora = untouched\n`;
  let sandbox: Sandbox;
  beforeEach(() => {
    const stubs = Object.fromEntries(programs.map((name) => [name, "true"]));
    sandbox = new Sandbox({ ...stubs, python3: "true", mysql: 'cat >>"$root/sql"' });
    const values = Object.entries(
      getBootstrapEnvironment(settings, { ...placeholderSecrets, database: "db-word" }),
    );
    const lines = values.map(([name, value]) => `export ${name}=${value}\n`);
    sandbox.put("etc/lab/cloud.env", lines.join(""));
    sandbox.put("etc/systemd/system/os-keystone.service");
    sandbox.put("var/log/keep");
    sandbox.put(registered, drivers("octavia.api.drivers.amphora_driver.v2.driver:Amphora"));
  });
  afterEach(() => {
    sandbox.close();
  });
  const boot = (): Outcome =>
    sandbox.execute(
      readFileSync("packages/lab/cloud/first-boot.sh", "utf8")
        .replaceAll(" /srv/", ` ${sandbox.root}/srv/`)
        .replaceAll("(/usr/", `(${sandbox.root}/usr/`),
    );

  it("creates databases before their users, and the offering after the services start", () => {
    const { code, calls, stdout, stderr } = boot();
    assert.equal(code, 0, stderr);
    const at = (text: string) => {
      const index = calls.findIndex((call) => call.includes(text));
      assert.ok(index >= 0, text);
      return index;
    };
    const bootstrap = at("keystone-manage bootstrap");
    for (const later of [
      ...["glance-manage db_sync", "neutron-db-manage", "nova-manage api_db"],
      "barbican-db-manage upgrade",
    ]) {
      assert.ok(at("mysql") < at(later), later);
    }
    assert.ok(at("keystone-manage db_sync") < bootstrap);
    assert.ok(bootstrap < at("bootstrap.py identities"));
    assert.ok(at("systemctl start --no-block os-keystone.service") < at("bootstrap.py offering"));
    assert.equal(calls.at(-1)?.endsWith("bootstrap.py offering"), true);
    assert.equal(stdout.trimEnd().split("\n").at(-1), "done");
  });

  it("makes the lab's driver answer to the provider amphora, and changes no other name", () => {
    assert.equal(boot().code, 0);
    assert.equal(
      sandbox.file(registered),
      drivers("labdriver.load_balancers.octavia:LabProviderDriver"),
    );
  });

  it("fails if Octavia has no such name", () => {
    sandbox.put(registered, "[octavia.api.drivers]\noctavia = one\n");
    assert.notEqual(boot().code, 0);
  });

  it("creates Nova's databases in the order that Nova requires", () => {
    const nova = boot().calls.filter((call) => call.startsWith("nova-manage"));
    assert.deepEqual(
      nova.map((call) => call.split(" ").slice(1, 3).join(" ")),
      ["api_db sync", "cell_v2 map_cell0", "cell_v2 create_cell", "db sync"],
    );
  });

  it("creates a database for every service whose configuration names one", () => {
    boot();
    const sql = sandbox.file("sql") ?? "";
    const files = listCloudFiles({ settings, secrets: placeholderSecrets }).map(
      ({ content }) => content,
    );
    const names = new Set(
      [...files.join("\n").matchAll(/^connection = .*\/(\w+)$/gm)].map(([, name = ""]) => name),
    );
    assert.ok(names.size >= 7);
    for (const name of names) assert.ok(sql.includes(`create database ${name};`), name);
  });

  it("keeps the administrator's password out of all command arguments", () => {
    const env = getBootstrapEnvironment(settings, { ...placeholderSecrets, admin: "admin-word" });
    const lines = Object.entries(env).map(([name, value]) => `export ${name}=${value}\n`);
    sandbox.put("etc/lab/cloud.env", lines.join(""));
    assert.ok(!boot().calls.join("\n").includes("admin-word"));
  });

  it("fails with line number and command output, and does not start the services", () => {
    sandbox.stub("neutron-db-manage", 'echo "Access denied for user lab"; exit 1');
    const { code, stderr, calls } = boot();
    assert.notEqual(code, 0);
    assert.match(stderr, /first boot failed in line \d+/);
    assert.match(stderr, /Access denied for user lab/);
    assert.ok(!calls.some((call) => call.startsWith("systemctl start --no-block")));
  });

  it("refuses to start without its passwords", () => {
    sandbox.put("etc/lab/cloud.env", "export REGION=lab\n");
    const { code, stderr, calls } = boot();
    assert.notEqual(code, 0);
    assert.match(stderr, /DATABASE_PASSWORD/);
    assert.deepEqual(calls, []);
  });
});

/**
 * Python program that applies the offering to a fake cloud, which accepts every call. Prints the
 * calls as JSON.
 */
const recorder = `
import json, sys, types
calls = []
class Thing:
    def __init__(self, path): self.__dict__['path'] = path
    def __getattr__(self, name):
        if name in ('id', 'name'): return self.path + '.' + name
        return Thing(self.path + '.' + name)
    def __iter__(self): return iter([Thing(self.path + '[0]')])
    def __call__(self, *args, **kwargs):
        calls.append([self.path, [str(a) for a in args], kwargs])
        if self.path.endswith('identity.services'):
            return [types.SimpleNamespace(type='identity', id='s1')]
        if self.path.endswith('services'):
            return [types.SimpleNamespace(host=h, binary='nova-compute') for h in HOSTS]
        if self.path.endswith('hypervisors'):
            return [types.SimpleNamespace(name=h) for h in HOSTS]
        if self.path.endswith('roles'):
            return [types.SimpleNamespace(name='member', id='r1'), types.SimpleNamespace(name='admin', id='r2')]
        return Thing(self.path + '()')
    def __str__(self): return self.path
sys.modules['openstack'] = Thing('openstack')
sys.path.insert(0, 'packages/lab/cloud')
import bootstrap
bootstrap.subprocess = Thing('subprocess')
offering = json.load(sys.stdin)
HOSTS = [zone['host'] for zone in offering['zones']]
sys.stdout = sys.stderr
getattr(bootstrap, sys.argv[1])(Thing('cloud'), offering)
sys.__stdout__.write(json.dumps(calls, default=str))
`;

type Call = readonly [path: string, args: readonly string[], named: Record<string, unknown>];

describe("lab/cloud/bootstrap.py", () => {
  const calls = (part: "create_offering" | "create_identities"): Call[] => {
    const done = spawnSync("python3", ["-B", "-c", recorder, part], {
      input: JSON.stringify(getCloudOffering(settings)),
      encoding: "utf8",
      env: {
        ...process.env,
        ...getBootstrapEnvironment(settings, { ...placeholderSecrets, demo: "demo-word" }),
      },
    });
    assert.equal(done.status, 0, done.stderr);
    return JSON.parse(done.stdout) as Call[];
  };
  const named = (all: readonly Call[], path: string) =>
    all.filter(([called]) => called === `cloud.${path}`).map(([, , values]) => values);

  it("creates the complete offering", () => {
    const all = calls("create_offering");
    const { flavors, volumeTypes, externalNetworks, quotas } = getCloudOffering(settings);
    assert.deepEqual(named(all, "compute.create_flavor"), flavors);
    assert.deepEqual(
      named(all, "block_storage.create_type").map(({ name }) => name),
      volumeTypes.map(({ name }) => name),
    );
    assert.deepEqual(
      named(all, "network.create_network").map((made) => [
        ...[made["name"], made["is_router_external"], made["provider_physical_network"]],
      ]),
      externalNetworks.map(({ name, physicalNetwork }) => [name, true, physicalNetwork]),
    );
    assert.deepEqual(
      named(all, "network.create_subnet").map((made) => [
        ...[made["gateway_ip"], made["allocation_pools"], made["enable_dhcp"]],
      ]),
      externalNetworks.map(({ gateway, first, last }) => [
        ...[gateway, [{ start: first, end: last }], false],
      ]),
    );
    assert.deepEqual(named(all, "set_compute_quotas"), [quotas.compute]);
    assert.deepEqual(named(all, "set_network_quotas"), [quotas.network]);
  });

  it("assigns every zone its own host, once all hosts exist", () => {
    const all = calls("create_offering");
    const hosts = all.filter(([path]) => path === "cloud.compute.add_host_to_aggregate");
    assert.deepEqual(
      hosts.map(([, args]) => args[1]),
      settings.zones.map(({ host }) => host),
    );
    assert.deepEqual(
      named(all, "compute.create_aggregate").map((zone) => zone["availability_zone"]),
      settings.zones.map(({ name }) => name),
    );
  });

  it("gives the tenant only the roles member, which implies load balancer roles, and creator", () => {
    const all = calls("create_identities");
    const roles = all.filter(([path]) => path.endsWith("assign_project_role_to_user"));
    assert.equal(roles.length, 4, "two for the services, two for the tenant");
    const made = named(all, "identity.create_role").map(({ name }) => name);
    assert.deepEqual(made, ["service", "load-balancer_member", "creator"]);
    assert.equal(all.filter(([path]) => path === "cloud.identity.put").length, 1);
    const users = named(all, "identity.create_user");
    assert.deepEqual(
      users.map(({ name, password }) => [name, password]),
      [
        ["svc", "x"],
        ["demo", "demo-word"],
      ],
    );
  });

  it("publishes every service of the catalog on all three interfaces in both regions", () => {
    const all = calls("create_identities");
    const endpoints = named(all, "identity.create_endpoint");
    const wanted = getCloudOffering(settings).catalog.flatMap(({ urls }) =>
      Object.entries(urls).flatMap(([region, url]) =>
        ["public", "internal", "admin"].map((kind) => [url, kind, region]),
      ),
    );
    assert.deepEqual(new Set(wanted.map(([, , region]) => region)), new Set(["lab", "lab-tls"]));
    assert.deepEqual(
      endpoints.map((endpoint) => [endpoint["url"], endpoint["interface"], endpoint["region_id"]]),
      wanted,
    );
    const paths = all.map(([path]) => path);
    const regions = paths.indexOf("cloud.identity.post");
    assert.deepEqual(all[regions]?.[2], { json: { region: { id: "lab-tls" } } });
    assert.ok(regions < paths.indexOf("cloud.identity.create_endpoint"), "unknown regions");
  });

  it("creates no second identity service after Keystone's bootstrap command", () => {
    const made = named(calls("create_identities"), "identity.create_service").map(
      ({ type }) => type,
    );
    assert.deepEqual(
      made,
      getCloudOffering(settings)
        .catalog.map(({ type }) => type)
        .filter((type) => type !== "identity"),
    );
  });
});
