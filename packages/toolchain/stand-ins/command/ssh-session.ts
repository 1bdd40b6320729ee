/**
 * Runs one command on an SSH connection. Sends the environment variables first, and waits until the
 * server has acknowledged each of them.
 */
import type { Client, ClientChannel } from "ssh2";
import type { OutputCollector } from "./output.js";

/**
 * Window size and packet size of a channel. Both are equal to the sizes in `exec` of the ssh2
 * library.
 */
const windowSize = 2 * 1024 * 1024;
const packetSize = 32 * 1024;

type Reply = (failed: boolean | Error) => void;

/**
 * Internal parts of the ssh2 library that its `exec` uses. `exec` sends environment variables
 * without waiting for the server's answer. But a refused variable must make the operation fail
 * before the command runs. So `RemoteShell` sends the requests one by one.
 */
interface LibraryClient {
  readonly _chanMgr: { add(opened: Opened): number };
  readonly _protocol: {
    session(local: number, window: number, packet: number): void;
    env(remote: number, name: string, value: string, wantReply: boolean): void;
    exec(remote: number, command: string, wantReply: boolean): void;
  };
}
type Opened = ((error: Error | undefined, channel?: LibraryChannel) => void) & { type?: string };
type LibraryChannel = ClientChannel & {
  readonly _callbacks: Reply[];
  readonly outgoing: { readonly id: number };
  subtype: string;
  allowHalfOpen: boolean;
};

export class RemoteShell {
  private constructor(
    private readonly library: LibraryClient,
    private readonly channel: LibraryChannel,
  ) {}

  static open(client: Client): Promise<RemoteShell> {
    const library = client as unknown as LibraryClient;
    return new Promise((resolve, reject) => {
      const opened: Opened = (error, channel) => {
        if (channel) resolve(new RemoteShell(library, channel));
        else reject(error ?? new Error("ssh: unexpected packet in response to channel open"));
      };
      opened.type = "session";
      client.once("close", () => {
        reject(new Error("EOF"));
      });
      library._protocol.session(library._chanMgr.add(opened), windowSize, packetSize);
    });
  }

  /** Sets an environment variable. Returns false if the server refuses the variable. */
  setEnvironment(name: string, value: string): Promise<boolean> {
    const answer = this.answer();
    this.library._protocol.env(this.channel.outgoing.id, name, value, true);
    return answer;
  }

  /** Runs the command until it exits. Returns the reason for a failure, or undefined. */
  async run(
    command: string,
    stdin: string | undefined,
    output: OutputCollector,
  ): Promise<string | undefined> {
    const { channel } = this;
    const answer = this.answer();
    const ended = this.end(output);
    this.library._protocol.exec(channel.outgoing.id, command, true);
    if (!(await answer)) return "ssh: command failed";
    channel.subtype = "exec";
    channel.allowHalfOpen = true;
    channel.end(stdin);
    return ended;
  }

  close(): void {
    this.channel.close();
  }

  /**
   * Returns whether the server accepts the request that is sent next. Returns false if the
   * connection closes.
   */
  private answer(): Promise<boolean> {
    return new Promise((resolve) => {
      this.channel._callbacks.push((failed) => {
        resolve(failed === false);
      });
      this.channel.once("close", () => {
        resolve(false);
      });
    });
  }

  private end(output: OutputCollector): Promise<string | undefined> {
    const { channel } = this;
    return new Promise((resolve) => {
      let status = "wait: remote command exited without exit status or exit signal";
      let succeeded = false;
      channel.on("data", (data: Buffer) => {
        output.add("stdout", data);
      });
      channel.stderr.on("data", (data: Buffer) => {
        output.add("stderr", data);
      });
      // A server may close its side before it has read the whole standard input.
      channel.on("error", () => undefined);
      channel.on("exit", (code: number | null, signal?: string, _dump?: string, text?: string) => {
        succeeded = code === 0;
        status = exitText(code, signal, text);
      });
      channel.once("close", () => {
        output.end();
        resolve(succeeded ? undefined : status);
      });
    });
  }
}

const signalNumbers: Readonly<Record<string, number>> = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  ILL: 4,
  ABRT: 6,
  FPE: 8,
  KILL: 9,
  SEGV: 11,
  PIPE: 13,
  ALRM: 14,
  TERM: 15,
};

function exitText(code: number | null, signal?: string, text?: string): string {
  if (code !== null) return `Process exited with status ${code}`;
  const name = signal?.replace(/^SIG/, "") ?? "";
  const reason = text ? `. Reason was: ${text}` : "";
  return `Process exited with status ${128 + (signalNumbers[name] ?? 0)} from signal ${name}${reason}`;
}
