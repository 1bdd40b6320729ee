/** SSH agent with one key and a separate socket. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentProtocol, utils } from "ssh2";

export class KeyAgent {
  /** Number of signatures that clients requested. */
  signatures = 0;
  private readonly directory = mkdtempSync(join(tmpdir(), "stackadm-agent-"));
  readonly socket = join(this.directory, "socket");
  private readonly server: Server;

  private constructor(privateKey: string) {
    const key = utils.parseKey(privateKey);
    if (key instanceof Error) throw key;
    this.server = createServer((connection) => {
      const agent = new AgentProtocol(false);
      agent.on("identities", (request) => {
        agent.getIdentitiesReply(request, [key]);
      });
      agent.on("sign", (request, _key, data) => {
        this.signatures++;
        agent.signReply(request, key.sign(data));
      });
      connection.on("error", () => undefined);
      connection.pipe(agent).pipe(connection);
    });
  }

  static async start(privateKey: string): Promise<KeyAgent> {
    const agent = new KeyAgent(privateKey);
    await new Promise<void>((resolve) => agent.server.listen(agent.socket, resolve));
    return agent;
  }

  async stop(): Promise<void> {
    await new Promise((resolve) => this.server.close(resolve));
    rmSync(this.directory, { recursive: true });
  }
}
