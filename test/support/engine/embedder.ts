import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { stringify } from "yaml";
import type { FailureCode } from "../../../base/failures/failure-codes.js";
import { Failure } from "../../../base/failures/failure.js";
import { Engine } from "./fake-engine.js";
import { createListeningService, type ListeningService } from "./listening-service.js";
import { startFakeCloud, type FakeCloud } from "../cloud/fake-openstack.js";
import { kubeconfigFileOf } from "../commands/kubeconfig.js";
import { prepareReadyCloud } from "../cloud/ready-cluster.js";
import { smallest } from "../config/spec.js";

/**
 * Program that uses the cluster service as a library. It has the project `it`, a fake engine, and a
 * fake cloud with enough quota.
 */
export class Embedder {
  readonly engine = new Engine();
  readonly directory = this.engine.directory;
  backend = pathToFileURL(join(this.directory, "backend")).href;
  private readonly stateHome = process.env["XDG_STATE_HOME"];

  private constructor(readonly cloud: FakeCloud) {
    process.env["XDG_STATE_HOME"] = join(this.directory, "state");
    this.write("Pulumi.yaml", "name: it\nruntime: nodejs\n");
    this.write("index.js", "module.exports = async () => ({});");
  }

  /** @param settings text of Pulumi.dev.yaml. @default settings of a small cluster */
  static async start(settings: string = settingsOf({})): Promise<Embedder> {
    const cloud = await startFakeCloud();
    prepareReadyCloud(cloud);
    const embedder = new Embedder(cloud);
    embedder.write("Pulumi.dev.yaml", settings);
    return embedder;
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.directory, file), text);
  }

  read(...path: string[]): string {
    return readFileSync(join(this.directory, ...path), "utf8");
  }

  /** Returns a path below the program's state directory. */
  state(...path: string[]): string {
    return join(this.directory, "state", "stackadm", ...path);
  }

  /** Returns the path of the kubeconfig of the stack `dev`. */
  kubeconfig(): string {
    const { backend, directory: projectDirectory } = this;
    return kubeconfigFileOf({
      stateHome: join(this.directory, "state"),
      backend,
      projectDirectory,
    });
  }

  /** @param more further environment variables of the service */
  service(more: NodeJS.ProcessEnv = {}): ListeningService {
    return createListeningService({
      env: {
        ...this.engine.environment(),
        ...this.cloud.environment(),
        HOME: this.directory,
        // The user may be logged in with `pulumi login`, in the home directory of the system's user.
        PULUMI_CREDENTIALS_PATH: this.directory,
        ...more,
      },
      backend: this.backend,
      projectDirectory: this.directory,
      program: join(this.directory, "index.js"),
    });
  }

  async stop(): Promise<void> {
    if (this.stateHome === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = this.stateHome;
    rmSync(this.directory, { recursive: true, force: true });
    await this.cloud.close();
  }
}

/** Returns settings of a small cluster that fits into the fake cloud. */
export const settingsOf = (changes: Readonly<Record<string, unknown>>): string =>
  stringify({
    config: {
      "it:cluster": {
        ...smallest,
        controlPlane: { flavor: "k8s-control-plane" },
        workers: { general: { flavor: "k8s-worker", count: 1 } },
        ...changes,
      },
    },
  });

/** Requires that the work fails with this code, and returns the error. */
export async function fails(work: Promise<unknown>, code: FailureCode): Promise<Failure> {
  const error = await work.then(
    () => assert.fail("ended well"),
    (failed: unknown) => failed,
  );
  assert.ok(error instanceof Failure, String(error));
  assert.equal(error.code, code, error.message);
  return error;
}
