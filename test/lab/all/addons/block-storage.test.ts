import assert from "node:assert/strict";
import { silentProgress } from "../../../../base/progress.js";
import { connectCloud, type CloudClient } from "../../../../openstack/client/cloud-client.js";
import { labAdd } from "../../../../packages/lab/lab.js";
import { until } from "../../support/cloud/foreign.js";
import { applied, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { changes } from "../../support/stack/lab-cluster.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;
const samples = "-n stackadm-samples";

const claim = (name: string, more: string): string => `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ${name}, namespace: default}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, ${more}}
`;

/** Pod that prints the content of the volume that was created from a snapshot. */
const reader = (image: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: reader, namespace: stackadm-samples}
spec:
  restartPolicy: Never
  securityContext: {runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: reader
    image: ${image}
    command: [cat, /data/proof]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: restored}}]
`;

describe("volumes, snapshots and node metrics, on the lab", function () {
  this.timeout(15 * minutes);
  const stack = new Stack("store");
  // Both workers are in one zone, because pods can only use volumes of their zone.
  const changed = {
    zones: ["zone-a"],
    storageClasses: [
      { name: "gold", default: true, type: "gold" },
      { name: "kept", reclaimPolicy: "Retain", volumeBindingMode: "Immediate" },
    ],
    blockStorage: { nodeVolumeAttachLimit: 20, snapshots: true },
    metricsServer: true,
    credential: { accessRules: ["controllers"] },
  };
  const ask = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());
  const jsonPath = (what: string, path: string): Promise<string> =>
    ask(`get ${what} -o jsonpath='${path}'`);
  const bound = (name: string): Promise<void> =>
    until(async () => (await jsonPath(`pvc ${name}`, "{.status.phase}")) === "Bound");
  const cinder = async (path: string): Promise<Record<string, unknown>[]> => {
    const answer = await stack.cluster.cloud.request("volumev3", "GET", path);
    return Object.values(answer as Record<string, Record<string, unknown>[]>)[0] ?? [];
  };
  /** Returns a client with the credential of the cluster's controllers. */
  const asControllers = async (): Promise<CloudClient> => {
    const conf = await jsonPath("-n kube-system secret cloud-config", "{.data.cloud\\.conf}");
    const text = Buffer.from(conf, "base64").toString();
    const of = (key: string): string =>
      new RegExp(`^${key} = "(.*)"$`, "m").exec(text)?.[1] ?? assert.fail(`no ${key}`);
    const env = {
      OS_AUTH_TYPE: "v3applicationcredential",
      OS_AUTH_URL: of("auth-url"),
      OS_REGION_NAME: of("region"),
      OS_APPLICATION_CREDENTIAL_ID: of("application-credential-id"),
      OS_APPLICATION_CREDENTIAL_SECRET: of("application-credential-secret"),
    };
    return connectCloud({ env });
  };
  before(async () => {
    await labAdd("snapshots", { progress: silentProgress });
    await labAdd("metrics-server", { progress: silentProgress });
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  it("use the default storage class, also in Cinder", async () => {
    await stack.up(changed);
    await stack.prove(1);
    const path = "{.spec.storageClassName} {.spec.volumeName}";
    const [name, volume = ""] = (await jsonPath(`${samples} pvc data`, path)).split(" ");
    assert.equal(name, "gold");
    const id = await jsonPath(`pv ${volume}`, "{.spec.csi.volumeHandle}");
    const found = (await cinder("/volumes/detail")).find((one) => one["id"] === id);
    assert.equal(found?.["volume_type"], "gold");
  });

  it("use a credential whose access rules allow only the controllers' requests", async () => {
    const theirs = await asControllers();
    await theirs.request("volumev3", "GET", "/volumes/detail");
    await theirs.request("load-balancer", "GET", "/lbaas/loadbalancers");
    const keypair = { keypair: { name: "of-a-thief" } };
    const network = { network: { name: "of-a-thief" } };
    const refused = [
      theirs.request("compute", "POST", "/os-keypairs", keypair),
      theirs.request("network", "POST", "/networks", network),
      theirs.request("image", "GET", "/images"),
    ];
    await Promise.all(refused.map((one) => assert.rejects(one, { status: 401 })));
  });

  it("have the configured attach limit on every node", async () => {
    const counts = await jsonPath("csinodes", "{.items[*].spec.drivers[*].allocatable.count}");
    assert.deepEqual(new Set(counts.split(" ")), new Set(["20"]));
  });

  it("keep their data when their pod moves to another machine", async () => {
    const proof = (): Promise<string> => ask(`${samples} exec writer-0 -- cat /data/proof`);
    const nodeOf = (): Promise<string> => jsonPath(`${samples} pod writer-0`, "{.spec.nodeName}");
    const [before, node] = [await proof(), await nodeOf()];
    await ask(`cordon ${node}`);
    await ask(`${samples} delete pod writer-0`);
    await ask(`${samples} rollout status statefulset writer --timeout=240s`);
    assert.notEqual(await nodeOf(), node);
    const lines = (await proof()).split("\n");
    assert.equal(lines.length, before.split("\n").length + 1);
    assert.equal(lines[0], before.split("\n")[0]);
    await ask(`uncordon ${node}`);
  });

  it("are restored from a snapshot with the same data", async () => {
    const written = await ask(`${samples} exec writer-0 -- cat /data/proof`);
    const snapshot =
      "apiVersion: snapshot.storage.k8s.io/v1\nkind: VolumeSnapshot\nmetadata: {name: before, namespace: stackadm-samples}\nspec: {source: {persistentVolumeClaimName: data}}\n";
    await ask(applied(snapshot));
    await until(
      async () => (await jsonPath(`${samples} vs before`, "{.status.readyToUse}")) === "true",
    );
    const source =
      "storageClassName: kept, dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: before}";
    const restored = claim("restored", source).replace("default", "stackadm-samples");
    await ask(applied(restored));
    await until(
      async () => (await jsonPath(`${samples} pvc restored`, "{.status.phase}")) === "Bound",
    );
    const pv = await jsonPath(`${samples} pvc restored`, "{.spec.volumeName}");
    await ask(`patch pv ${pv} -p '{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}'`);
    const id = await jsonPath(`pv ${pv}`, "{.spec.csi.volumeHandle}");
    const volume = (await cinder("/volumes/detail")).find((one) => one["id"] === id);
    const [made] = await cinder("/snapshots/detail");
    assert.equal(volume?.["snapshot_id"], made?.["id"]);
    const image = await jsonPath(`${samples} pod writer-0`, "{.spec.containers[0].image}");
    await ask(applied(reader(image)));
    const seen = (): Promise<string> => ask(`${samples} logs reader`).catch(() => "");
    await until(async () => (await seen()) !== "");
    assert.equal(await seen(), written);
    await ask(`${samples} delete pod reader`);
  });

  it("stay in Cinder if their class has the reclaim policy Retain", async () => {
    await ask(applied(claim("kept", "storageClassName: kept")));
    await bound("kept");
    const pv = await jsonPath("pvc kept", "{.spec.volumeName}");
    const id = await jsonPath(`pv ${pv}`, "{.spec.csi.volumeHandle}");
    await ask("delete pvc kept");
    await until(async () => (await jsonPath(`pv ${pv}`, "{.status.phase}")) === "Released");
    const there = async (): Promise<boolean> =>
      (await cinder("/volumes")).some((one) => one["id"] === id);
    assert.ok(await there());
    await ask(`delete pv ${pv}`);
    assert.ok(await there());
    await stack.cluster.cloud.request("volumev3", "DELETE", `/volumes/${id}`);
    await until(async () => !(await there()));
  });

  it("include the memory use of every node", async () => {
    const nodes = "get --raw /apis/metrics.k8s.io/v1beta1/nodes";
    await until(async () => (await ask(nodes)).includes('"usage"'));
    const { items } = JSON.parse(await ask(nodes)) as { items: { usage: { memory: string } }[] };
    assert.equal(items.length, 3);
    assert.ok(items.every(({ usage }) => parseInt(usage.memory) > 0));
  });

  it("have no changes on a second `up`", async () => {
    await stack.up(changed);
    assert.deepEqual(changes(stack.cluster.seen.events), {});
  });

  it("are deleted with the cluster, without leftovers", async () => {
    await stack.destroyAndLookAround();
    assert.deepEqual(await cinder("/snapshots"), []);
  });
});
