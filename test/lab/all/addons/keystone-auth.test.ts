import assert from "node:assert/strict";
import { silentProgress } from "../../../../base/progress.js";
import { labAdd } from "../../../../packages/lab/lab.js";
import { until } from "../../support/cloud/foreign.js";
import { askWithToken, issueToken, whoIs } from "../../support/cloud/keystone.js";
import { applied, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { changes } from "../../support/stack/lab-cluster.js";
import { inServer } from "../../support/machines/machines.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;

describe("Keystone users in a cluster, on the lab", function () {
  this.timeout(20 * minutes);
  const stack = new Stack("known");
  const changed = (kubernetes: object): Record<string, unknown> => ({
    controlPlane: { flavor: "k8s-control-plane", count: 1 },
    workers: { general: { flavor: "k8s-worker", count: 1 } },
    samples: false,
    kubernetes,
  });
  let token = "";
  const pods = { path: "/api/v1/namespaces/default/pods" };
  const secrets = { path: "/api/v1/namespaces/default/secrets" };
  const who = (of = token) => whoIs(stack.outputs.kubeconfig, of);
  const status = async (asked: { path: string }): Promise<number> =>
    (await askWithToken(stack.outputs.kubeconfig, token, asked)).status;
  before(async () => {
    await labAdd("keystone-auth", { progress: silentProgress });
    await stack.open();
    token = await issueToken(stack.cluster.environment.env);
  });
  after(async () => {
    await stack.cluster.close();
  });

  it("can authenticate after the first `up`, although the API server starts before the webhook", async () => {
    await stack.up(changed({ keystone: {} }));
    await stack.prove(1);
    const found = await who();
    assert.equal(found?.username, "demo");
    assert.ok(found.groups.includes(stack.cluster.cloud.projectId), found.groups.join());
    assert.ok(found.groups.includes("system:authenticated"));
  });

  it("cannot authenticate with an invalid token", async () => {
    assert.equal(await who(`${token.slice(0, -4)}AAAA`), undefined);
  });

  it("have only the permissions of their project's RoleBinding", async () => {
    assert.equal(await status(pods), 403);
    const binding = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: project, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: ${stack.cluster.cloud.projectId}}]
`;
    await kubectlOn(stack.serverOf("control-plane-0"), applied(binding));
    await until(async () => (await status(pods)) === 200);
    assert.equal(await status(secrets), 403);
  });

  it("are verified by a webhook that listens only on the control plane's loopback address", async () => {
    const listening = await inServer(stack.serverOf("control-plane-0"), "ss -Hltn sport = :8443");
    assert.match(listening, /127\.0\.0\.1:8443/);
    assert.doesNotMatch(listening, /0\.0\.0\.0:8443|\*:8443/);
  });

  it("cause no changes on a second `up`", async () => {
    await stack.up(changed({ keystone: {} }));
    assert.deepEqual(changes(stack.cluster.seen.events), {});
  });

  it("get the permissions of policy rules that the user adds to a running cluster", async () => {
    const policy = [
      { projects: ["demo"], roles: ["member"], resources: { "default/secrets": ["list"] } },
    ];
    await stack.up(changed({ keystone: { policy } }));
    await until(async () => (await status(secrets)) === 200);
    assert.equal(await status({ path: "/api/v1/namespaces/kube-system/secrets" }), 403);
    await stack.prove(1);
  });

  it("can no longer authenticate after the setting is removed, and the cluster still works", async () => {
    await stack.up(changed({}));
    await until(async () => (await who()) === undefined);
    const line = "-n kube-system get pods,secrets -o name";
    const left = await kubectlOn(stack.serverOf("control-plane-0"), line);
    assert.doesNotMatch(left, /keystone/);
    await stack.prove(1);
  });

  it("leave no objects after the cluster is destroyed", async () => {
    await stack.destroyAndLookAround();
  });
});
