import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";
import { toYaml } from "../../../base/yaml.js";

/**
 * Returns an environment in which the cloud is named `counted` and is reached through the proxy.
 * With the lab's own cloud name, the command line would connect to the lab directly.
 */
export function createCountedCloudEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const file = env["OS_CLIENT_CONFIG_FILE"] ?? "";
  const { clouds } = parse(readFileSync(file, "utf8")) as { clouds: Record<string, unknown> };
  const counted = { clouds: { counted: clouds[env["OS_CLOUD"] ?? ""] } };
  writeFileSync(file, toYaml(counted), { mode: 0o600 });
  return { ...env, OS_CLOUD: "counted", STACKADM_STAND_INS: "1" };
}
