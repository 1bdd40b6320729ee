import { findUsableCloud } from "./clouds-file.js";
import type { Credential } from "./credential.js";

function secretOf(credential: Credential): string {
  switch (credential.kind) {
    case "password":
      return credential.password;
    case "application":
      return credential.secret;
    case "token":
      return credential.token;
  }
}

/**
 * Returns the secrets with which the commands sign in to the cloud: from clouds.yaml, secure.yaml or
 * OS_* variables. Returns none if the settings of the cloud are wrong.
 */
export function findCloudSecrets(env: NodeJS.ProcessEnv): readonly string[] {
  const cloud = findUsableCloud(env);
  if (!cloud) return [];
  return [secretOf(cloud.credential), ...(cloud.key === undefined ? [] : [cloud.key])];
}
