/** Starts SSH servers for one test, and a stand-in that connects to these servers. */
import { decodeStruct } from "../../../../stand-ins/plugin/values.js";
import type { JsonObject } from "../../../../stand-ins/plugin/values.js";
import { SshServer, keyPair } from "../../../../../../test/engine/support/ssh-server.js";
import type { SshServerOptions } from "../../../../../../test/engine/support/ssh-server.js";
import { Harness, secret } from "./harness.js";

export const remoteType = "command:remote:Command";
/** Key pair of the client. All servers of a bench accept its public key. */
export const clientKey = keyPair();

export class Bench {
  private readonly servers: SshServer[] = [];
  private constructor(readonly harness: Harness) {}

  static async start(): Promise<Bench> {
    return new Bench(await Harness.start());
  }

  async stop(): Promise<void> {
    this.harness.stop();
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  async serve(options: SshServerOptions = {}): Promise<SshServer> {
    const server = await SshServer.start({ authorizedKeys: [clientKey.public], ...options });
    this.servers.push(server);
    return server;
  }

  /**
   * Returns the connection settings for a server, with the server's host key and a single
   * connection attempt.
   */
  connection(server: SshServer, more: JsonObject = {}): JsonObject {
    return {
      host: "127.0.0.1",
      port: server.port,
      user: "root",
      privateKey: clientKey.private,
      hostKey: server.hostKey,
      dialErrorLimit: 0,
      perDialTimeout: 10,
      ...more,
    };
  }

  /** Creates a remote command. Returns the properties of the new resource. */
  async create(properties: JsonObject, timeout = 0): Promise<JsonObject> {
    const news = { ...properties, connection: secret(properties["connection"] ?? {}) };
    const response = await this.harness.create({ type: remoteType, news, timeout });
    return decodeStruct(response.getProperties());
  }
}
