import assert from "node:assert/strict";
import { until } from "../cloud/foreign.js";
import { applied, kubectlOn } from "./kubectl.js";
import { connect, webPods } from "./pods.js";

const policy = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web-from-granted-only, namespace: stackadm-samples}
spec:
  podSelector: {matchLabels: {app.kubernetes.io/name: web}}
  policyTypes: [Ingress]
  ingress: [{from: [{podSelector: {matchLabels: {access: granted}}}]}]
`;
const remove = "-n stackadm-samples delete networkpolicy web-from-granted-only";

/**
 * Applies a NetworkPolicy that lets only pods with a label connect to the web pods of the samples.
 * Requires that the policy works on every node, and that all pods can connect again after the
 * policy is deleted.
 */
export async function provePolicy(serverId: string): Promise<void> {
  const pods = await webPods(serverId);
  const [granted, other] = pods;
  assert.ok(granted && other && granted.node !== other.node, JSON.stringify(pods));
  const reaches = async (from: typeof granted, to: typeof granted): Promise<boolean> =>
    connect(serverId, from, `${to.address}:8080`).then(
      () => true,
      () => false,
    );
  assert.ok((await reaches(granted, other)) && (await reaches(other, granted)));
  await kubectlOn(serverId, applied(policy));
  try {
    await kubectlOn(serverId, `-n stackadm-samples label pod ${granted.name} access=granted`);
    await until(async () => !(await reaches(other, granted)));
    await until(() => reaches(granted, other));
    // The policy does not restrict DNS and the API.
    await connect(serverId, other, "kubernetes.default.svc.cluster.local:443");
  } finally {
    await kubectlOn(serverId, remove);
    await kubectlOn(serverId, `-n stackadm-samples label pod ${granted.name} access-`);
  }
  await until(() => reaches(other, granted));
}
