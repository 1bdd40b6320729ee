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

/** With a user, or with a word in the path that could be a token: private repositories have addresses like that. */
const mayOpen = (address: string): boolean =>
  /^[a-z]+:\/\/[^/]*@/i.test(address) ||
  address.split(/[/ ]/).some((word) => /^(?=\D*\d)[\w-]{12,}$/.test(word));

/** Texts of people's own, and when they may have written a password in them without calling it a secret. */
const mayHoldPassword: Readonly<Record<string, (text: string) => boolean>> = {
  BEFORE_KUBEADM: (text) => text !== "",
  PACKAGES_URL: mayOpen,
  CONTAINERD_SOURCE: mayOpen,
  CONTAINERD_KEY: mayOpen,
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
