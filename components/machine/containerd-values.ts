import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../config/cluster-spec.js";
import type { MachineTurn } from "../lifecycle/rollout.js";
import { computeChecksum } from "../pulumi/checksum.js";
import { resolvePlaceholders } from "../pulumi/placeholders.js";
import { getContainerdConfig } from "./preparation.js";
import { renderProxyFiles, type ProxySpec } from "./proxy-documents.js";
import { renderRegistryLogins } from "./registry-documents.js";

/**
 * Returns the values of the preparation whose change restarts containerd. Existing machines get
 * changed values one after another.
 */
export const getContainerdValues = (spec: ProxySpec, turn: MachineTurn) => ({
  CONTAINERD_CONFIG: turn.delayContainerdChange(getContainerdConfig(spec.kubernetes)),
  REGISTRY_AUTH: turn.delay(signInsOf(spec)),
  PROXY: turn.delay(proxyOf(spec)),
});

/**
 * Returns a checksum of the settings whose change restarts containerd: its configuration, the
 * repository of the pause image, and which registries have passwords and whether there is a proxy.
 * The passwords and the proxy themselves always wait for the machine's turn.
 */
export const getContainerdChecksum = ({
  kubernetes,
  network,
}: Pick<ClusterSpec, "kubernetes" | "network">): string =>
  computeChecksum(
    getContainerdConfig(kubernetes),
    kubernetes.registry.prefix,
    ...getRegistryLogins({ kubernetes }).map(({ host }) => host),
    network.proxy && "proxy",
  );

const getRegistryLogins = ({ kubernetes }: Pick<ClusterSpec, "kubernetes">) =>
  Object.entries(kubernetes.registries).flatMap(([host, { user, password }]) =>
    user === undefined || password === undefined ? [] : [{ host, user, password }],
  );

function signInsOf(spec: Pick<ClusterSpec, "kubernetes">): pulumi.Input<string> {
  const logins = getRegistryLogins(spec);
  if (logins.length === 0) return "";
  return pulumi.secret(pulumi.output(logins).apply(renderRegistryLogins));
}

function proxyOf(spec: ProxySpec): pulumi.Input<string> {
  const { proxy } = spec.network;
  if (proxy === undefined) return "";
  return pulumi.secret(
    pulumi
      .all([proxy.http, proxy.https, resolvePlaceholders(spec.endpoint)])
      .apply(([http, https, endpoint]) => renderProxyFiles({ ...spec, endpoint }, { http, https })),
  );
}
