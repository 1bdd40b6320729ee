import assert from "node:assert/strict";
import { silentProgress } from "../../../../base/progress.js";
import { labAdd } from "../../../../packages/lab/lab.js";
import { failuresByDefault, failuresOf } from "../../support/kubernetes/cis.js";
import { etcdctl } from "../../support/kubernetes/etcd.js";
import { applied, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { inServer } from "../../support/machines/machines.js";
import { connectPods, webPods } from "../../support/kubernetes/pods.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;

const secret = `
apiVersion: v1
kind: Secret
metadata: {name: sealed, namespace: default}
stringData: {word: in-clear}
`;
const privileged = `
apiVersion: v1
kind: Pod
metadata: {name: open, namespace: default}
spec: {hostPID: true, containers: [{name: open, image: none.example/none}]}
`;

describe("a hardened cluster, on the lab", function () {
  this.timeout(20 * minutes);
  const stack = new Stack("hardened");
  const changed = (hardened: boolean): Record<string, unknown> => ({
    controlPlane: { flavor: "k8s-control-plane", count: 1 },
    workers: { general: { flavor: "k8s-worker", count: 1 } },
    kubernetes: { hardened },
    metricsServer: true,
    samples: true,
  });
  const controlPlane = (): string => stack.serverOf("control-plane-0");
  const kubectl = (line: string): Promise<string> => kubectlOn(controlPlane(), line);
  before(async () => {
    await labAdd("metrics-server", { progress: silentProgress });
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });
  const failing = async (): Promise<string[]> =>
    (await failuresOf(stack.outputs.nodes)).map(({ machine, number, title }) =>
      [machine, number, title].join(" "),
    );
  /**
   * Returns the result of verifying the serving certificate of a machine's kubelet with the
   * cluster's CA.
   */
  const served = (machine: string): Promise<string> =>
    inServer(
      stack.serverOf(machine),
      "openssl s_client -connect localhost:10250 -CAfile /etc/kubernetes/pki/ca.crt </dev/null 2>&1 | grep 'Verify return code' | head -n 1",
    );

  // `up` itself verifies that the load balancers answer and that the volume returns the written
  // data.
  it("starts, and its samples work", async () => {
    await stack.up(changed(true));
    await stack.prove(1);
    assert.ok(stack.outputs.samples);
  });

  it("passes all scored CIS items", async () => {
    assert.deepEqual(await failing(), []);
  });

  it("has no changes on a second `up`", async () => {
    await stack.again(changed(true));
  });

  it("stores Secrets encrypted in etcd", async () => {
    await kubectl(applied(secret));
    const key = "get --print-value-only /registry/secrets/default/sealed";
    const raw = await etcdctl(controlPlane(), `${key} | tr -cd '[:print:]'`);
    assert.match(raw, /^k8s:enc:secretbox:v1:key1:/);
    assert.doesNotMatch(raw, /in-clear/);
    const read = await kubectl("get secret sealed -o jsonpath='{.data.word}'");
    assert.equal(Buffer.from(read, "base64").toString(), "in-clear");
  });

  it("serves pod connections, logs and metrics from kubelets with certificates of the cluster's CA", async () => {
    for (const machine of ["control-plane-0", "general-0"])
      assert.match(await served(machine), /Verify return code: 0 \(ok\)/, machine);
    assert.ok((await webPods(controlPlane())).length > 0);
    await connectPods(controlPlane());
    const pods = await kubectl("-n kube-system get pods -l component=etcd -o name");
    const log = await kubectl(`-n kube-system logs ${pods.trim()} --tail=1`);
    assert.notEqual(log.trim(), "");
    const pending = await kubectl(
      "get csr --field-selector spec.signerName=kubernetes.io/kubelet-serving --no-headers",
    );
    assert.doesNotMatch(pending, /Pending/);
    const metrics = "get --raw /apis/metrics.k8s.io/v1beta1/nodes";
    assert.match(await kubectl(metrics), /hardened-general-0/);
  });

  it("refuses a pod that violates the baseline Pod Security Standard", async () => {
    const answer = await kubectl(applied(privileged).replace("'END'", "'END' 2>&1 || :"));
    assert.match(answer, /violates PodSecurity "baseline/);
  });

  it("disables and enables hardening again while it runs", async () => {
    await stack.up(changed(false));
    const soft = (await failuresOf(stack.outputs.nodes)).map(({ number }) => number);
    assert.deepEqual(soft, Object.keys(failuresByDefault));
    await connectPods(controlPlane());
    await stack.up(changed(true));
    assert.deepEqual(await failing(), []);
    await connectPods(controlPlane());
    await stack.prove(1);
  });

  it("is destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});
