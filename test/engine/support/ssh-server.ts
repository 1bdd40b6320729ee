/** A real SSH server on loopback for tests: runs commands in a shell, takes files by SFTP, forwards connections. */
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
  /** Default: any free port. */
  readonly port?: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Public keys that may log in, each one line. Default: none. */
  readonly authorizedKeys?: readonly string[];
  readonly password?: string;
  /** Variables the server takes (`AcceptEnv`). Default: none, as a stock sshd. */
  readonly acceptEnvironment?: readonly string[];
  /** Environment of the commands. Default: this process's. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Private host key; default: a new ed25519 key. */
  readonly hostKeys?: readonly string[];
  /** This many connections are closed right after they were accepted. */
  readonly dropFirst?: number;
  /** Ports that others stand for when a connection is forwarded. */
  readonly ports?: Readonly<Record<number, number>>;
}

export interface KeyPair {
  readonly private: string;
  readonly public: string;
}

/** A new ed25519 key pair. */
export function keyPair(): KeyPair {
  // One key in some hundred that ssh2 makes cannot be read by ssh2 (a leading zero octet is lost).
  for (;;) {
    const { private: secret, public: open } = utils.generateKeyPairSync("ed25519");
    const readable = [secret, open].every((key) => !(utils.parseKey(key) instanceof Error));
    if (readable) return { private: secret, public: open };
  }
}

export class SshServer {
  /** Commands that were asked for, in order. */
  readonly commands: string[] = [];
  /** Logins that succeeded. */
  logins = 0;
  /** Connections that were accepted, with those that were dropped. */
  connections = 0;
  /** Directory that SFTP shows as `/`. */
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

  /** Connections that are open now. */
  get open(): number {
    return this.clients.size;
  }

  /** Ends the connections that are open now, as a network failure would. */
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
          // As OpenSSH: when one side ends, the channel stays open for the other one.
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
        // Undefined when the client does not want an answer.
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
    const child = spawn("/bin/sh", ["-c", command], { env });
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
