import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { utils } from "ssh2";
import type { JsonObject } from "../../../../stand-ins/plugin/values.js";
import { keyPair } from "../../../../../../test/engine/support/ssh-server.js";
import { until } from "../../../../../../test/engine/support/until.js";
import { Bench, clientKey } from "./bench.js";
import { KeyAgent } from "./key-agent.js";

/** Returns a port on which no process listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("SSH connection", () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.start();
  });
  afterEach(() => bench.stop());

  describe("host key", () => {
    it("accepts the pinned key", async () => {
      const server = await bench.serve();
      const outputs = await bench.create({
        connection: bench.connection(server),
        create: "echo ok",
      });
      assert.equal(outputs["stdout"], "ok");
    });

    it("refuses another key before sending anything to the server", async () => {
      const server = await bench.serve();
      const wrong = bench.connection(server, { hostKey: keyPair().public, dialErrorLimit: 1 });
      await assert.rejects(bench.create({ connection: wrong, create: "true" }), {
        message: "after 1 failed attempts: ssh: handshake failed: ssh: host key mismatch",
      });
      assert.deepEqual([server.logins, server.commands], [0, []]);
    });

    it("requests the pinned key's type if the server has several", async () => {
      const second = keyPair();
      const ecdsa = utils.generateKeyPairSync("ecdsa", { bits: 256 });
      const server = await bench.serve({ hostKeys: [ecdsa.private, second.private] });
      const outputs = await bench.create({
        connection: bench.connection(server, { hostKey: second.public }),
        create: "echo ok",
      });
      assert.equal(outputs["stdout"], "ok");
    });

    it("refuses a server without a key of the pinned type", async () => {
      const ecdsa = utils.generateKeyPairSync("ecdsa", { bits: 256 });
      const server = await bench.serve({ hostKeys: [ecdsa.private] });
      const pinned = bench.connection(server, { hostKey: keyPair().public });
      await assert.rejects(
        bench.create({ connection: pinned, create: "true" }),
        /no common algorithm/,
      );
    });

    it("refuses a line that is not a key", async () => {
      const server = await bench.serve();
      const broken = bench.connection(server, { hostKey: "nonsense" });
      await assert.rejects(
        bench.create({ connection: broken, create: "true" }),
        /failed to parse host key/,
      );
    });
  });

  describe("authentication", () => {
    it("reports the tried methods if the server refuses the key", async () => {
      const server = await bench.serve();
      const stranger = bench.connection(server, { privateKey: keyPair().private });
      await assert.rejects(bench.create({ connection: stranger, create: "true" }), {
        message:
          "after 0 failed attempts: ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain",
      });
    });

    it("uses a password", async () => {
      const server = await bench.serve({ authorizedKeys: [], password: "swordfish" });
      const { hostKey, host, port, user } = bench.connection(server);
      const rest = { hostKey, host, port, user, password: "swordfish" } as JsonObject;
      const outputs = await bench.create({ connection: rest, create: "echo in" });
      assert.equal(outputs["stdout"], "in");
    });

    it("uses the agent of SSH_AUTH_SOCK or of the connection, and a private key first", async () => {
      const server = await bench.serve();
      const { hostKey, host, port, user } = bench.connection(server);
      const agent = await KeyAgent.start(clientKey.private);
      try {
        const agentSocketPath = agent.socket;
        const connection = { hostKey, host, port, user, agentSocketPath } as JsonObject;
        const outputs = await bench.create({ connection, create: "echo by agent" });
        assert.deepEqual([outputs["stdout"], agent.signatures], ["by agent", 1]);
        const both = { ...connection, privateKey: keyPair().private, dialErrorLimit: 0 };
        await assert.rejects(bench.create({ connection: both, create: "true" }), /none publickey/);
        assert.equal(agent.signatures, 1);
      } finally {
        await agent.stop();
      }
    });

    it("reports an invalid private key and an unreachable agent at once", async () => {
      const server = await bench.serve();
      await assert.rejects(
        bench.create({ connection: bench.connection(server, { privateKey: "x" }), create: "true" }),
        { message: "ssh: no key found" },
      );
      const agent = bench.connection(server, { agentSocketPath: "/nonexistent/agent" });
      await assert.rejects(bench.create({ connection: agent, create: "true" }), {
        message: "dial unix /nonexistent/agent: connect: no such file or directory",
      });
      assert.equal(server.connections, 0);
    });
  });

  describe("dialling", () => {
    it("fails after the limit with the last reason", async () => {
      const port = await freePort();
      const silent = { host: "127.0.0.1", port, user: "root", dialErrorLimit: 2 };
      await assert.rejects(bench.create({ connection: silent, create: "true" }), {
        message: `after 2 failed attempts: dial tcp 127.0.0.1:${port}: connect: connection refused`,
      });
      assert.deepEqual(bench.harness.lines, [
        "Dial 1/2 failed: retrying",
        "Dial 2/2 failed: retrying",
      ]);
    });

    it("retries until the server is up", async () => {
      const port = await freePort();
      const host = keyPair();
      const patient = {
        host: "127.0.0.1",
        port,
        user: "root",
        privateKey: clientKey.private,
        hostKey: host.public,
        dialErrorLimit: -1,
      };
      const running = bench.create({ connection: patient, create: "echo up" });
      await until("dialled three times", () =>
        bench.harness.lines.includes("Dial 3/inf failed: retrying"),
      );
      await bench.serve({ port, hostKeys: [host.private] });
      assert.equal((await running)["stdout"], "up");
    });

    it("retries if the server closes the connection during the handshake", async () => {
      const server = await bench.serve({ dropFirst: 2 });
      const outputs = await bench.create({
        connection: bench.connection(server, { dialErrorLimit: 5 }),
        create: "echo third",
      });
      assert.equal(outputs["stdout"], "third");
      assert.equal(server.connections, 3);
    });

    it("limits the time of the connection, but not of the handshake with a busy machine", async () => {
      const server = await bench.serve();
      const slow = createServer((socket) => {
        setTimeout(() => {
          const on = connect(server.port, "127.0.0.1");
          socket.pipe(on).pipe(socket);
        }, 1_200);
      });
      await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
      const { port } = slow.address() as AddressInfo;
      const once = bench.connection(server, { dialErrorLimit: 0, perDialTimeout: 1 });
      const outputs = await bench
        .create({ connection: { ...once, port }, create: "echo slow" })
        .finally(() => slow.close());
      assert.equal(outputs["stdout"], "slow");
    });

    it("stops at the resource's time limit", async () => {
      const silent = {
        host: "127.0.0.1",
        port: await freePort(),
        user: "root",
        dialErrorLimit: -1,
      };
      await assert.rejects(bench.create({ connection: silent, create: "true" }, 0.5), {
        message: "context deadline exceeded",
      });
    });

    it("stops on the engine's cancel", async () => {
      const silent = {
        host: "127.0.0.1",
        port: await freePort(),
        user: "root",
        dialErrorLimit: -1,
      };
      const running = bench.create({ connection: silent, create: "true" });
      const refused = assert.rejects(running, { message: "context canceled" });
      await until("the command stand-in got there", () => !(bench.harness.lines.length === 0));
      bench.harness.provider.cancel();
      await refused;
    });

    it("connects through a proxy, each hop with its own key", async () => {
      const inner = await bench.serve();
      const bastionKey = keyPair();
      const bastion = await bench.serve({ authorizedKeys: [bastionKey.public] });
      const proxy = bench.connection(bastion, { privateKey: bastionKey.private });
      const outputs = await bench.create({
        connection: bench.connection(inner, { proxy }),
        create: "echo far",
      });
      assert.equal(outputs["stdout"], "far");
      assert.deepEqual([bastion.logins, bastion.commands, inner.commands], [1, [], ["echo far"]]);
    });

    it("fails if the connection through a proxy closes silently, as with a killed sshd", async () => {
      const inner = await bench.serve();
      const sockets: Socket[] = [];
      const relay = createServer((socket) => {
        sockets.push(socket);
        socket.pipe(connect(inner.port, "127.0.0.1")).pipe(socket, { end: false });
      });
      await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
      const { port } = relay.address() as AddressInfo;
      const connection = bench.connection(inner, { proxy: bench.connection(await bench.serve()) });
      const create = "echo begun; sleep 60";
      const running = bench.create({ connection: { ...connection, port }, create });
      const refused = assert.rejects(running, /remote command exited without exit status/);
      await until("the command runs", () => bench.harness.lines.includes("begun"));
      for (const socket of sockets) socket.end();
      await refused.finally(() => relay.close());
    });

    it("refuses a proxy with another host key", async () => {
      const inner = await bench.serve();
      const bastion = await bench.serve();
      const proxy = bench.connection(bastion, { hostKey: keyPair().public });
      await assert.rejects(
        bench.create({ connection: bench.connection(inner, { proxy }), create: "true" }),
        {
          message: /^proxy: after 0 failed attempts: .*host key mismatch$/,
        },
      );
      assert.equal(inner.connections, 0);
    });

    it("retries on a dead stream after another host key behind a proxy, and does not report the mismatch", async () => {
      const inner = await bench.serve();
      const bastion = await bench.serve();
      const wrong = { hostKey: keyPair().public, dialErrorLimit: 2 };
      const connection = bench.connection(inner, { ...wrong, proxy: bench.connection(bastion) });
      await assert.rejects(bench.create({ connection, create: "true" }), {
        message: "proxy: after 2 failed attempts: ssh: handshake failed: EOF",
      });
      assert.deepEqual([inner.connections, inner.logins], [1, 0]);
    });

    it("reports only EOF for a silent machine if the proxy hangs up", async () => {
      const bastion = await bench.serve();
      const silent = { host: "127.0.0.1", port: await freePort(), user: "root", dialErrorLimit: 4 };
      const connection = { ...silent, proxy: bench.connection(bastion) };
      const running = bench.create({ connection, create: "true" });
      const refused = assert.rejects(running, { message: "proxy: after 4 failed attempts: EOF" });
      const tried = /Dial from proxy 1\/4 failed/;
      await until("the proxy was asked", () => tried.test(JSON.stringify(bench.harness.lines)));
      bastion.disconnectAll();
      await refused;
    });
  });
});
