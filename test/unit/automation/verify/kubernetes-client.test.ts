import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { stringify } from "yaml";
import { findApiProblem } from "../../../../automation/verify/find-api-problem.js";
import { KubernetesApi, readKubeAccess } from "../../../../automation/verify/kubernetes-client.js";
import { readNodes } from "../../../../automation/verify/read-nodes.js";
import { Authority } from "../../openstack/support/authority.js";

const encode = (text: string): string => Buffer.from(text).toString("base64");

const kubeconfig = (changes: Readonly<Record<string, unknown>> = {}): string =>
  stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "admin@dev",
    clusters: [
      { name: "other", cluster: { server: "https://192.0.2.1" } },
      {
        name: "dev",
        cluster: { server: "https://192.0.2.7:6443/", "certificate-authority-data": encode("CA") },
      },
    ],
    users: [
      {
        name: "admin",
        user: {
          "client-certificate-data": encode("CERT"),
          "client-key-data": encode("KEY"),
        },
      },
    ],
    contexts: [{ name: "admin@dev", context: { cluster: "dev", user: "admin" } }],
    ...changes,
  });

describe("readKubeAccess", () => {
  it("returns server, authority and credentials of the current context", () => {
    assert.deepEqual(readKubeAccess(kubeconfig()), {
      server: "https://192.0.2.7:6443",
      ca: "CA",
      cert: "CERT",
      key: "KEY",
      token: undefined,
    });
  });

  it("accepts a token", () => {
    const users = [{ name: "admin", user: { token: "t" } }];
    assert.equal(readKubeAccess(kubeconfig({ users })).token, "t");
  });

  it("refuses an invalid kubeconfig in one sentence without quoting it", () => {
    for (const text of ["secret: value", "secret: {value", "- secret: value\n secret"])
      assert.throws(() => readKubeAccess(text), /^Failure: [^\n]* kubeconfig is invalid\.$/);
  });
});

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
}

describe("KubernetesApi", () => {
  let server: Server;
  let api: KubernetesApi;
  let answers: Record<string, unknown>;
  const asked: Asked[] = [];
  beforeEach(async () => {
    answers = {};
    asked.length = 0;
    server = createServer((request, response) => {
      const [method, path] = [request.method ?? "", request.url ?? ""];
      asked.push({ method, path, headers: request.headers });
      const body = answers[path];
      response.writeHead(body === undefined ? 404 : body === "broken" ? 500 : 200);
      response.end(typeof body === "string" ? body : JSON.stringify(body ?? {}));
    });
    await new Promise<void>((ready) => {
      server.listen(0, "127.0.0.1", ready);
    });
    const { port } = server.address() as AddressInfo;
    api = new KubernetesApi({ server: `http://127.0.0.1:${port}`, token: "t" });
  });
  afterEach(() => {
    server.close();
  });

  it("returns existing objects, and undefined for missing ones", async () => {
    answers["/api/v1/pods"] = { items: [] };
    assert.deepEqual(await api.get("/api/v1/pods"), { items: [] });
    assert.equal(await api.get("/api/v1/nothing"), undefined);
    assert.equal(asked[0]?.headers.authorization, "Bearer t");
  });

  it("distinguishes a certificate of another authority from an API that does not answer", async () => {
    const authority = await Authority.found();
    const tls = createTlsServer(await authority.sign("api"), (_request, response) => {
      response.end("ok");
    });
    try {
      await new Promise<void>((ready) => {
        tls.listen(0, "127.0.0.1", ready);
      });
      const { port } = tls.address() as AddressInfo;
      const other = new KubernetesApi({ server: `https://127.0.0.1:${port}` });
      assert.equal((await findApiProblem(other))?.code, "KUBERNETES_UNTRUSTED");
      const right = new KubernetesApi({
        server: `https://127.0.0.1:${port}`,
        ca: authority.read("ca.pem"),
      });
      assert.equal((await right.send("GET", "/readyz")).body, "ok");
    } finally {
      tls.closeAllConnections();
      tls.close();
      authority.remove();
    }
    const unreachable = new KubernetesApi({ server: "https://127.0.0.1:1" });
    assert.equal((await findApiProblem(unreachable))?.code, "KUBERNETES_UNREACHABLE");
  });

  it("reports path and status of a refusal", async () => {
    answers["/x"] = "broken";
    await assert.rejects(api.get("/x"), /answered 500 to GET \/x: broken/);
    await assert.rejects(api.text("/y"), /answered 404 to GET \/y/);
  });

  it("reads a log as text", async () => {
    answers["/log"] = "one\ntwo\n";
    assert.equal(await api.text("/log"), "one\ntwo\n");
  });

  const node = (name: string, changes: Readonly<Record<string, unknown>> = {}) => ({
    metadata: {
      name,
      labels: { "stackadm.io/pool": "general", "topology.kubernetes.io/zone": "a" },
    },
    spec: { providerID: `openstack:///${name}` },
    status: {
      nodeInfo: { kubeletVersion: "v1.36.3" },
      addresses: [
        { type: "InternalIP", address: "10.0.0.5" },
        { type: "Hostname", address: name },
      ],
      conditions: [
        { type: "MemoryPressure", status: "False" },
        { type: "Ready", status: "True" },
      ],
    },
    ...changes,
  });

  it("returns nodes with the control plane first", async () => {
    const controlPlane = node("z", {
      metadata: { name: "z", labels: { "node-role.kubernetes.io/control-plane": "" } },
    });
    answers["/api/v1/nodes"] = { items: [node("b"), node("a"), controlPlane] };
    const nodes = await readNodes(api);
    assert.deepEqual(
      nodes.map(({ name, role }) => `${name}: ${role}`),
      ["z: control plane", "a: general", "b: general"],
    );
    assert.deepEqual(nodes[1], {
      name: "a",
      role: "general",
      version: "v1.36.3",
      internalAddress: "10.0.0.5",
      externalAddress: "",
      zone: "a",
      providerId: "openstack:///a",
      ready: true,
      reason: "",
    });
  });

  it("reports why a node is not ready", async () => {
    const late = node("late");
    const conditions = [{ type: "Ready", status: "False", message: "no network plugin" }];
    answers["/api/v1/nodes"] = {
      items: [
        { ...late, status: { ...late.status, conditions } },
        node("new", {
          spec: { taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized" }] },
        }),
        { ...node("silent"), status: { nodeInfo: { kubeletVersion: "v1" } } },
      ],
    };
    assert.deepEqual(
      (await readNodes(api)).map(
        ({ name, ready, reason }) => `${name} ${String(ready)}: ${reason}`,
      ),
      [
        "late false: no network plugin",
        "new false: the cloud controller manager has not initialized it",
        "silent false: no Ready condition",
      ],
    );
  });
});
