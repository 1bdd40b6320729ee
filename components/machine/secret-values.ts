import * as pulumi from "@pulumi/pulumi";

/**
 * Returns whether a URL in the text may contain a secret. A user, a query or a fragment may be a
 * secret. A word in the path may be a token if it has at least 12 characters and a digit.
 */
const mayHoldSecret = (text: string): boolean =>
  (text.match(/https?:\/\/[^\s"]+/gi) ?? []).some((address) => {
    const [, , host = "", ...words] = address.split("/");
    return (
      /[@?#]/.test(host) ||
      words.some((word) => /[?#]/.test(word) || (word.length >= 12 && /\d/.test(word)))
    );
  });

/**
 * Returns whether a file of `registryFiles` may contain a secret in a URL (see `mayHoldSecret`). A
 * file with a certificate contains no URL, so the result is false.
 */
const fileMayHoldSecret = (files: string): boolean =>
  files
    .split("\n")
    .some((line) => mayHoldSecret(Buffer.from(line.split(" ")[1] ?? "", "base64").toString()));

type Test = (text: string, encrypted: boolean) => boolean;

const isWritten = (text: string): boolean => text !== "";

/**
 * Returns whether a value may contain a secret in a URL. If the settings contain an encrypted
 * value, every value that is not empty may contain a secret.
 */
const settingsMayHoldSecret: Test = (text, encrypted) =>
  (encrypted && isWritten(text)) || mayHoldSecret(text);

/**
 * Variables with texts of the user, each with a function that returns whether the text may contain
 * a password.
 */
const mayHoldPassword: Readonly<Record<string, Test>> = {
  BEFORE_KUBEADM: isWritten,
  AFTER_KUBEADM: isWritten,
  PATCHES: isWritten,
  PACKAGES_URL: mayHoldSecret,
  NEWEST_PACKAGES_URL: mayHoldSecret,
  CONTAINERD_SOURCE: mayHoldSecret,
  CONTAINERD_KEY: mayHoldSecret,
  REGISTRIES: fileMayHoldSecret,
  ...Object.fromEntries(
    [
      ...["KUBEADM_INIT", "KUBEADM_JOIN", "KUBEADM_ETCD", "CONFIGURATION"],
      ...["KUBELET_CONFIGURATION", "KUBELET_CONFIG", "KUBE_PROXY_CONFIGURATION"],
    ].map((name) => [name, settingsMayHoldSecret]),
  ),
};

/**
 * Returns the values that contain texts of the user. A text that may contain a password becomes a
 * Pulumi secret.
 *
 * @param encrypted whether the settings contain an encrypted value
 */
export const markImplicitSecrets = (
  values: Readonly<Record<string, pulumi.Input<string>>>,
  encrypted: boolean,
): Record<string, pulumi.Output<string>> =>
  Object.fromEntries(
    Object.entries(mayHoldPassword).flatMap(([name, may]) => {
      const value = values[name];
      if (value === undefined) return [];
      const secretly = (text: string): pulumi.Output<string> =>
        may(text, encrypted) ? pulumi.secret(text) : pulumi.output(text);
      return [[name, pulumi.output(value).apply(secretly)]];
    }),
  );
