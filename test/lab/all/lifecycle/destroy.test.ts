import assert from "node:assert/strict";
import { compareInventories, takeInventory } from "../../../../openstack/inventory/inventory.js";
import { stackadm } from "../../support/stack/command-line.js";
import { until } from "../../support/cloud/foreign.js";
import { applied, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;
/**
 * Number of volume claims that the test creates. Together with the claims of the samples, they
 * almost use up the project's quota of volumes.
 */
const claims = 16;

const claim = (name: string): string => `
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ${name}, namespace: default}
spec: {storageClassName: at-once, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`;

/**
 * StatefulSet with one pod on each worker, a claim that the controller recreates, and a
 * PodDisruptionBudget that forbids evictions.
 */
const database = (image: string): string => `
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  serviceName: db
  replicas: 2
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}}
      containers:
      - name: db
        image: ${image}
        args: [pause]
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: db, namespace: default}
spec: {maxUnavailable: 0, selector: {matchLabels: {app: db}}}`;

/**
 * Webhook without a server. The API server calls it before it deletes a PersistentVolume, so the
 * deletion fails.
 */
const deafWebhook = `
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: deaf}
webhooks:
- name: deaf.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 7
  clientConfig: {service: {name: deaf, namespace: default}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [persistentvolumes]}]`;

const atOnce = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: at-once}
provisioner: cinder.csi.openstack.org`;

describe("a cluster whose objects obstruct a destroy, on the lab", function () {
  this.timeout(20 * minutes);
  const stack = new Stack("stubborn");
  const ask = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());
  const isBound = async (): Promise<boolean> => {
    const phases = await ask("get pvc -o jsonpath='{.items[*].status.phase}'");
    return phases.split(" ").every((phase) => phase === "Bound");
  };
  const databaseRuns = (): Promise<string> => ask("rollout status statefulset db --timeout=240s");
  const webhook = (): Promise<string> =>
    ask(
      "get validatingwebhookconfiguration deaf -o jsonpath='{.webhooks[0].failurePolicy} {.webhooks[0].timeoutSeconds}'",
    );
  /** Returns the names of the admission policies that a teardown creates. */
  const policies = (): Promise<string> =>
    ask("get validatingadmissionpolicies,validatingadmissionpolicybindings -o name");
  /**
   * Requires that the cluster is in the same state as before the destroy, and accepts new objects.
   */
  const requireUsable = async (): Promise<void> => {
    assert.equal(await webhook(), "Fail 7");
    assert.equal(await policies(), "");
    await ask(applied(claim("new")));
    // Changes the StatefulSet, because its controller retries by itself only after up to 15
    // minutes.
    await ask(`annotate statefulset db touched=${String(Date.now())} --overwrite`);
    await databaseRuns();
    await until(isBound, 240);
  };
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  it("starts, and gets claims, a disruption budget and an unreachable webhook", async () => {
    await stack.up();
    const image = await ask(
      "-n stackadm-samples get deployment web -o jsonpath='{.spec.template.spec.containers[0].image}'",
    );
    const many = Array.from({ length: claims }, (_, index) => claim(`many-${String(index)}`));
    const objects = [atOnce, ...many, claim("held"), database(image), deafWebhook];
    await ask(applied(objects.join("")));
    await databaseRuns();
    await until(isBound, 240);
  });

  it("fails a destroy that a foreign finalizer blocks, reports the finalizer, and works as before", async () => {
    const patch = (finalizers: string): Promise<string> =>
      ask(`patch pvc held --type merge -p '{"metadata": {"finalizers": ${finalizers}}}'`);
    await patch('["example.com/keep"]');
    const { code, text } = await stackadm(stack.cluster, ["destroy", "--yes"]);
    assert.notEqual(code, 0, text);
    assert.match(text, /TEARDOWN_BLOCKED|volumes are left/);
    assert.match(text, /claim default\/held is being deleted, finalizers example\.com\/keep/);
    await patch("null");
    await requireUsable();
  });

  it("works again after `up` if a destroy was stopped after its teardown", async () => {
    const { service, name } = stack.cluster;
    const stop = new AbortController();
    const destroy = service.destroy(name, {
      signal: stop.signal,
      onEvent: (event) => {
        if (
          event.type === "resource" &&
          event.state === "finished" &&
          /control-plane-teardown$/.test(event.urn)
        )
          stop.abort();
      },
    });
    await assert.rejects(destroy, { code: "CANCELLED" });
    assert.match(await policies(), /stackadm-teardown/);
    assert.equal(await webhook(), "Ignore 1");
    await stack.up();
    await requireUsable();
    await stack.again();
  });

  it("is destroyed without leftovers while a worker is stopped", async () => {
    const { cloud } = stack.cluster;
    const worker = stack.serverOf("general-1");
    await cloud.request("compute", "POST", `/servers/${worker}/action`, { "os-stop": null });
    await until(async () => /general-1 +NotReady/.test(await ask("get nodes")), 180);
    const { code, text } = await stackadm(stack.cluster, ["destroy", "--yes"]);
    assert.equal(code, 0, text);
    const left = compareInventories(stack.initially, await takeInventory(cloud));
    assert.deepEqual(left, { added: [], removed: [] });
  });
});
