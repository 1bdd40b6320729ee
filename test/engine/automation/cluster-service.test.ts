import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { FailureCode } from "../../../base/failures/failure-codes.js";
import { Failure } from "../../../base/failures/failure.js";
import {
  createListeningService,
  type ListeningService,
} from "../../support/engine/listening-service.js";
import type { OperationEvent } from "../../../automation/engine/operation-events.js";
import {
  emptyProject,
  startFakeCloud,
  type FakeCloud,
} from "../../support/cloud/fake-openstack.js";
import { ServiceProject } from "../support/service-project.js";
import { until } from "../support/until.js";

const modules = resolve(__dirname, "..", "..", "..", "node_modules");

/**
 * Program with a minimal cluster: an identity, a resource whose creation takes SECONDS, and a
 * secret output.
 */
const program = `
const pulumi = require(${JSON.stringify(join(modules, "@pulumi/pulumi"))});
const command = require(${JSON.stringify(join(modules, "@pulumi/command"))});
const fs = require("node:fs");
const [seconds, mode] = fs.readFileSync(__dirname + "/behaviour", "utf8").split(" ");
module.exports = async () => {
  if (mode === "invalid") throw new pulumi.RunError("[INVALID_CONFIG] Pulumi.dev.yaml is not valid:\\n  cluster.image: is missing");
  if (mode === "stray") Promise.reject(new Error("not awaited"));
  const cluster = new pulumi.ComponentResource("stackadm:index:Cluster", "dev");
  new command.local.Command("dev-identity", { create: "printf 0123456789ab" }, { parent: cluster });
  const slow = new command.local.Command("slow", { create: "echo begun >&2; sleep " + seconds + "; echo done" });
  return { said: slow.stdout, kubeconfig: pulumi.secret("a-secret-kubeconfig") };
};
`;

describe("the cluster service on a real engine", function () {
  this.timeout(300_000);
  let project: ServiceProject;
  let directory: string;
  let cloud: FakeCloud;
  const behave = (seconds: number, mode = "well"): void => {
    writeFileSync(join(directory, "behaviour"), `${seconds} ${mode}`);
  };
  const service = (): ListeningService => createListeningService(project.service);

  /** Skips preflight and verification, because neither settings nor outputs describe a cluster. */
  const bare = { preflight: false, verify: false };

  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
    const environment = { ...cloud.environment(), OS_CLOUD: undefined };
    project = new ServiceProject("service", program, environment);
    ({ directory } = project);
    behave(0);
  });
  afterEach(async () => {
    await cloud.close();
    project.remove();
  });

  const failure = async (work: Promise<unknown>): Promise<Failure> => {
    try {
      await work;
    } catch (error) {
      assert.ok(error instanceof Failure, String(error));
      return error;
    }
    return assert.fail("ended well");
  };
  const expectCode = async (work: Promise<unknown>, code: FailureCode): Promise<Failure> => {
    const error = await failure(work);
    assert.equal(error.code, code, error.message);
    return error;
  };
  const starts = (event: OperationEvent, name: string): boolean =>
    event.type === "resource" && event.state === "started" && event.name === name;
  /**
   * Returns a listener, and a promise that resolves when the creation of the resource `slow`
   * starts.
   */
  const begun = (): { onEvent: (event: OperationEvent) => void; promise: Promise<void> } => {
    let onEvent: (event: OperationEvent) => void = () => undefined;
    const promise = new Promise<void>((ready) => {
      onEvent = (event) => {
        if (starts(event, "slow")) ready();
      };
    });
    return { onEvent, promise };
  };
  /** Prevents an unhandled rejection, so that the test can inspect the failure later. */
  const handled = <T>(work: Promise<T>): Promise<T> => {
    work.catch(() => undefined);
    return work;
  };
  const checkpointFile = () => project.checkpoint;
  /** Returns the names of the pending operations in the checkpoint. */
  const pending = (): string => {
    const text = existsSync(checkpointFile()) ? readFileSync(checkpointFile(), "utf8") : "";
    const [, operations = ""] = text.split('"pending_operations":');
    return [...operations.matchAll(/"urn": ?"[^"]*::([^":]+)"/g)].map(([, name]) => name).join();
  };

  it("creates, keeps and destroys a cluster, and marks secret outputs", async () => {
    const clusters = service();
    const events: OperationEvent[] = [];
    const onEvent = (event: OperationEvent): void => {
      events.push(event);
    };
    const { plan } = await clusters.preview("dev", { ...bare, onEvent });
    assert.ok(plan.some(({ operation, name }) => `${operation} ${name}` === "create slow"));
    assert.ok(events.some((event) => starts(event, "slow")));
    const { outputs, kubeconfigPath = "" } = await clusters.up("dev", { ...bare, onEvent });
    assert.deepEqual(outputs["said"], { value: "done", secret: false });
    assert.deepEqual(outputs["kubeconfig"], { value: "a-secret-kubeconfig", secret: true });
    assert.equal(readFileSync(kubeconfigPath, "utf8"), "a-secret-kubeconfig");
    assert.ok(!existsSync(`${checkpointFile()}.attrs`), "the state has attributes next to it");
    assert.deepEqual(await clusters.outputs("dev"), {
      said: "done",
      kubeconfig: "a-secret-kubeconfig",
    });
    await clusters.up("dev", { ...bare, expectNoChanges: true });
    const state = JSON.stringify(await clusters.state("dev"));
    assert.doesNotMatch(state + JSON.stringify(events), /a-secret-kubeconfig/);
    const gone = { clusters: ["dev"], deleted: [], kept: [] };
    assert.deepEqual(await clusters.destroy("dev"), { ...gone, held: true });
    assert.equal(await clusters.state("dev"), undefined);
    assert.ok(!existsSync(kubeconfigPath));
    assert.deepEqual(await clusters.destroy("dev"), { ...gone, held: false });
  });

  it("deletes leftover servers at destroy, and keeps and reports volumes", async () => {
    const clusters = service();
    await clusters.up("dev", bare);
    const of = (id: string) => ({ "stackadm-cluster": "dev", "stackadm-identity": id });
    let servers = [
      { id: "late", name: "dev-x", metadata: of("0123456789ab") },
      { id: "alive", name: "dev-x", metadata: of("ba9876543210") },
    ];
    const metadata = { "cinder.csi.openstack.org/cluster": "dev-0123456789ab" };
    const volumes = [{ id: "data", name: "pvc-1", metadata }];
    cloud.on("GET /compute/servers/detail", () => ({ body: { servers } }));
    cloud.on("GET /volumev3/volumes/detail", { body: { volumes } });
    cloud.on("DELETE /compute/servers/late", () => {
      servers = servers.filter(({ id }) => id !== "late");
      return { status: 204 };
    });
    const { deleted, kept } = await clusters.destroy("dev");
    assert.deepEqual(
      [deleted, kept].map((list) => list.map(({ id }) => id)),
      [["late"], ["data"]],
    );
    assert.equal(await clusters.state("dev"), undefined);
    // The other cluster with the same name has its state in another backend.
    const { message } = await expectCode(clusters.destroy("dev"), "STACK_NOT_FOUND");
    assert.match(message, /identity ba9876543210: 1 objects/);
    const deletions = cloud.seen.filter(({ method }) => method === "DELETE");
    assert.deepEqual(
      deletions.map(({ path }) => path),
      ["/compute/servers/late"],
    );
  });

  it("leaves the stack's settings file unchanged", async () => {
    await service().up("dev", bare);
    assert.equal(readFileSync(join(directory, "Pulumi.dev.yaml"), "utf8"), "config: {}\n");
  });

  it("reports the program's configuration error with exit code 2", async () => {
    behave(0, "invalid");
    const error = await expectCode(service().up("dev", bare), "INVALID_CONFIG");
    assert.match(error.message, /^Pulumi\.dev\.yaml is not valid:\n {2}cluster\.image: is missing/);
    assert.equal(error.exitCode, 2);
  });

  it("reports the error of a promise that the program does not await", async () => {
    behave(0, "stray");
    const error = await failure(service().up("dev", bare));
    assert.match(error.message, /not awaited/);
  });

  it("finishes the running step and keeps its result when the caller cancels", async () => {
    behave(4);
    const clusters = service();
    const cancel = new AbortController();
    const { onEvent, promise } = begun();
    const running = handled(clusters.up("dev", { ...bare, onEvent, signal: cancel.signal }));
    await Promise.race([promise, running]);
    cancel.abort();
    await expectCode(running, "CANCELLED");
    const pending = (await clusters.state("dev"))?.deployment.pending_operations ?? [];
    assert.equal(pending.length, 0);
    behave(0);
    assert.deepEqual((await clusters.up("dev", bare)).outputs["said"], {
      value: "done",
      secret: false,
    });
  });

  it("stops at once on the kill signal, and the next up succeeds", async () => {
    behave(60);
    const clusters = service();
    const [cancel, kill] = [new AbortController(), new AbortController()];
    const { onEvent, promise } = begun();
    const options = { ...bare, onEvent, signal: cancel.signal, killSignal: kill.signal };
    const running = handled(clusters.up("dev", options));
    await Promise.race([promise, running]);
    cancel.abort();
    await pause(500);
    const since = Date.now();
    kill.abort();
    await expectCode(running, "CANCELLED");
    assert.ok(Date.now() - since < 20_000);
    behave(0);
    await clusters.up("dev", bare);
  });

  it("repairs the lock, pending create and empty attributes of a killed engine", async () => {
    behave(60);
    const clusters = service();
    const { onEvent, promise } = begun();
    const running = handled(clusters.up("dev", { ...bare, onEvent }));
    await Promise.race([promise, running]);
    // The engine emits the event before it writes the pending operation. The repair needs the
    // pending operation.
    await until("the engine noted what it makes, and only that", () => pending() === "slow");
    const engines = project.engines();
    assert.ok(engines.length > 0, "no engine found");
    for (const pid of engines) process.kill(pid, "SIGKILL");
    await expectCode(running, "ENGINE_KILLED");
    // An engine that is killed during a write leaves an unreadable checkpoint with empty
    // attributes.
    writeFileSync(`${checkpointFile()}.attrs`, "");
    behave(0);
    const notes: string[] = [];
    const { outputs } = await clusters.up("dev", { ...bare, onNote: (text) => notes.push(text) });
    assert.deepEqual(outputs["said"], { value: "done", secret: false });
    assert.match(notes.join("\n"), /lock of process \d+ .*: the process no longer exists/);
    assert.match(notes.join("\n"), /interrupted; repaired what it left: Command 'slow'/);
    assert.ok(!existsSync(`${checkpointFile()}.attrs`), "the repaired state has attributes");
  });

  it("refuses an operation on a locked stack and reports the process with the lock", async () => {
    behave(8);
    const { onEvent, promise } = begun();
    const running = service().up("dev", { ...bare, onEvent });
    await Promise.race([promise, running]);
    const error = await expectCode(service().up("dev", bare), "STACK_LOCKED");
    assert.match(error.message, /process \d+ of \S+ on \S+, since/);
    await expectCode(service().unlock("dev"), "STACK_LOCKED");
    await running;
    assert.deepEqual(await service().unlock("dev"), []);
  });

  it("queues concurrent operations on one stack", async () => {
    const clusters = service();
    const [one, two] = await Promise.all([clusters.up("dev", bare), clusters.up("dev", bare)]);
    assert.deepEqual(one.outputs["said"], two.outputs["said"]);
  });

  it("refuses to read the outputs of a stack that does not exist", async () => {
    await expectCode(service().outputs("dev"), "STACK_NOT_FOUND");
  });
});
