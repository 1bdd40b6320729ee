import assert from "node:assert/strict";
import { readKubeAccess } from "../../../automation/verify/kubernetes-api.js";
import { authenticationRequest } from "../../../cloud/client.js";
import { findCloud } from "../../../cloud/clouds-file.js";
import { exchange } from "../../../cloud/http.js";

const headers = { "content-type": "application/json" };

/** A token of the user that an environment names, as `openstack token issue` gets one. */
export async function issueToken(env: NodeJS.ProcessEnv): Promise<string> {
  const { authUrl, credential, ca } = findCloud(undefined, env);
  const { headers: answered } = await exchange(
    `${authUrl.replace(/(\/v3)?\/?$/, "")}/v3/auth/tokens`,
    {
      ...{ method: "POST", headers, body: JSON.stringify(authenticationRequest(credential)) },
      ...(ca !== undefined && { ca }),
    },
  );
  return answered["x-subject-token"] ?? assert.fail(`${authUrl} gives no token`);
}

/** Asks a cluster's API with a token and nothing else. */
export async function askWithToken(
  kubeconfig: string,
  token: string,
  { path, body }: { readonly path: string; readonly body?: object },
): Promise<{ readonly status: number; readonly answer: Record<string, unknown> }> {
  const { server, ca } = readKubeAccess(kubeconfig);
  const { status, body: text } = await exchange(`${server}${path}`, {
    ...{ ca, headers: { ...headers, authorization: `Bearer ${token}` }, timeout: 20_000 },
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  return { status, answer: JSON.parse(text) as Record<string, unknown> };
}

/** Whom the API server takes the holder of a token for; `undefined`: for nobody. */
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
