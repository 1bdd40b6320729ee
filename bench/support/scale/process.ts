import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** What the fakes have done so far. */
export interface SiteUsage {
  /** CPU time in milliseconds. */
  readonly cpu: number;
  /** Calls to the cloud. */
  readonly calls: number;
  /** Those among them that change something. */
  readonly changes: number;
  /** Scripts on machines. */
  readonly scripts: number;
}

/** The process with everything that is fake. */
export class Site {
  private constructor(
    private readonly child: ChildProcess,
    /** The environment that names its cloud. */
    readonly environment: NodeJS.ProcessEnv,
    readonly authUrl: string,
  ) {}

  static async start(): Promise<Site> {
    const child = fork(join(__dirname, "site.ts"), [], { execArgv: ["--import", "tsx"] });
    const ended = once(child, "exit").then(() => {
      throw new Error("What is fake did not begin.");
    });
    const [said] = (await Promise.race([once(child, "message"), ended])) as [
      Pick<Site, "environment" | "authUrl">,
    ];
    ended.catch(() => undefined);
    return new Site(child, said.environment, said.authUrl);
  }

  async usage(): Promise<SiteUsage> {
    this.child.send("usage");
    const [said] = (await once(this.child, "message")) as [SiteUsage];
    return said;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, "exit");
    this.child.disconnect();
    await ended;
  }
}
