/** Builds the add-ons of an example cluster without an engine. */
import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { Addons } from "../../../components/addons/addons.js";
import { buildApplicationCredentialLogin } from "../../../components/identity/cloud-login.js";
import { graph } from "../../support/graph/graph.js";
import { remembered } from "../../support/graph/memoize.js";
import type { AddonsArgs } from "../../../components/addons/addons.js";
import type { Fields, GraphOptions, Row } from "../../support/graph/graph.js";

export const canary = "canary-credential-secret";

/**
 * Returns a function that makes an output of a cloud value: known in an update, unknown in a first
 * preview.
 */
const given = (preview: boolean) => {
  const output = <T>(known: T): pulumi.Output<T> =>
    new Source(`${typeof known}-${String(known)}`, known, preview).value as pulumi.Output<T>;
  return output;
};

/** Resource whose output is unknown in a preview. */
class Source extends pulumi.CustomResource {
  declare readonly value: pulumi.Output<unknown>;
  constructor(name: string, known: unknown, preview: boolean) {
    super("test:index:Source", name, preview ? { value: undefined } : { value: known });
  }
}

export class Marker extends pulumi.ComponentResource {
  constructor(name: string, opts?: pulumi.ComponentResourceOptions) {
    super("test:index:Marker", name, {}, opts);
  }
}

export const example = (preview: boolean): AddonsArgs => {
  const output = given(preview);
  return {
    clusterName: "dev",
    nameInCloud: output("dev-0123456789ab"),
    kubernetesVersion: "1.36.3",
    registry: { prefix: "registry.example" },
    kubeconfig: output("kubeconfig"),
    podCidr: "10.244.0.0/16",
    serviceCidr: "10.112.0.0/12",
    networkMtu: output(1350),
    cloud: {
      authUrl: output("https://identity.example/v3"),
      region: "example",
      login: buildApplicationCredentialLogin(output("credential"), output(canary)),
      subnetId: output("subnet"),
      networkId: output("network"),
      floatingNetworkId: output("public"),
      loadBalancerProvider: "amphora",
    },
    storageClasses: [{ name: "gold", default: true }],
    samples: true,
  };
};

export const answers: GraphOptions = {
  outputs: {
    "kubernetes:core/v1:Service": (_inputs, name) => ({
      status: {
        loadBalancer: { ingress: [{ ip: name.endsWith("internal") ? "10.0.0.9" : "203.0.113.9" }] },
      },
    }),
  },
};

interface Run {
  readonly rows: readonly Row[];
  readonly addons: Addons;
}

export const run = remembered(
  async (change: Partial<AddonsArgs> = {}, preview?: boolean): Promise<Run> => {
    let addons: Addons | undefined;
    const rows = await graph(
      () => {
        addons = new Addons("addons", { ...example(preview === true), ...change });
      },
      { ...answers, preview: preview === true },
    );
    assert.ok(addons);
    return { rows, addons };
  },
);

export const named = (rows: readonly Row[], name: string): Row => {
  const found = rows.find((row) => row.name === name);
  assert.ok(found, `no ${name} among ${rows.map((row) => row.name).join(", ")}`);
  return found;
};
export const objectsOf = (rows: readonly Row[]) =>
  rows.filter(({ type }) => type.startsWith("kubernetes:"));
export const shape = (rows: readonly Row[]) =>
  rows.filter(({ type }) => !type.startsWith("test:")).map(({ urn, type }) => `${type} ${urn}`);

export const systemNames = [
  "addons-cloud-config-secret",
  "addons-cloud-controller-account",
  "addons-cloud-controller-cluster-role",
  "addons-cloud-controller-cluster-role-binding",
  "addons-cloud-controller-daemon-set",
  "addons-cloud-controller-role",
  "addons-cloud-controller-role-binding",
  "addons-network-kube-router-account",
  "addons-network-kube-router-cluster-role",
  "addons-network-kube-router-cluster-role-binding",
  "addons-network-kube-router-cni",
  "addons-network-kube-router-daemon-set",
  "addons-storage-account",
  "addons-storage-class-gold",
  "addons-storage-cluster-role",
  "addons-storage-cluster-role-binding",
  "addons-storage-controller",
  "addons-storage-driver",
  "addons-storage-node",
  "addons-storage-node-account",
  "addons-storage-role",
  "addons-storage-role-binding",
];
export const sampleNames = [
  "addons-samples-claim",
  "addons-samples-namespace",
  "addons-samples-scripts",
  "addons-samples-web",
  "addons-samples-web-external",
  "addons-samples-web-internal",
  "addons-samples-writer",
];

/** Cloud whose values are all known from the start. */
export const knownCloud = {
  authUrl: "https://identity.example/v3",
  region: "example",
  login: { applicationCredentialId: "credential", applicationCredentialSecret: canary },
  subnetId: "subnet",
  networkId: "network",
  floatingNetworkId: "public",
  loadBalancerProvider: "amphora",
};

/** Returns whether `from` is `to` or depends on it, directly or indirectly. */
export function reaches(rows: readonly Row[], from: string, to: string): boolean {
  const row = rows.find(({ urn }) => urn === from);
  return from === to || (row?.dependencies ?? []).some((urn) => reaches(rows, urn, to));
}

/**
 * Returns the URNs of resources that the engine deletes after this one.
 * Source: pulumi, pkg/resource/graph/dependency_graph.go, DependenciesOf.
 */
const neededBy = (row: Row): readonly string[] =>
  [
    ...row.dependencies,
    ...Object.values(row.propertyDependencies).flat(),
    ...[row.parent, row.deletedWith, ...row.replaceWith],
    // A provider reference is the URN, two colons and the ID.
    row.provider.slice(0, Math.max(0, row.provider.lastIndexOf("::"))),
  ].filter((urn) => urn !== "");

/**
 * Returns the deletion round of each URN: its distance from resources without dependencies. The
 * engine deletes resources of the same distance together.
 */
export function roundsOf(rows: readonly Row[]): ReadonlyMap<string, number> {
  const byUrn = new Map(rows.map((row) => [row.urn, row]));
  const rounds = new Map<string, number>();
  const roundOf = (urn: string): number => {
    const known = rounds.get(urn);
    if (known !== undefined) return known;
    const row = byUrn.get(urn);
    const below = row ? neededBy(row) : [];
    const round = 1 + Math.max(0, ...below.map(roundOf));
    rounds.set(urn, round);
    return round;
  };
  for (const { urn } of rows) roundOf(urn);
  return rounds;
}

export function annotationsOf(row: Row): Fields {
  const { spec } = row.inputs as { spec: { template: { metadata: { annotations?: Fields } } } };
  return spec.template.metadata.annotations ?? {};
}
