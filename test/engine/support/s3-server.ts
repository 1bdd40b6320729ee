import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { getCachePath } from "../../../base/paths.js";
import { silentProgress } from "../../../base/progress.js";
import { makeWithGo } from "../../../packages/toolchain/make.js";

const module = "github.com/johannesboyne/gofakes3";
const bucket = "stacks";

/** S3 object store with one bucket, in memory. Compiled at the first use. */
export class S3Server {
  private constructor(
    private readonly server: ChildProcess,
    private readonly port: number,
  ) {}

  static async start(): Promise<S3Server> {
    const cache = getCachePath("test-tools");
    mkdirSync(cache, { recursive: true });
    const executable = await makeWithGo(
      {
        name: "gofakes3",
        version: "1.2.0",
        sources: [join(__dirname, "s3")],
        package: `${module}/cmd/gofakes3`,
        ldflags: "-s -w",
        expectedSeconds: 60,
      },
      { cache, progress: silentProgress },
    );
    const place = ["-host", "127.0.0.1:0", "-backend", "memory", "-initialbucket", bucket];
    const server = spawn(executable, place, { stdio: ["ignore", "ignore", "pipe"] });
    return new Promise((resolve, reject) => {
      server.once("exit", (code) => {
        reject(new Error(`${module} ended with ${String(code)}`));
      });
      createInterface(server.stderr).on("line", (line) => {
        const [, port] = /using port: (\d+)/.exec(line) ?? [];
        if (port !== undefined) resolve(new S3Server(server, Number(port)));
      });
    });
  }

  /** Environment variables with which an engine stores its stacks in this server. */
  get environment(): Record<string, string> {
    const query = `endpoint=http://127.0.0.1:${String(this.port)}&s3ForcePathStyle=true`;
    return {
      PULUMI_BACKEND_URL: `s3://${bucket}?${query}`,
      AWS_ACCESS_KEY_ID: "engine-tests",
      AWS_SECRET_ACCESS_KEY: "engine-tests",
      AWS_REGION: "us-east-1",
    };
  }

  stop(): void {
    this.server.kill();
  }
}
