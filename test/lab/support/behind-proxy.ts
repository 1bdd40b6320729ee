import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  createClusterService,
  type ClusterService,
} from "../../../automation/cluster/cluster-service.js";
import { apis, apiUrl } from "../../../lab/cloud/configuration/common.js";
import { labSettings } from "../../../lab/settings.js";
import { FaultyProxy, type ProxyOptions } from "./faulty-proxy.js";
import type { LabCluster } from "./lab-cluster.js";

export interface BehindProxy {
  readonly proxy: FaultyProxy;
  /** The service as the program uses it, its calls to the cloud through the proxy. */
  readonly service: ClusterService;
  /** The environment in which the cloud is reached through it. */
  readonly env: NodeJS.ProcessEnv;
}

/** Has all that concerns a cluster reach the lab's cloud through a proxy: who works on it, and the cluster's own controllers. */
export async function behindProxy(
  { environment, stackFile }: Pick<LabCluster, "environment" | "stackFile">,
  options: Pick<ProxyOptions, "delay"> = {},
): Promise<BehindProxy> {
  const settings = labSettings();
  const proxy = await FaultyProxy.start({
    // The cluster's controllers reach the cloud the same way.
    address: settings.management.host,
    upstreams: apis.map((port) => apiUrl(settings, { transport: "http", port })),
    ...options,
  });
  const projectDirectory = dirname(stackFile);
  const file = join(projectDirectory, "clouds-behind-proxy.yaml");
  const clouds = readFileSync(environment.env["OS_CLIENT_CONFIG_FILE"] ?? "", "utf8");
  writeFileSync(file, proxy.rewrite(clouds), { mode: 0o600 });
  const env: NodeJS.ProcessEnv = { ...environment.env, OS_CLIENT_CONFIG_FILE: file };
  const backend = env["PULUMI_BACKEND_URL"] ?? "";
  const service = createClusterService({ env, backend, projectDirectory });
  return { proxy, service, env };
}
