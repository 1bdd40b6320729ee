import { strict as assert } from "node:assert";
import {
  readinessChecksByKind,
  getTimeoutSeconds,
} from "../../../../../stand-ins/kubernetes/await/wait.js";
import { clusterOf, condition, checkReadiness } from "../support/looks.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

describe("kubernetes stand-in: readiness of services and storage", () => {
  const service = (spec: JsonObject, ingress: JsonObject[] = []): JsonObject => ({
    kind: "Service",
    metadata: { name: "s", namespace: "demo" },
    spec,
    status: { loadBalancer: { ingress } },
  });
  const endpoints = (...subsets: JsonObject[]): JsonObject => ({
    kind: "Endpoints",
    metadata: { name: "s" },
    subsets,
  });
  const up = endpoints({ addresses: [{ ip: "1" }] });
  const selector = { app: "x" };

  it("requires that no pod of a Service is unready", async () => {
    assert.ok((await checkReadiness("v1/Service", service({ selector }), up)).ready);
    const pending = endpoints({ addresses: [{ ip: "1" }], notReadyAddresses: [{ ip: "2" }] });
    assert.equal((await checkReadiness("v1/Service", service({ selector }), pending)).ready, false);
  });

  it("waits for a Service to settle, and again after every change", async () => {
    const of = readinessChecksByKind["v1/Service"];
    assert.ok(of);
    const readiness = of({ cluster: clusterOf(up), settle: 60_000 });
    assert.equal((await readiness(service({ selector }))).ready, false);
    assert.equal((await readiness(service({ selector }))).ready, false);
  });

  it("requires an address of a Service of type LoadBalancer", async () => {
    const type = "LoadBalancer";
    const waiting = await checkReadiness("v1/Service", service({ type, selector }), up);
    assert.deepEqual(waiting.problems, [
      "Service was not allocated an IP address; does your cloud provider support this?",
    ]);
    assert.ok(
      (await checkReadiness("v1/Service", service({ type, selector }, [{ ip: "192.0.2.1" }]), up))
        .ready,
    );
    assert.equal((await checkReadiness("v1/Service", service({ type }))).ready, false);
  });

  it("accepts a Service without pods at once", async () => {
    const specs: JsonObject[] = [{ clusterIP: "None", selector }, { type: "ExternalName" }, {}];
    for (const spec of specs) {
      assert.ok((await checkReadiness("v1/Service", service(spec))).ready);
    }
  });

  it("requires a PersistentVolumeClaim to be bound or to wait for its first consumer", async () => {
    const claim = (phase: string, storageClassName?: string): JsonObject => ({
      metadata: { name: "c" },
      spec: storageClassName === undefined ? {} : { storageClassName },
      status: { phase },
    });
    const gold = (volumeBindingMode: string): JsonObject => ({
      kind: "StorageClass",
      metadata: { name: "gold" },
      volumeBindingMode,
    });
    const kind = "v1/PersistentVolumeClaim";
    assert.ok((await checkReadiness(kind, claim("Bound", "gone"))).ready);
    assert.ok(
      (await checkReadiness(kind, claim("Pending", "gold"), gold("WaitForFirstConsumer"))).ready,
    );
    assert.equal(
      (await checkReadiness(kind, claim("Pending", "gold"), gold("Immediate"))).ready,
      false,
    );
    assert.match(
      (await checkReadiness(kind, claim("Pending", "gone"))).problems.join(),
      /getting storageclass "gone"/,
    );
    assert.match(
      (await checkReadiness(kind, claim("Pending"))).problems.join(),
      /no storage class found/,
    );
  });

  it("checks the status of PersistentVolume, Namespace, Ingress and CustomResourceDefinition", async () => {
    const cases: [string, JsonObject, JsonObject][] = [
      ["v1/PersistentVolume", { phase: "Available" }, { phase: "Pending" }],
      ["v1/Namespace", { phase: "Active" }, {}],
      ["networking.k8s.io/v1/Ingress", { loadBalancer: { ingress: [{ ip: "1" }] } }, {}],
      [
        "apiextensions.k8s.io/v1/CustomResourceDefinition",
        { conditions: [condition("Established")] },
        { conditions: [condition("NamesAccepted", "False", "Taken", "by others")] },
      ],
    ];
    for (const [kind, good, bad] of cases) {
      assert.ok((await checkReadiness(kind, { status: good })).ready, kind);
      const verdict = await checkReadiness(kind, { status: bad });
      assert.equal(verdict.ready, false, kind);
      assert.ok(verdict.problems.length > 0, kind);
    }
  });

  it("uses the timeout of customTimeouts, the annotation or the default", () => {
    const annotated = { metadata: { annotations: { "pulumi.com/timeoutSeconds": "90" } } };
    assert.equal(getTimeoutSeconds(15, annotated), 15);
    assert.equal(getTimeoutSeconds(0, annotated), 90);
    assert.equal(getTimeoutSeconds(0, {}), 600);
  });
});
