import type { ClusterSpec } from "./cluster-spec.js";
import { getPodNetworkTraits } from "../pod-network/pod-network-kinds.js";
import type { StringInput } from "../kubernetes-objects/kubernetes-types.js";

interface Kept {
  /** Path of the secret below `cluster`, in the form for `pulumi config set --path`. */
  readonly path: string;
  readonly value: StringInput | undefined;
}

/**
 * Returns whether a proxy's URL contains a user and password. Also returns true for a URL that is
 * not plain text, such as an encrypted URL.
 */
const signsIn = (address: StringInput | undefined): boolean =>
  typeof address !== "string" || /^[a-z]+:\/\/[^/]*@/i.test(address);

const secretsIn = ({
  credential,
  kubernetes,
  network: { proxy },
  podNetwork,
}: ClusterSpec): readonly Kept[] => [
  { path: "credential.secret", value: credential?.secret },
  { path: "credential.password", value: credential?.password },
  ...(getPodNetworkTraits(podNetwork).secrets ?? []).map(({ path, value }) => ({
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
 * Returns an error for each secret that is plain text in the stack's settings. The error message
 * contains the command that encrypts the secret. `project` is the name of the Pulumi project.
 */
export const findPlainTextSecrets = (
  spec: ClusterSpec,
  project: string,
): { readonly path: string; readonly message: string }[] =>
  secretsIn(spec)
    .filter(({ value }) => typeof value === "string")
    .map(({ path }) => ({
      path: `cluster.${path}`,
      message: `is not encrypted; write it with \`pulumi config set --path '${project}:cluster.${path}' --secret\`, and choose another secret, because this one was in a file`,
    }));
