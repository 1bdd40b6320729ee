import { strict as assert } from "node:assert";
import { condition, checkReadiness, texts } from "../support/looks.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

const workload = (
  kind: string,
  spec: JsonObject,
  status: JsonObject,
  more: JsonObject = {},
): JsonObject => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "x", namespace: "demo", uid: "1", generation: 1, ...more },
  spec: { selector: { matchLabels: { app: "x" } }, ...spec },
  status: { observedGeneration: 1, ...status },
});
const owned = (
  kind: string,
  uid: string,
  rest: JsonObject,
  metadata: JsonObject = {},
): JsonObject => ({
  kind,
  metadata: { name: `${kind}-1`, namespace: "demo", ownerReferences: [{ uid }], ...metadata },
  ...rest,
});
const revision = { annotations: { "deployment.kubernetes.io/revision": "2" } };
const failingPod = (uid: string): JsonObject =>
  owned("Pod", uid, {
    status: {
      conditions: [
        condition("PodScheduled"),
        condition("Initialized"),
        condition("Ready", "False", "ContainersNotReady", "containers with unready status: [c]"),
      ],
      containerStatuses: [
        {
          name: "c",
          ready: false,
          state: { waiting: { reason: "ErrImagePull", message: "no such host" } },
        },
      ],
    },
  });

describe("kubernetes stand-in: readiness of a Deployment", () => {
  const set = (ready: number) =>
    owned(
      "ReplicaSet",
      "1",
      { spec: { replicas: 2 }, status: { readyReplicas: ready } },
      { uid: "2", ...revision },
    );
  const conditions = (available: string, reason: string) => ({
    conditions: [
      condition("Progressing", "True", reason),
      condition("Available", available, "MinimumReplicasUnavailable", "no minimum availability."),
    ],
  });

  it("requires the newest ReplicaSet to be available and the conditions to be met", async () => {
    const live = workload("Deployment", {}, conditions("True", "NewReplicaSetAvailable"), revision);
    const verdict = await checkReadiness("apps/v1/Deployment", live, set(2));
    assert.ok(verdict.ready);
    assert.deepEqual(texts(verdict), ["Deployment initialization complete"]);
  });

  it("waits until the controller has observed the newest specification", async () => {
    const live = workload("Deployment", {}, conditions("True", "NewReplicaSetAvailable"), {
      ...revision,
      generation: 2,
    });
    assert.equal((await checkReadiness("apps/v1/Deployment", live, set(2))).ready, false);
  });

  it("reports the messages of controller and pods", async () => {
    const live = workload("Deployment", {}, conditions("False", "ReplicaSetUpdated"), revision);
    const verdict = await checkReadiness("apps/v1/Deployment", live, set(0), failingPod("2"));
    assert.equal(verdict.ready, false);
    assert.deepEqual(verdict.problems, [
      "[MinimumReplicasUnavailable] no minimum availability.",
      "Minimum number of live Pods was not attained",
      "[Pod demo/Pod-1]: containers with unready status: [c][ErrImagePull] no such host",
    ]);
    assert.ok(
      texts(verdict).includes("Waiting for app ReplicaSet to be available (0/2 Pods available)"),
    );
  });

  it("waits for the rollout and for its pods", async () => {
    const rolling = workload("Deployment", {}, conditions("True", "ReplicaSetUpdated"), revision);
    assert.deepEqual((await checkReadiness("apps/v1/Deployment", rolling, set(2))).problems, [
      "Minimum number of Pods to consider the application live was not attained",
    ]);
    const few = workload("Deployment", {}, conditions("True", "NewReplicaSetAvailable"), revision);
    assert.match(
      (await checkReadiness("apps/v1/Deployment", few, set(1))).problems.join(),
      /did not become live/,
    );
  });

  it("waits for the claims that the Deployment mounts", async () => {
    const volumes = [{ persistentVolumeClaim: { claimName: "data" } }];
    const spec = { template: { spec: { volumes } } };
    const live = workload(
      "Deployment",
      spec,
      conditions("True", "NewReplicaSetAvailable"),
      revision,
    );
    const claim = (phase: string) => ({
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      status: { phase },
    });
    assert.match(
      (await checkReadiness("apps/v1/Deployment", live, set(2), claim("Pending"))).problems.join(),
      /"data"/,
    );
    assert.ok((await checkReadiness("apps/v1/Deployment", live, set(2), claim("Bound"))).ready);
  });
});

describe("kubernetes stand-in: readiness of other workloads", () => {
  const counts = {
    desiredNumberScheduled: 2,
    currentNumberScheduled: 2,
    updatedNumberScheduled: 2,
    numberAvailable: 2,
    numberReady: 2,
  };
  it("requires as many pods of a DaemonSet as nodes, of the newest revision", async () => {
    const done = await checkReadiness("apps/v1/DaemonSet", workload("DaemonSet", {}, counts));
    assert.deepEqual(
      [done.ready, texts(done)],
      [true, ["All replicas scheduled as expected. Replicas: 2"]],
    );
    const rolling = await checkReadiness(
      "apps/v1/DaemonSet",
      workload("DaemonSet", {}, { ...counts, numberAvailable: 1 }),
    );
    assert.deepEqual([rolling.ready, texts(rolling)], [false, ["Available: 1/2"]]);
    const fresh = { ...workload("DaemonSet", {}, {}), status: {} };
    assert.deepEqual(texts(await checkReadiness("apps/v1/DaemonSet", fresh)), [
      "DaemonSet status.observedGeneration not found",
    ]);
    const stale = workload("DaemonSet", {}, counts, { generation: 3 });
    assert.match(
      texts(await checkReadiness("apps/v1/DaemonSet", stale)).join(),
      /generation is 3, but latest observed generation is 1/,
    );
    const outdated = { ...counts, updatedNumberScheduled: 0 };
    const byHand = workload("DaemonSet", { updateStrategy: { type: "OnDelete" } }, outdated);
    assert.ok((await checkReadiness("apps/v1/DaemonSet", byHand)).ready);
  });

  it("requires all pods of a StatefulSet to be ready and of one revision", async () => {
    const status = {
      replicas: 2,
      readyReplicas: 2,
      currentReplicas: 2,
      updatedReplicas: 2,
      currentRevision: "a",
      updateRevision: "a",
    };
    const ok = workload("StatefulSet", { replicas: 2 }, status);
    assert.ok((await checkReadiness("apps/v1/StatefulSet", ok)).ready);
    const behind = workload("StatefulSet", { replicas: 2 }, { ...status, readyReplicas: 1 });
    const verdict = await checkReadiness("apps/v1/StatefulSet", behind);
    assert.deepEqual(verdict.problems, ["1 out of 2 replicas succeeded readiness checks"]);
    assert.deepEqual(texts(verdict), [
      "[1/2] Waiting for StatefulSet to create Pods (1/2 Pods ready)",
    ]);
    const rolling = workload(
      "StatefulSet",
      { replicas: 2 },
      { ...status, updateRevision: "b", observedGeneration: 2 },
      { generation: 2 },
    );
    assert.match(
      (await checkReadiness("apps/v1/StatefulSet", rolling)).problems.join(),
      /from revision "a" to revision "b"/,
    );
  });

  it("requires a Job to succeed, or fails with the Job", async () => {
    const job = (status: JsonObject): JsonObject => ({ ...workload("Job", {}, {}), status });
    assert.ok(
      (
        await checkReadiness(
          "batch/v1/Job",
          job({ startTime: "t", conditions: [condition("Complete")] }),
        )
      ).ready,
    );
    assert.equal((await checkReadiness("batch/v1/Job", job({}))).ready, false);
    const gaveUp = await checkReadiness(
      "batch/v1/Job",
      job({
        startTime: "t",
        failed: 6,
        conditions: [condition("Failed", "True", "BackoffLimitExceeded", "too often")],
      }),
    );
    assert.deepEqual(
      [gaveUp.failed, gaveUp.problems],
      [true, ["[BackoffLimitExceeded] too often"]],
    );
  });

  it("checks a Pod step by step and reports why it is not ready", async () => {
    const pod = (...conditions: JsonObject[]): JsonObject => ({
      metadata: { name: "p" },
      status: { conditions },
    });
    const unscheduled = await checkReadiness(
      "v1/Pod",
      pod(condition("PodScheduled", "False", "Unschedulable", "0/2 nodes")),
    );
    assert.deepEqual(texts(unscheduled), ['Waiting for Pod "p" to be scheduled', "0/2 nodes"]);
    const all = pod(condition("PodScheduled"), condition("Initialized"), condition("Ready"));
    assert.ok((await checkReadiness("v1/Pod", all)).ready);
    const ended = {
      ...pod(condition("PodScheduled"), condition("Initialized"), condition("Ready", "False")),
    };
    assert.ok(
      (
        await checkReadiness("v1/Pod", {
          ...ended,
          status: { ...(ended["status"] as JsonObject), phase: "Succeeded" },
        })
      ).ready,
    );
  });

  it("reports how a Pod's containers ended", async () => {
    const containerStatuses: JsonObject[] = [
      { name: "a", ready: false, state: { terminated: { reason: "Error", exitCode: 3 } } },
      {
        name: "b",
        ready: false,
        lastState: { terminated: { reason: "OOMKilled", exitCode: 137, finishedAt: "t" } },
      },
      { name: "c", ready: true },
      { name: "d", ready: false, state: { waiting: { reason: "ContainerCreating" } } },
    ];
    const conditions = [
      condition("PodScheduled"),
      condition("Initialized"),
      condition("Ready", "False"),
    ];
    const verdict = await checkReadiness("v1/Pod", {
      metadata: { name: "p" },
      status: { conditions, containerStatuses },
    });
    assert.deepEqual(verdict.problems, [
      '[Pod p]: container "a" completed with exit code 3\ncontainer "b" terminated at t (OOMKilled: exit code 137)',
    ]);
  });
});
