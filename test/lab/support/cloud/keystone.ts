import assert from "node:assert/strict";
import { readKubeAccess } from "../../../../automation/verify/kubernetes-client.js";
import { buildAuthenticationRequest } from "../../../../openstack/client/cloud-client.js";
import { findCloud } from "../../../../openstack/auth/clouds-file.js";
import { sendHttpRequest } from "../../../../openstack/http/http-exchange.js";

const headers = { "content-type": "application/json" };

/** Returns a token of the user of an environment, like `openstack token issue`. */
export async function issueToken(env: NodeJS.ProcessEnv): Promise<string> {
  const { authUrl, credential, ca } = findCloud(undefined, env);
  const { headers: answered } = await sendHttpRequest(
    `${authUrl.replace(/(\/v3)?\/?$/, "")}/v3/auth/tokens`,
    {
      method: "POST",
      headers,
      body: JSON.stringify(buildAuthenticationRequest(credential)),
      ...(ca !== undefined && { ca }),
    },
  );
  return answered["x-subject-token"] ?? assert.fail(`${authUrl} gives no token`);
}

/** Sends a request to a cluster's API with only a token. */
export async function askWithToken(
  kubeconfig: string,
  token: string,
  { path, body }: { readonly path: string; readonly body?: object },
): Promise<{ readonly status: number; readonly answer: Record<string, unknown> }> {
  const { server, ca } = readKubeAccess(kubeconfig);
  const { status, body: text } = await sendHttpRequest(`${server}${path}`, {
    ca,
    headers: { ...headers, authorization: `Bearer ${token}` },
    timeout: 20_000,
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  return { status, answer: JSON.parse(text) as Record<string, unknown> };
}

/**
 * Returns the user to whom the Kubernetes API server maps a token. Returns undefined if the API
 * server rejects the token.
 */
export async function whoIs(
  kubeconfig: string,
  token: string,
): Promise<{ readonly username: string; readonly groups: readonly string[] } | undefined> {
  const { status, answer } = await askWithToken(kubeconfig, token, {
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
  });
  if (status === 401) return undefined;
  assert.equal(status, 201, JSON.stringify(answer));
  return (answer["status"] as { userInfo: { username: string; groups: string[] } }).userInfo;
}
