import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { stringify } from "yaml";
import type { ClusterOutputs } from "../../../../automation/verify/cluster-outputs.js";
import {
  describeFailedChecks,
  verifyCluster,
} from "../../../../automation/verify/verify-cluster.js";

const node = (name: string, ready = true, message = "waiting") => ({
  metadata: { name, labels: {} },
  spec: {},
  status: {
    nodeInfo: { kubeletVersion: "v1" },
    conditions: [{ type: "Ready", status: ready ? "True" : "False", message }],
  },
});

describe("verifyCluster", () => {
  let server: Server;
  let answers: Record<string, unknown>;
  const log = "/api/v1/namespaces/s/pods/writer-0/log?tailLines=20";
  beforeEach(async () => {
    answers = {
      "/api/v1/nodes": { items: [node("c"), node("w")] },
      [log]: "starting\nread back: written by writer-0\n",
    };
    server = createServer((request, response) => {
      const answer = answers[request.url ?? ""];
      const value: unknown = typeof answer === "function" ? (answer as () => unknown)() : answer;
      response.writeHead(value === undefined ? 404 : 200);
      response.end(typeof value === "string" ? value : JSON.stringify(value ?? {}));
    });
    await new Promise<void>((ready) => {
      server.listen(0, "127.0.0.1", ready);
    });
  });
  afterEach(() => {
    server.close();
  });
  const origin = (): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outputs = (samples = true): ClusterOutputs => ({
    kubeconfig: stringify({
      "current-context": "x",
      clusters: [{ name: "c", cluster: { server: `http://${origin()}` } }],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    }),
    clusterName: "dev",
    apiEndpoint: "",
    nodes: ["c", "w"].map((name) => ({ name, role: "", zone: "", address: "", serverId: "" })),
    hostKeys: [],
    samples: samples
      ? {
          namespace: "s",
          external: origin(),
          internal: "10.0.0.9",
          claim: "data",
          writerPod: "writer-0",
        }
      : undefined,
  });
  const look = (samples = true) => verifyCluster({ outputs: outputs(samples), timeout: 50 });

  it("passes with Ready nodes if there are no samples", async () => {
    const { ok, nodes, services, claims } = await look(false);
    assert.equal(ok, true);
    assert.equal(nodes.length, 2);
    assert.deepEqual([services, claims], [[], []]);
  });

  it("returns the fetched and read-back content", async () => {
    answers["/"] = "web-1\n";
    const { services, claims } = await look();
    assert.deepEqual(services[0], {
      name: "external service",
      where: `http://${origin()}/`,
      ok: true,
      answer: "HTTP 200: web-1",
    });
    assert.deepEqual(claims[0], {
      name: "claim",
      where: "s/data",
      ok: true,
      answer: "read back: written by writer-0",
    });
  });

  it("fails if a service returns other content", async () => {
    const { ok, services } = await look();
    assert.equal(ok, false);
    assert.match(services[0]?.answer ?? "", /HTTP 404/);
  });

  it("never reports an internal service as working that was not fetched", async () => {
    answers["/"] = "web-1";
    const { ok, services } = await look();
    assert.equal(ok, false);
    assert.match(services[1]?.answer ?? "", /no machine of the cluster can be reached/);
  });

  it("requests the web server by name from the ingress controller", async () => {
    answers["/"] = "web-1";
    const asked: (string | undefined)[] = [];
    server.on("request", ({ url, headers }) => {
      if (url === "/") asked.push(headers.host);
    });
    const { samples, ...others } = outputs();
    assert.ok(samples);
    const named = { ...samples, external: undefined, host: "web.example" };
    const look = (open: boolean) =>
      verifyCluster({
        outputs: { ...others, samples: named, ingress: { address: origin(), public: open } },
        timeout: 50,
      });
    const [, outside] = (await look(true)).services;
    assert.deepEqual(outside, {
      name: "ingress",
      where: `http://web.example/ at ${origin()}`,
      ok: true,
      answer: "HTTP 200: web-1",
    });
    assert.deepEqual(asked, ["web.example"]);
    const [, inside] = (await look(false)).services;
    assert.match(inside?.answer ?? "", /no machine of the cluster can be reached/);
    assert.equal(asked.length, 1);
  });

  it("skips the external service if there is none", async () => {
    const { samples, ...others } = outputs();
    assert.ok(samples);
    const inside = { ...samples, external: undefined };
    const { services } = await verifyCluster({
      outputs: { ...others, samples: inside },
      timeout: 50,
    });
    assert.deepEqual(
      services.map(({ name }) => name),
      ["internal service"],
    );
  });

  it("fails if the writer has not read back its data", async () => {
    answers[log] = "starting\n";
    const { ok, claims } = await look();
    assert.equal(ok, false);
    assert.match(claims[0]?.answer ?? "", /writer-0 has not read its data back yet/);
  });

  it("reports a node that stays not Ready, with its reason", async () => {
    answers["/api/v1/nodes"] = { items: [node("c"), node("w", false)] };
    const { ok, nodes } = await look(false);
    assert.equal(ok, false);
    assert.equal(nodes.find(({ name }) => name === "w")?.reason, "waiting");
  });

  it("reports a machine that has not joined", async () => {
    answers["/api/v1/nodes"] = { items: [node("c")] };
    assert.equal((await look(false)).ok, false);
  });

  it("waits for a late result", async () => {
    let looks = 0;
    answers["/api/v1/nodes"] = () => ({ items: [node("c"), node("w", (looks += 1) > 1)] });
    const { ok } = await verifyCluster({ outputs: outputs(false), timeout: 5_000 });
    assert.equal(ok, true);
    assert.equal(looks, 2);
  });

  it("accepts nodes that wait for the user's own pod network, but for no other reason", async () => {
    const unplugged = "reason:NetworkPluginNotReady message:cni plugin not initialized";
    const own = { outputs: outputs(false), timeout: 50, ownPodNetwork: true };
    answers["/api/v1/nodes"] = { items: [node("c", false, unplugged), node("w")] };
    const accepted = await verifyCluster(own);
    assert.equal(accepted.ok, true);
    assert.deepEqual(describeFailedChecks(accepted, outputs(false)), []);
    assert.equal((await look(false)).ok, false);
    answers["/api/v1/nodes"] = { items: [node("c", false, "kubelet stopped"), node("w")] };
    const refused = await verifyCluster(own);
    assert.equal(refused.ok, false);
    assert.deepEqual(describeFailedChecks(refused, outputs(false)), [
      "node c: not Ready: kubelet stopped",
    ]);
  });

  it("reports a member of etcd that could not be queried", async () => {
    const member = { name: "e", role: "etcd", zone: "", address: "10.0.0.9", serverId: "" };
    const apart = { ...outputs(false), etcd: [member] };
    const seen = await verifyCluster({ outputs: apart, timeout: 50 });
    assert.equal(seen.ok, false);
    assert.match(
      describeFailedChecks(seen, apart).join(),
      /^etcd member e: it cannot be reached by SSH/,
    );
  });

  it("reports each failed check, and nothing if all checks pass", async () => {
    assert.deepEqual(describeFailedChecks(await look(false), outputs(false)), []);
    answers["/api/v1/nodes"] = { items: [node("w", false)] };
    assert.deepEqual(describeFailedChecks(await look(), outputs()), [
      "node c: has not joined",
      "node w: not Ready: waiting",
      `external service http://${origin()}/: HTTP 404: {}`,
      "internal service http://10.0.0.9/: no machine of the cluster can be reached by SSH",
    ]);
  });
});
