/**
 * Real SSH server on the loopback interface: runs commands in a shell, receives files by SFTP, and
 * forwards connections.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server, utils } from "ssh2";
import type { AuthContext, Connection, ServerChannel, Session } from "ssh2";
import { serveFiles } from "./sftp-files.js";

export interface SshServerOptions {
  /** Port. @default any free port */
  readonly port?: number;
  /** Address. @default 127.0.0.1 */
  readonly host?: string;
  /** Public keys that may log in, one line each. @default none */
  readonly authorizedKeys?: readonly string[];
  readonly password?: string;
  /** Environment variables that the server accepts (`AcceptEnv`). @default none, like sshd */
  readonly acceptEnvironment?: readonly string[];
  /** Environment of the commands. @default environment of this process */
  readonly environment?: NodeJS.ProcessEnv;
  /** Private host keys. @default a new ed25519 key */
  readonly hostKeys?: readonly string[];
  /** Number of connections that are closed directly after they were accepted. */
  readonly dropFirst?: number;
  /** Ports to which connections to other ports are forwarded. */
  readonly ports?: Readonly<Record<number, number>>;
}

export interface KeyPair {
  readonly private: string;
  readonly public: string;
}

export function keyPair(): KeyPair {
  // ssh2 cannot read about one in some hundred keys that it generates, because it drops a leading
  // zero byte. Such keys are generated again.
  for (;;) {
    const { private: secret, public: open } = utils.generateKeyPairSync("ed25519");
    const readable = [secret, open].every((key) => !(utils.parseKey(key) instanceof Error));
    if (readable) return { private: secret, public: open };
  }
}

export class SshServer {
  /** Commands that clients ran, in order. */
  readonly commands: string[] = [];
  logins = 0;
  /** Number of accepted connections, including dropped connections. */
  connections = 0;
  /** Home directory of the user, which SFTP clients see as `/`. */
  readonly files = mkdtempSync(join(tmpdir(), "stackadm-sftp-"));
  private readonly children = new Set<ChildProcess>();
  private readonly clients = new Set<Connection>();

  private constructor(
    private readonly server: Server,
    private readonly options: SshServerOptions,
    readonly hostKey: string,
  ) {
    server.on("connection", (client) => {
      this.accept(client);
    });
  }

  static async start(options: SshServerOptions = {}): Promise<SshServer> {
    const hostKeys = options.hostKeys ?? [keyPair().private];
    const server = new Server({ hostKeys: [...hostKeys] });
    const ssh = new SshServer(server, options, publicKey(hostKeys[0] ?? ""));
    await new Promise<void>((resolve) => {
      server.listen(options.port ?? 0, options.host ?? "127.0.0.1", resolve);
    });
    return ssh;
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === "object" && address !== null && "port" in address ? address.port : 0;
  }

  /** Number of open connections. */
  get open(): number {
    return this.clients.size;
  }

  /** Closes all open connections, like a network failure. */
  disconnectAll(): void {
    for (const client of this.clients) client.end();
  }

  async stop(): Promise<void> {
    for (const child of this.children) child.kill("SIGKILL");
    this.disconnectAll();
    await new Promise<void>((resolve) => {
      this.server.close(() => {
        resolve();
      });
    });
    rmSync(this.files, { recursive: true, force: true });
  }

  private accept(client: Connection): void {
    this.connections++;
    client.on("error", () => undefined);
    if (this.connections <= (this.options.dropFirst ?? 0)) {
      client.end();
      return;
    }
    this.clients.add(client);
    client.on("close", () => this.clients.delete(client));
    client.on("authentication", (context) => {
      this.authenticate(context);
    });
    client.on("ready", () => {
      this.logins++;
      client.on("session", (acceptSession) => {
        this.serveSession(acceptSession());
      });
      client.on("tcpip", (acceptChannel, reject, info) => {
        const target = connect(this.options.ports?.[info.destPort] ?? info.destPort, info.destIP);
        target.once("error", reject);
        target.once("connect", () => {
          target.off("error", reject);
          const channel = acceptChannel();
          target.on("error", () => channel.end());
          channel.on("error", () => target.destroy());
          // Like OpenSSH, keeps the channel open for the other direction after one side has ended.
          channel.pipe(target).pipe(channel, { end: false });
          target.once("end", () => {
            channel.eof();
          });
          channel.once("end", () => {
            channel.close();
          });
        });
      });
    });
  }

  private authenticate(context: AuthContext): void {
    const { authorizedKeys = [], password } = this.options;
    const methods: ("publickey" | "password")[] = ["publickey"];
    if (password !== undefined) methods.push("password");
    if (context.method === "password" && password !== undefined && context.password === password) {
      context.accept();
    } else if (context.method === "publickey" && knows(authorizedKeys, context)) {
      context.accept();
    } else {
      context.reject(methods);
    }
  }

  private serveSession(session: Session): void {
    const environment = { ...(this.options.environment ?? process.env) };
    const accepted = this.options.acceptEnvironment ?? [];
    session.on("env", (accept, reject, { key, val }) => {
      if (accepted.includes(key)) {
        environment[key] = val;
        accept();
      } else {
        // ssh2 passes undefined if the client requests no reply.
        (reject as (() => void) | undefined)?.();
      }
    });
    session.on("exec", (accept, _reject, { command }) => {
      this.commands.push(command);
      this.execute(command, accept(), environment);
    });
    session.on("sftp", (accept) => {
      serveFiles(accept(), this.files);
    });
  }

  private execute(command: string, channel: ServerChannel, env: NodeJS.ProcessEnv): void {
    const child = spawn("/bin/sh", ["-c", command], { env, cwd: this.files });
    this.children.add(child);
    child.stdin.on("error", () => undefined);
    channel.on("error", () => undefined);
    channel.pipe(child.stdin);
    child.stdout.pipe(channel, { end: false });
    child.stderr.pipe(channel.stderr, { end: false });
    child.once("close", (code, signal) => {
      this.children.delete(child);
      if (signal) channel.exit(signal.replace(/^SIG/, ""));
      else channel.exit(code ?? 255);
      channel.end();
    });
  }
}

function publicKey(privateKey: string): string {
  const key = utils.parseKey(privateKey);
  if (key instanceof Error) throw key;
  return `${key.type} ${key.getPublicSSH().toString("base64")}`;
}

function knows(authorized: readonly string[], context: AuthContext): boolean {
  if (context.method !== "publickey") return false;
  return authorized.some((line) => {
    const key = utils.parseKey(line);
    if (key instanceof Error || !key.getPublicSSH().equals(context.key.data)) return false;
    if (!context.signature || !context.blob) return true;
    return key.verify(context.blob, context.signature, context.hashAlgo);
  });
}
