import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  createListeningService,
  type ListeningService,
} from "../../../support/engine/listening-service.js";
import { catalogApiPorts, getApiUrl } from "../../../../packages/lab/cloud/configuration/common.js";
import { readLabSettings } from "../../../../packages/lab/settings.js";
import { FaultyProxy, type ProxyOptions } from "./faulty-proxy.js";
import type { LabCluster } from "../stack/lab-cluster.js";

export interface BehindProxy {
  readonly proxy: FaultyProxy;
  /** Service whose calls to the cloud pass through the proxy. */
  readonly service: ListeningService;
  /** Environment in which the cloud's address is the proxy. */
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Starts a proxy between a cluster and the lab's cloud. The user and the controllers of the cluster
 * use this proxy.
 */
export async function behindProxy(
  { environment, stackFile }: Pick<LabCluster, "environment" | "stackFile">,
  options: Pick<ProxyOptions, "delay"> = {},
): Promise<BehindProxy> {
  const settings = readLabSettings();
  const proxy = await FaultyProxy.start({
    // Uses the address of the lab's host, because the controllers of the cluster can also reach it.
    address: settings.management.host,
    upstreams: catalogApiPorts.map((port) => getApiUrl(settings, { transport: "http", port })),
    ...options,
  });
  const projectDirectory = dirname(stackFile);
  const file = join(projectDirectory, "clouds-behind-proxy.yaml");
  const clouds = readFileSync(environment.env["OS_CLIENT_CONFIG_FILE"] ?? "", "utf8");
  writeFileSync(file, proxy.rewrite(clouds), { mode: 0o600 });
  const env: NodeJS.ProcessEnv = { ...environment.env, OS_CLIENT_CONFIG_FILE: file };
  const backend = env["PULUMI_BACKEND_URL"] ?? "";
  const service = createListeningService({ env, backend, projectDirectory });
  return { proxy, service, env };
}
