import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** Work that the fakes have done since their start. */
export interface FakesUsage {
  /** CPU time in milliseconds. */
  readonly cpu: number;
  /** Number of calls to the cloud. */
  readonly calls: number;
  /** Number of calls that change something. */
  readonly changes: number;
  /** Number of scripts on machines. */
  readonly scripts: number;
}

/** Process that runs all fakes. */
export class FakesProcess {
  private constructor(
    private readonly child: ChildProcess,
    /** Environment that names the fake cloud. */
    readonly environment: NodeJS.ProcessEnv,
    readonly authUrl: string,
  ) {}

  static async start(): Promise<FakesProcess> {
    const child = fork(join(__dirname, "serve-fakes.ts"), [], { execArgv: ["--import", "tsx"] });
    const ended = once(child, "exit").then(() => {
      throw new Error("What is fake did not begin.");
    });
    const [said] = (await Promise.race([once(child, "message"), ended])) as [
      Pick<FakesProcess, "environment" | "authUrl">,
    ];
    ended.catch(() => undefined);
    return new FakesProcess(child, said.environment, said.authUrl);
  }

  async usage(): Promise<FakesUsage> {
    this.child.send("usage");
    const [said] = (await once(this.child, "message")) as [FakesUsage];
    return said;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, "exit");
    this.child.disconnect();
    await ended;
  }
}
