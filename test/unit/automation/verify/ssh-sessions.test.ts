import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server as HttpServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import ssh2, { type Connection } from "ssh2";
import { ensureAgent, type SshAgent } from "../../../../automation/setup/ssh-agent.js";
import {
  findEntrySshTarget,
  findHostKey,
  parseOutputs,
} from "../../../../automation/verify/cluster-outputs.js";
import { SshSessions, type FetchOptions } from "../../../../automation/verify/ssh-sessions.js";
import type { SshTarget } from "../../../../base/ssh-client.js";
import { Failure } from "../../../../base/failures/failure.js";
import { keyPair } from "../../../engine/support/ssh-server.js";

const listen = async (server: { listen(port: number, host: string, ready: () => void): unknown }) =>
  new Promise<void>((ready) => {
    server.listen(0, "127.0.0.1", ready);
  });

/** Starts commands on an SSH server. `talk` prints 8 lines in 400 ms, `hang` prints nothing. */
function acceptCommands(client: Connection): void {
  client.on("session", (accept) => {
    accept().on("exec", (acceptCommand, _, { command }) => {
      const channel = acceptCommand();
      if (command === "hang") return;
      let lines = 0;
      const timer = setInterval(() => {
        channel.write("line\n");
        if (++lines < 8) return;
        clearInterval(timer);
        channel.exit(0);
        channel.end();
      }, 50);
    });
  });
}

/** Starts an SSH server with an ed25519 host key that forwards connections and runs commands. */
function sshServer(silent = false): { server: ssh2.Server; hostKey: string; logins: string[] } {
  const keys = keyPair();
  const logins: string[] = [];
  const server = new ssh2.Server({ hostKeys: [keys.private] }, (client: Connection) => {
    client.on("error", () => undefined);
    acceptCommands(client);
    client.on("authentication", (context) => {
      if (context.method !== "publickey") {
        context.reject(["publickey"]);
        return;
      }
      logins.push(context.username);
      context.accept();
    });
    client.on("tcpip", (accept, reject, { destIP, destPort }) => {
      if (silent) return;
      const socket = connect(destPort, destIP);
      socket.once("connect", () => {
        const channel = accept();
        channel.pipe(socket).pipe(channel);
      });
      socket.once("error", () => {
        reject();
      });
    });
  });
  return { server, hostKey: keys.public.split(" ").slice(0, 2).join(" "), logins };
}

describe("fetch through a machine", () => {
  let directory: string;
  let agent: SshAgent;
  let web: HttpServer;
  const servers: ssh2.Server[] = [];
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "ssh-"));
    agent = await ensureAgent({}, join(directory, "id_ed25519"));
    web = createServer((request, response) => {
      asked.push(request.headers.host);
      response.writeHead(request.url === "/" ? 200 : 404);
      response.end("web-1");
    });
    await listen(web);
  });
  after(async () => {
    web.close();
    await agent.close();
    rmSync(directory, { recursive: true });
  });
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });
  const fetchThrough = async (target: SshTarget, address: string, options?: FetchOptions) => {
    const sessions = new SshSessions();
    return sessions.fetch(target, address, options).finally(() => {
      sessions.close();
    });
  };
  const asked: (string | undefined)[] = [];
  const webPort = (): number => (web.address() as AddressInfo).port;
  const start = async (silent = false) => {
    const made = sshServer(silent);
    servers.push(made.server);
    await listen(made.server);
    const { port } = made.server.address() as AddressInfo;
    const target = {
      host: "127.0.0.1",
      port,
      user: "debian",
      hostKey: made.hostKey,
      agentSocket: agent.socket,
    };
    return { ...made, target };
  };

  it("logs in with the agent's key and returns the answer", async () => {
    const { target, logins } = await start();
    assert.deepEqual(await fetchThrough(target, "127.0.0.1", { port: webPort() }), {
      status: 200,
      body: "web-1",
    });
    assert.ok(logins.includes("debian"));
    const host = "web.example";
    const named = await fetchThrough(target, "127.0.0.1", { port: webPort(), host });
    assert.equal(named.status, 200);
    assert.equal(asked.at(-1), `${host}:${String(webPort())}`);
  });

  it("refuses another host key before sending anything", async () => {
    const { target, logins } = await start();
    const other = keyPair().public;
    await assert.rejects(
      fetchThrough({ ...target, hostKey: other }, "127.0.0.1", { port: webPort() }),
      (error: unknown) =>
        error instanceof Failure &&
        error.code === "HOST_KEY_MISMATCH" &&
        /answers with another host key/.test(error.message),
    );
    assert.deepEqual(logins, []);
  });

  it("reports the address that the machine cannot reach", async () => {
    const { target } = await start();
    await assert.rejects(
      fetchThrough(target, "127.0.0.1", { port: 1 }),
      /127\.0\.0\.1:1 cannot be reached/,
    );
  });

  it("fails if the machine stays silent", async () => {
    const { target } = await start(true);
    await assert.rejects(
      fetchThrough(target, "127.0.0.1", { port: webPort(), timeout: 200 }),
      /does not answer to 127\.0\.0\.1/,
    );
  });

  const execute = async (command: string): Promise<string> => {
    const { target } = await start();
    const sessions = new SshSessions(undefined, 300);
    let printed = "";
    const output = new Writable({
      write: (part: Buffer, _, done) => {
        printed += part.toString();
        done();
      },
    });
    await sessions.execute(target, command, { output }).finally(() => {
      sessions.close();
    });
    return printed;
  };

  it("ends a command that transfers no data for too long", async () => {
    await assert.rejects(execute("hang"), {
      code: "COMMAND_FAILED",
      sentence: /A program on 127\.0\.0\.1 sent and received nothing for/,
    });
  });

  it("does not end a command that transfers data for longer than the limit", async () => {
    assert.equal(await execute("talk"), "line\n".repeat(8));
  });

  it("reports an unreachable machine", async () => {
    const target = {
      host: "127.0.0.1",
      port: 1,
      user: "x",
      hostKey: "ssh-ed25519 AAAA",
      agentSocket: "",
    };
    await assert.rejects(
      fetchThrough(target, "x"),
      /127\.0\.0\.1 cannot be reached by SSH: .*ECONNREFUSED/,
    );
  });
});

describe("findEntrySshTarget", () => {
  const { publicKey } = generateKeyPairSync("ed25519");
  const key = `ssh-ed25519 ${publicKey.export({ type: "spki", format: "der" }).toString("base64")}`;
  const outputs = parseOutputs({
    kubeconfig: "k",
    clusterName: "dev",
    apiEndpoint: "https://192.0.2.7:6443",
    nodes: [
      { name: "w", role: "worker", zone: "a", address: "10.0.0.6", serverId: "2" },
      {
        name: "c",
        role: "control-plane",
        zone: "a",
        address: "10.0.0.5",
        sshHost: "192.0.2.7",
        serverId: "1",
      },
    ],
    hostKeys: [`w,10.0.0.6 ${key}x`, `c,10.0.0.5,192.0.2.7 ${key}`],
  });
  const login = { user: "debian", agentSocket: "/s" };

  it("returns the first machine with an SSH address, with its pinned key", () => {
    assert.deepEqual(findEntrySshTarget(outputs, login), {
      host: "192.0.2.7",
      hostKey: key,
      ...login,
    });
  });

  it("returns nothing without an address or key, and never connects unverified", () => {
    const [worker] = outputs.nodes;
    assert.ok(worker);
    assert.equal(findEntrySshTarget({ ...outputs, nodes: [worker] }, login), undefined);
    assert.equal(findEntrySshTarget({ ...outputs, hostKeys: [] }, login), undefined);
  });

  it("matches a host's whole name only", () => {
    assert.equal(findHostKey([`192.0.2.77 ${key}`], "192.0.2.7"), undefined);
    assert.equal(findHostKey(["", `a,b ${key}`], "b"), key);
  });
});
