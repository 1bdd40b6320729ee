import { findCloudSecrets } from "../../openstack/auth/cloud-secrets.js";
import { createRedactor, type Redactor } from "../../base/terminal/redact-secrets.js";

/** Returns a redactor with the secrets of a service: its environment, and its login to the cloud. */
export function createServiceRedactor(env: NodeJS.ProcessEnv): Redactor {
  const redactor = createRedactor(env);
  redactor.add(findCloudSecrets(env));
  return redactor;
}
