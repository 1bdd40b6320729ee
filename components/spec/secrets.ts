import type { ClusterSpec } from "./cluster-spec.js";
import { podNetworkTraits } from "../pod-network/kinds.js";
import type { Late } from "../support/kubernetes-types.js";

interface Kept {
  /** Path as it is written after `pulumi config set --path`. */
  readonly path: string;
  readonly value: Late | undefined;
}

/**
 * Returns whether the address of a proxy contains a user and password. An encrypted
 * address counts as one.
 */
const signsIn = (address: Late | undefined): boolean =>
  typeof address !== "string" || /^[a-z]+:\/\/[^/]*@/i.test(address);

const secretsIn = ({
  credential,
  kubernetes,
  network: { proxy },
  podNetwork,
}: ClusterSpec): readonly Kept[] => [
  { path: "credential.secret", value: credential?.secret },
  { path: "credential.password", value: credential?.password },
  ...(podNetworkTraits(podNetwork).secrets ?? []).map(({ path, value }) => ({
    path: `podNetwork.${path}`,
    value,
  })),
  ...Object.entries(kubernetes.registries).map(([host, { password }]) => ({
    path: `kubernetes.registries["${host}"].password`,
    value: password,
  })),
  ...(["http", "https"] as const)
    .filter((scheme) => signsIn(proxy?.[scheme]))
    .map((scheme) => ({ path: `network.proxy.${scheme}`, value: proxy?.[scheme] })),
];

/**
 * Returns the secrets that are plain text in the settings of a project's stack, with the command
 * that encrypts each.
 */
export const openSecrets = (
  spec: ClusterSpec,
  project: string,
): { readonly path: string; readonly message: string }[] =>
  secretsIn(spec)
    .filter(({ value }) => typeof value === "string")
    .map(({ path }) => ({
      path: `cluster.${path}`,
      message: `is not encrypted; write it with \`pulumi config set --path '${project}:cluster.${path}' --secret\`, and take another one, since this one was in a file`,
    }));
