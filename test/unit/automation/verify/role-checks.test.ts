import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureAgent, type SshAgent } from "../../../../automation/setup/ssh-agent.js";
import { KubernetesApi } from "../../../../automation/verify/kubernetes-client.js";
import { checkRoles } from "../../../../automation/verify/role-checks.js";
import { findEntrySshTarget, parseOutputs } from "../../../../automation/verify/cluster-outputs.js";
import { SshSessions } from "../../../../automation/verify/ssh-sessions.js";
import { SshServer } from "../../../engine/support/ssh-server.js";

describe("checkRoles", () => {
  const well = '{"health":"true","reason":""}';
  let directory: string;
  let agent: SshAgent;
  let member: Server;
  let status: number;
  let servers: SshServer[];
  const pod = (ready: string, message?: string) => ({
    status: { phase: "Running", conditions: [{ type: "Ready", status: ready, message }] },
  });
  const pods: Readonly<Record<string, object>> = {
    "c-0": pod("True"),
    "c-1": pod("False", "containers with unready status: [etcd]"),
  };
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "machines-"));
    agent = await ensureAgent({}, join(directory, "id_ed25519"));
    member = createServer(({ url = "" }, response) => {
      const pod = url.includes("/pods/") ? pods[url.split("/etcd-")[1] ?? ""] : undefined;
      if (pod) {
        response.end(JSON.stringify(pod));
        return;
      }
      response.writeHead(url === "/health" ? status : 404);
      response.end(status === 200 ? well : '{"health":"false","reason":"RAFT NO LEADER"}');
    });
    await new Promise<void>((ready) => member.listen(0, "127.0.0.1", ready));
  });
  after(async () => {
    member.close();
    await agent.close();
    rmSync(directory, { recursive: true });
  });
  beforeEach(async () => {
    status = 200;
    servers = [];
    const { port } = member.address() as AddressInfo;
    // All servers use the same port, like real machines. The first address is the entry point.
    for (const number of [1, 2, 3, 4])
      servers.push(
        await SshServer.start({
          host: `127.0.0.${number}`,
          authorizedKeys: agent.keys,
          ports: { 2381: port },
          ...(servers[0] && { port: servers[0].port }),
        }),
      );
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
  });
  const serverAt = (index: number): SshServer => servers[index] ?? assert.fail();

  const machine = (name: string, role: string, index: number) => ({
    name,
    role,
    zone: "a",
    serverId: name,
    address: `127.0.0.${index + 1}`,
    ...(index === 0 ? { sshHost: "127.0.0.1" } : { sshThrough: "b" }),
  });
  /** Returns machines behind a bastion: two etcd members, and a control plane and a worker. */
  const apart = () => ({
    nodes: [machine("c", "control-plane", 3), machine("w", "worker", 3)],
    bastion: [machine("b", "bastion", 0)],
    etcd: [machine("e-0", "etcd", 1), machine("e-1", "etcd", 2)],
  });
  const stacked = () => ({
    nodes: [0, 1, 2].map((index) => machine(`c-${index}`, "control-plane", index)),
  });
  /** Returns a client of the cluster's API, which lists the pods of two members. */
  const api = () => {
    const { port } = member.address() as AddressInfo;
    return new KubernetesApi({ server: `http://127.0.0.1:${port}` });
  };
  const keys = () => servers.map(({ hostKey }, index) => `127.0.0.${index + 1} ${hostKey}`);
  const look = async (machines: object, hostKeys = keys()) => {
    const outputs = parseOutputs({
      kubeconfig: "",
      clusterName: "dev",
      apiEndpoint: "",
      hostKeys,
      ...machines,
    });
    const found = findEntrySshTarget(outputs, { user: "debian", agentSocket: agent.socket });
    const entry = found && { ...found, port: serverAt(0).port };
    const sessions = new SshSessions();
    const checks = await checkRoles({
      outputs,
      entry,
      sessions,
      api: api(),
      timeout: 0,
    }).finally(() => {
      sessions.close();
    });
    return checks.map(({ name, where, ok, answer }) => [`${name} ${where}`, ok ? "" : answer]);
  };

  it("queries each member of etcd's own machines, and the entry machine, by SSH", async () => {
    assert.deepEqual(await look(apart()), [
      ["way in b", ""],
      ["etcd member e-0", ""],
      ["etcd member e-1", ""],
    ]);
  });

  it("uses the kubelet's report for stacked etcd, without SSH", async () => {
    const [well, unwell, unknown] = await look(stacked());
    assert.deepEqual(well, ["etcd member c-0", ""]);
    assert.deepEqual(unwell, [
      "etcd member c-1",
      "pod etcd-c-1 is Running, not Ready: containers with unready status: [etcd]",
    ]);
    assert.deepEqual(unknown, ["etcd member c-2", "there is no pod kube-system/etcd-c-2"]);
    assert.ok(servers.every(({ logins }) => logins === 0));
  });

  it("logs in once per machine", async () => {
    await look(apart());
    assert.deepEqual(
      servers.map(({ logins }) => logins),
      [1, 1, 1, 0],
    );
  });

  it("reports only the member whose machine is gone", async () => {
    await serverAt(2).stop();
    const [, first, second] = await look(apart());
    assert.deepEqual(first, ["etcd member e-0", ""]);
    assert.equal(second?.[0], "etcd member e-1");
    assert.match(second[1] ?? "", /127\.0\.0\.3:\d+ cannot be reached/);
  });

  it("reports the error of an unhealthy member", async () => {
    status = 503;
    const [, [, answer = ""] = []] = await look(apart());
    assert.match(answer, /^HTTP 503: .*RAFT NO LEADER/);
  });

  it("connects to no machine without a known host key, and never trusts on first use", async () => {
    const [, first, second] = await look(apart(), keys().slice(0, 2));
    assert.deepEqual(first, ["etcd member e-0", ""]);
    assert.match(second?.[1] ?? "", /cannot be reached by SSH: no route or no host key is known/);
    assert.equal(serverAt(2).connections, 0);
  });

  it("closes every connection and reconnects after a lost one", async () => {
    const sessions = new SshSessions();
    const { port, hostKey } = serverAt(1);
    const target = { host: "127.0.0.2", port, hostKey, user: "debian", agentSocket: agent.socket };
    await sessions.logIn(target);
    serverAt(1).disconnectAll();
    const ask = () => sessions.fetch(target, "127.0.0.1", { port: 2381, path: "/health" });
    // Repeat until this process has noticed the closed connection.
    while ((await ask().catch(() => undefined))?.status !== 200);
    assert.equal(serverAt(1).logins, 2);
    sessions.close();
    while (serverAt(1).open > 0) await new Promise((resolve) => setImmediate(resolve));
  });
});
