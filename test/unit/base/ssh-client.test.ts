import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { PassThrough, Readable, Writable } from "node:stream";
import { ensureAgent, type SshAgent } from "../../../automation/setup/ssh-agent.js";
import {
  runRemoteCommand,
  openTcpConnectionFromMachine,
  HostKeyMismatch,
  logIn,
  probeLogin,
  type RemoteCommandResult,
  type SshTarget,
} from "../../../base/ssh-client.js";
import { keyPair, SshServer } from "../../engine/support/ssh-server.js";

describe("SSH client", () => {
  let agent: SshAgent;
  let directory: string;
  let hop: SshServer;
  let machine: SshServer;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-login-"));
    agent = await ensureAgent({}, join(directory, "id_ed25519"));
    hop = await SshServer.start({ authorizedKeys: agent.keys });
    machine = await SshServer.start({ authorizedKeys: agent.keys });
  });
  after(async () => {
    await Promise.all([hop.stop(), machine.stop()]);
    await agent.close();
    rmSync(directory, { recursive: true });
  });

  const at = (server: SshServer, changes: Partial<SshTarget> = {}): SshTarget => ({
    host: "127.0.0.1",
    port: server.port,
    user: "debian",
    hostKey: server.hostKey,
    agentSocket: agent.socket,
    ...changes,
  });
  const stranger = { hostKey: keyPair().public };

  it("logs in with the agent's key to a machine that shows the expected host key", async () => {
    const client = await logIn(at(machine));
    client.destroy();
    assert.equal(machine.logins, 1);
  });

  it("closes the connection before sending anything if the host key differs", async () => {
    const logins = machine.logins;
    await assert.rejects(logIn(at(machine, stranger)), (error) => {
      assert.ok(error instanceof HostKeyMismatch);
      return /127\.0\.0\.1 answers with another host key/.test(error.message);
    });
    assert.equal(machine.logins, logins);
  });

  it("reports the server's reason for a refused login", async () => {
    const closed = await SshServer.start();
    try {
      await assert.rejects(logIn(at(closed)), /authentication methods failed/);
    } finally {
      await closed.stop();
    }
  });

  it("reports one error if several causes occur", async () => {
    // Both fail: the agent does not answer, and the machine refuses a login without a key.
    const agentSocket = join(directory, "no-agent");
    await assert.rejects(logIn(at(machine, { agentSocket })), /agent/);
    // An unhandled error would fail the test.
    await new Promise((resolve) => setTimeout(resolve, 100));
  });

  it("closes the client at once if the far end of a forwarded connection closes", async () => {
    const sockets: Socket[] = [];
    const relay = createServer((socket) => {
      sockets.push(socket);
      socket.pipe(connect(machine.port, "127.0.0.1")).pipe(socket, { end: false });
    });
    relay.listen(0, "127.0.0.1");
    await once(relay, "listening");
    const first = await logIn(at(hop));
    try {
      const stream = await openTcpConnectionFromMachine(
        first,
        "127.0.0.1",
        (relay.address() as AddressInfo).port,
      );
      const client = await logIn(at(machine), stream);
      const closed = once(client, "close");
      const began = Date.now();
      for (const socket of sockets) socket.end();
      await closed;
      assert.ok(Date.now() - began < 5_000);
    } finally {
      first.destroy();
      relay.close();
    }
  });

  describe("runRemoteCommand", () => {
    const run = async (
      command: string,
      input?: Readable,
      meanwhile?: () => void,
    ): Promise<RemoteCommandResult & { readonly printed: Buffer }> => {
      const client = await logIn(at(machine));
      const parts: Buffer[] = [];
      const output = new PassThrough().on("data", (part: Buffer) => parts.push(part));
      try {
        const ending = runRemoteCommand(client, command, { ...(input && { input }), output });
        meanwhile?.();
        return { ...(await ending), printed: Buffer.concat(parts) };
      } finally {
        client.destroy();
      }
    };

    it("passes output and input of any size unchanged", async () => {
      const much = randomBytes(3_000_000);
      const { code, printed } = await run("cat", Readable.from([much]));
      assert.equal(code, 0);
      assert.ok(printed.equals(much));
      assert.equal((await run("cat")).printed.length, 0);
    });

    it("returns exit code and standard error, even if the command did not read all input", async () => {
      const endless = Readable.from([Buffer.alloc(2_000_000)]);
      const { code, said } = await run("echo no room >&2; exit 3", endless);
      assert.deepEqual([code, said], [3, "no room\n"]);
    });

    it("returns no exit code if the connection is lost", async () => {
      const ended = run("sleep 60", undefined, () => {
        setTimeout(() => {
          machine.disconnectAll();
        }, 200);
      });
      const outcome = await ended.catch((error: unknown) => error);
      assert.ok(outcome instanceof Error || (outcome as RemoteCommandResult).code === undefined);
    });

    it("throws if the output cannot be written", async () => {
      const client = await logIn(at(machine));
      const full = new Writable({
        write: (_part, _encoding, done) => {
          done(new Error("no space left on device"));
        },
      });
      await assert.rejects(
        runRemoteCommand(client, "echo much", { output: full }),
        /no space left/,
      );
      client.destroy();
    });

    it("throws if the input ends early", async () => {
      const broken = new Readable({
        read() {
          this.destroy(new Error("the file is gone"));
        },
      });
      await assert.rejects(run("sleep 60", broken), /the file is gone/);
    });
  });

  it("reports at once that the server closed the connection", async () => {
    const busy = await SshServer.start({ dropFirst: 1 });
    try {
      const since = Date.now();
      await assert.rejects(logIn(at(busy)), /it closed the connection/);
      assert.ok(Date.now() - since < 5_000);
    } finally {
      await busy.stop();
    }
  });

  it("distinguishes the machine, a wrong host key, the proxy alone and no answer", async () => {
    const proxy = at(hop);
    assert.equal(await probeLogin({ ...at(machine), proxy }), "itself");
    assert.equal(await probeLogin({ ...at(machine, stranger), proxy }), "wrong host key");
    assert.equal(await probeLogin({ ...at(machine, { port: 1 }), proxy }), "the proxy alone");
    assert.equal(await probeLogin({ ...at(machine), proxy: at(hop, { port: 1 }) }), "no answer");
    assert.equal(await probeLogin({ ...at(machine), proxy: at(hop, stranger) }), "wrong host key");
    const closed = await SshServer.start();
    try {
      assert.equal(await probeLogin({ ...at(closed), proxy }), "no answer");
    } finally {
      await closed.stop();
    }
  });

  it("probes a directly reachable machine too, and uses the agent that the caller passes", async () => {
    const agentSocket = join(directory, "no-agent");
    const logins = hop.logins;
    assert.equal(await probeLogin(at(machine)), "itself");
    assert.equal(await probeLogin(at(machine), { agentSocket }), "no answer");
    const way = { ...at(machine, { agentSocket }), proxy: at(hop, { agentSocket }) };
    assert.equal(hop.logins, logins);
    assert.equal(await probeLogin(way, { agentSocket: agent.socket }), "itself");
  });

  it("closes the connection by keepalive if the machine falls silent", async () => {
    const sockets: Socket[] = [];
    const way = createServer((socket) => {
      const on = connect(machine.port, "127.0.0.1");
      sockets.push(socket, on);
      socket.pipe(on).pipe(socket);
    });
    await new Promise<void>((done) => way.listen(0, "127.0.0.1", done));
    const { port } = way.address() as AddressInfo;
    const often = { keepaliveInterval: 50, keepaliveCountMax: 3 };
    const client = await logIn(at(machine, { port }), undefined, often);
    const closed = once(client, "close");
    for (const socket of sockets) socket.unpipe().pause();
    await assert.rejects(closed, /Keepalive timeout/);
    for (const socket of sockets) socket.destroy();
    way.close();
  });

  it("leaves no connection open", async () => {
    await probeLogin({ ...at(machine), proxy: at(hop) });
    const end = Date.now() + 5_000;
    while (hop.open + machine.open > 0 && Date.now() < end)
      await new Promise((resolve) => setImmediate(resolve));
    assert.equal(hop.open + machine.open, 0);
  });

  it("fails to forward to a closed port", async () => {
    const client = await logIn(at(hop));
    await assert.rejects(openTcpConnectionFromMachine(client, "127.0.0.1", 1));
    client.destroy();
  });
});
