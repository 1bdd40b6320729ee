import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import { proxyFiles, type ProxySpec } from "./proxy-documents.js";
import { signIns } from "./registry-documents.js";

/** Holds a text back until it is a machine's turn. */
export type InTurn = (text: pulumi.Input<string>) => pulumi.Input<string>;

/** What is secret of a preparation and has containerd restart: machines that live get it one after another. */
export const runtimeValues = (spec: ProxySpec, inTurn: InTurn) => ({
  REGISTRY_AUTH: inTurn(signInsOf(spec)),
  PROXY: inTurn(proxyOf(spec)),
});

function signInsOf({ kubernetes }: Pick<ClusterSpec, "kubernetes">): pulumi.Input<string> {
  const written = Object.entries(kubernetes.registries).flatMap(([host, { user, password }]) =>
    user === undefined || password === undefined ? [] : [{ host, user, password }],
  );
  if (written.length === 0) return "";
  return pulumi.secret(pulumi.output(written).apply(signIns));
}

function proxyOf(spec: ProxySpec): pulumi.Input<string> {
  const { proxy } = spec.network;
  if (proxy === undefined) return "";
  return pulumi.secret(
    pulumi
      .all([proxy.http, proxy.https])
      .apply(([http, https]) => proxyFiles(spec, { http, https })),
  );
}

/** Whether an address in it has a user, a query, or a word in its path that could be a token: 12 characters or more, a digit among them. */
const mayOpen = (text: string): boolean =>
  (text.match(/https?:\/\/[^\s"]+/gi) ?? []).some((address) => {
    const [, , host = "", ...words] = address.split("/");
    return (
      /[@?#]/.test(host) ||
      words.some((word) => /[?#]/.test(word) || (word.length >= 12 && /\d/.test(word)))
    );
  });

/** The same of files as `registryFiles` writes them; certificates have no addresses. */
const anyMayOpen = (files: string): boolean =>
  files
    .split("\n")
    .some((line) => mayOpen(Buffer.from(line.split(" ")[1] ?? "", "base64").toString()));

/** Texts of people's own, and when they may have written a password in them without calling it a secret. */
const mayHoldPassword: Readonly<Record<string, (text: string) => boolean>> = {
  BEFORE_KUBEADM: (text) => text !== "",
  PACKAGES_URL: mayOpen,
  NEWEST_PACKAGES_URL: mayOpen,
  CONTAINERD_SOURCE: mayOpen,
  CONTAINERD_KEY: mayOpen,
  REGISTRIES: anyMayOpen,
};

/** The values of a preparation that are kept as secrets although nobody said so. */
export const guarded = (
  values: Readonly<Record<string, pulumi.Input<string>>>,
): Record<string, pulumi.Output<string>> =>
  Object.fromEntries(
    Object.entries(mayHoldPassword).flatMap(([name, may]) => {
      const value = values[name];
      return typeof value === "string" && may(value) ? [[name, pulumi.secret(value)]] : [];
    }),
  );
