import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { ensureAgent, type SshAgent } from "../../../../automation/setup/ssh-agent.js";
import { toYaml } from "../../../../base/yaml.js";
import { BareCloudClient } from "../../support/bare/cloud.js";
import { BareKubernetesClient, getObjectPath } from "../../support/bare/kubernetes-client.js";
import { deleteAddedObjects } from "../../support/bare/destroy.js";
import { BareSshClient } from "../../support/bare/ssh-client.js";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import { keyPair, SshServer } from "../../../../test/engine/support/ssh-server.js";
import {
  emptyProject,
  startFakeCloud,
  type FakeCloud,
} from "../../../../test/support/cloud/fake-openstack.js";
import { readAgentKeys } from "../../../../automation/setup/ssh-agent.js";

describe("BareSshClient", () => {
  let directory: string;
  let agent: SshAgent;
  let [entry, inner]: SshServer[] = [];
  let machines: BareSshClient;
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "bare-"));
    agent = await ensureAgent({}, join(directory, "id_ed25519"));
    const authorizedKeys = await readAgentKeys(agent.socket);
    entry = await SshServer.start({ authorizedKeys, hostKeys: [keyPair().private] });
    const { port } = entry;
    // Simulates a machine that boots later than `entry`, the machine through which it is reached.
    inner = await SshServer.start({
      authorizedKeys,
      port,
      host: "127.0.0.2",
      dropFirst: 2,
      hostKeys: [keyPair().private],
    });
    machines = new BareSshClient(agent.socket, port);
  });
  after(async () => {
    machines.close();
    await Promise.all([entry?.stop(), inner?.stop()]);
    await agent.close();
    rmSync(directory, { recursive: true });
  });

  const hops = () => {
    const proxy = { host: "127.0.0.1", user: "debian", hostKey: entry?.hostKey ?? "" };
    return { proxy, hop: { ...proxy, host: "127.0.0.2", hostKey: inner?.hostKey ?? "", proxy } };
  };

  it("runs scripts on standard input through a jump host, with one connection per machine", async () => {
    const { proxy, hop } = hops();
    const script = { command: "bash -s create", input: 'printf "%s here" "$1"' };
    const said = await Promise.all([
      ...[hop, hop, proxy].map((one) => machines.run({ hop: one, ...script })),
    ]);
    assert.deepEqual(said, ["create here", "create here", "create here"]);
    assert.deepEqual([entry?.logins, inner?.logins], [1, 1]);
  });

  it("reports why a script failed", async () => {
    const { proxy: hop } = hops();
    const script = { hop, command: "bash -s", input: "echo reason: tired >&2; exit 3" };
    await assert.rejects(machines.run(script), /ended with 3:\nreason: tired/);
  });
});

describe("BareKubernetesClient", () => {
  const patches: {
    readonly url: string;
    readonly type: string | undefined;
    readonly body: string;
  }[] = [];
  let api: Server;
  let refusals: number[];
  let cluster: BareKubernetesClient;
  before(async () => {
    api = createServer((request, response) => {
      void text(request).then((body) => {
        patches.push({ url: request.url ?? "", type: request.headers["content-type"], body });
        response.writeHead(refusals.shift() ?? 200).end("{}");
      });
    });
    await new Promise<void>((ready) => api.listen(0, "127.0.0.1", ready));
    const server = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    cluster = new BareKubernetesClient(
      toYaml({
        apiVersion: "v1",
        kind: "Config",
        "current-context": "c",
        clusters: [{ name: "c", cluster: { server } }],
        users: [{ name: "u", user: {} }],
        contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      }),
    );
  });
  beforeEach(() => {
    patches.length = 0;
  });
  after(() => api.close());
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data", namespace: "samples" },
  };

  it("retries an apply until the namespace exists", async () => {
    refusals = [404, 503];
    await cluster.put(claim);
    assert.equal(patches.length, 3);
    assert.deepEqual(patches[2], {
      url: "/api/v1/namespaces/samples/persistentvolumeclaims/data?fieldManager=bench&force=true",
      type: "application/apply-patch+yaml",
      body: JSON.stringify(claim),
    });
  });

  it("fails at once for an invalid object", async () => {
    refusals = [422];
    await assert.rejects(cluster.put(claim), /PATCH/);
    assert.equal(patches.length, 1);
  });

  it("builds paths from the plural of a kind", () => {
    const at = (kind: string) =>
      getObjectPath({ apiVersion: "g/v1", kind, metadata: { name: "n" } }).split("/")[4];
    assert.deepEqual(["StorageClass", "NetworkPolicy", "DaemonSet"].map(at), [
      "storageclasses",
      "networkpolicies",
      "daemonsets",
    ]);
  });
});

describe("BareCloudClient", () => {
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
  });
  afterEach(() => cloud.close());
  const connect = () => connectCloud({ env: cloud.environment() });
  const asked = (method: string) =>
    cloud.seen.filter((one) => one.method === method && !one.path.includes("tokens"));

  it("creates concurrently requested rules of one group in one request, because Neutron refuses mixed groups", async () => {
    cloud.on("POST /network/security-group-rules", { status: 201, body: {} });
    const bare = new BareCloudClient(await connect());
    const rule = (port: number, group = "g") =>
      bare.make("openstack:networking/secGroupRule:SecGroupRule", {
        securityGroupId: group,
        direction: "ingress",
        ethertype: "IPv4",
        protocol: "tcp",
        portRangeMin: port,
        portRangeMax: port,
        remoteIpPrefix: "10.0.0.0/24",
      });
    await Promise.all([rule(22), rule(22, "h"), rule(6443)]);
    const calls = asked("POST").map(
      ({ body }) =>
        (body as { security_group_rules: { security_group_id: string }[] }).security_group_rules,
    );
    const groups = calls.map((rules) => rules.map((one) => one.security_group_id).join());
    assert.deepEqual(groups.sort(), ["g,g", "h"]);
    assert.deepEqual(calls.flat()[0], {
      security_group_id: "g",
      direction: "ingress",
      ethertype: "IPv4",
      protocol: "tcp",
      port_range_min: 22,
      port_range_max: 22,
      remote_ip_prefix: "10.0.0.0/24",
    });
  });

  it("waits neither for tags nor for a server to become active", async () => {
    cloud.on("POST /network/ports", {
      status: 201,
      body: { port: { id: "p", fixed_ips: [{ ip_address: "10.0.0.5" }] } },
    });
    cloud.on("PUT /network/ports/p/tags", { body: {} });
    cloud.on("POST /compute/servers", { status: 202, body: { server: { id: "s" } } });
    const bare = new BareCloudClient(await connect());
    const { outputs } = await bare.make("openstack:networking/port:Port", {
      name: "m",
      networkId: "n",
      fixedIps: [{ subnetId: "sub" }],
      tags: ["t"],
    });
    assert.deepEqual(outputs["allFixedIps"], ["10.0.0.5"]);
    const server = await bare.make("openstack:compute/instance:Instance", {
      name: "m",
      imageId: "i",
      flavorId: "f",
      networks: [{ port: "p" }],
      userData: "#",
    });
    assert.equal(server.id, "s");
    await bare.settled();
    assert.deepEqual(
      asked("PUT").map(({ body }) => body),
      [{ tags: ["t"] }],
    );
    const [, posted] = asked("POST");
    assert.deepEqual(posted?.body, {
      server: {
        name: "m",
        imageRef: "i",
        flavorRef: "f",
        networks: [{ port: "p" }],
        user_data: Buffer.from("#").toString("base64"),
      },
    });
  });

  it("deletes added objects, a volume only after its server", async () => {
    const there = new Set(["s", "v"]);
    const listed = (id: string, key: string) => () => ({
      body: { [key]: there.has(id) ? [{ id, name: id }] : [] },
    });
    cloud.on("GET /compute/servers/detail", listed("s", "servers"));
    cloud.on("GET /volumev3/volumes/detail", listed("v", "volumes"));
    cloud.on("DELETE /compute/servers/s", () => {
      void pause(50).then(() => there.delete("s"));
      return { status: 204 };
    });
    let early = 1;
    cloud.on("DELETE /volumev3/volumes/v", () => {
      if (there.has("s") || early-- > 0) return { status: 400, body: { message: "still there" } };
      there.delete("v");
      return { status: 202 };
    });
    await deleteAddedObjects(await connect(), []);
    assert.deepEqual([...there], []);
    const deleted = asked("DELETE").map(({ path }) => path);
    assert.deepEqual(deleted, ["/compute/servers/s", "/volumev3/volumes/v", "/volumev3/volumes/v"]);
  });
});
