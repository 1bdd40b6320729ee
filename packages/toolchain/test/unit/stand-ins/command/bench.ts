/** SSH servers of one test, and the stand-in that connects to them. */
import { fromStruct } from "../../../../stand-ins/plugin/values.js";
import type { JsonObject } from "../../../../stand-ins/plugin/values.js";
import { SshServer, keyPair } from "../../../../../../test/engine/support/ssh-server.js";
import type { SshServerOptions } from "../../../../../../test/engine/support/ssh-server.js";
import { Harness, secret } from "./harness.js";

export const remoteType = "command:remote:Command";
/** Key that the servers of a bench accept. */
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

  /** Returns connection settings for the server: its host key, and a single attempt. */
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

  /** Creates a remote command; returns its properties. */
  async create(properties: JsonObject, timeout = 0): Promise<JsonObject> {
    const news = { ...properties, connection: secret(properties["connection"] ?? {}) };
    const response = await this.harness.create({ type: remoteType, news, timeout });
    return fromStruct(response.getProperties());
  }
}
