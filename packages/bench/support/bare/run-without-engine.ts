import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../../../../components/cluster.js";
import type { ClusterSpec } from "../../../../components/config/cluster-spec.js";
import type { NodeOutput, SamplesOutput } from "../../../../components/cluster-outputs.js";
import type { CloudFacts } from "../../../../components/lookup/cloud-lookup.js";
import { awaitKnownOutput } from "../../../../components/pulumi/pulumi-internals.js";
import { RemoteScript } from "../../../../components/remote-scripts/remote-script.js";
import {
  graph,
  type ResourceRequest,
  type Fields,
  type CreatedResource,
} from "../../../../test/support/graph/graph.js";
import { isSecret } from "../../../../test/support/graph/secrets.js";
import { renderSentScript, readSentScript } from "../../../../test/support/graph/sent.js";
import { value } from "../../../../test/support/graph/output-value.js";
import type { ResourceWork } from "../moments.js";

/*
 * Runs the program without an engine. A bare call creates each registered resource as soon as its
 * inputs are known. The resource counts as created when the call is answered. Nothing waits until a
 * server is ACTIVE or a pod is ready, except resources that depend on this state. So the calls,
 * scripts and manifests are those of the program, in the best order that their dependencies allow.
 */

/** SSH connection as the program describes it to the command plugin. */
export interface SshHop {
  readonly host: string;
  readonly user: string;
  readonly hostKey: string;
  readonly proxy?: SshHop;
}

export interface Script {
  /** Name of the script's resource. */
  readonly name: string;
  readonly hop: SshHop;
  readonly command: string;
  readonly input: string;
}

/** Functions that create resources. Each resolves as soon as its call is answered. */
export interface ResourceCreators {
  /** Creates an OpenStack resource. */
  cloud(type: string, inputs: Fields): Promise<CreatedResource>;
  /** Runs a script on a machine and returns its standard output. */
  machine(script: Script): Promise<string>;
  /** Runs a command on this host and returns its standard output. */
  here(command: string): Promise<string>;
  /** Sets the administrator's kubeconfig. Called before the first object is created. */
  cluster(kubeconfig: string): void;
  /** Applies a manifest. */
  put(object: Fields): Promise<void>;
}

/**
 * Outputs of the program, except the addresses of the sample Services. The bare run does not wait
 * for these addresses.
 */
export interface BareOutputs {
  readonly kubeconfig: string;
  readonly apiEndpoint: string;
  readonly clusterName: string;
  readonly nodes: NodeOutput[];
  readonly hostKeys: string[];
  readonly samples?: SamplesOutput;
}

export interface BareRunResult {
  readonly outputs: BareOutputs;
  readonly work: readonly ResourceWork[];
}

/** Returns the value with its secrets in plain text. */
export function revealSecrets(inputs: unknown): unknown {
  if (isSecret(inputs)) return revealSecrets((inputs as { value: unknown }).value);
  if (Array.isArray(inputs)) return inputs.map(revealSecrets);
  if (typeof inputs !== "object" || inputs === null) return inputs;
  return Object.fromEntries(
    Object.entries(inputs).map(([key, inner]) => [key, revealSecrets(inner)]),
  );
}

const text = (inputs: Fields, key: string): string => {
  const found = inputs[key];
  return typeof found === "string" ? found : "";
};

/** Status of a Service whose load balancer has no address yet. */
const noAddress = { status: { loadBalancer: { ingress: [{ ip: "" }] } } };

async function make(
  hands: ResourceCreators,
  { type, name, inputs }: ResourceRequest,
): Promise<Fields & { readonly id?: string }> {
  if (type.startsWith("openstack:")) {
    const { id, outputs } = await hands.cloud(type, inputs);
    return { ...outputs, id };
  }
  if (type === "command:local:Command")
    return "create" in inputs ? { stdout: await hands.here(text(inputs, "create")) } : {};
  if (type === "command:remote:Command") {
    if (!("create" in inputs)) return {};
    const hop = inputs["connection"] as SshHop;
    const command = `sudo -n bash -s ${readSentScript(inputs).occasion}`;
    return { stdout: await hands.machine({ name, hop, command, input: renderSentScript(inputs) }) };
  }
  if (type === "pulumi:providers:kubernetes") hands.cluster(text(inputs, "kubeconfig"));
  if (!type.startsWith("kubernetes:")) return {};
  await hands.put(inputs);
  return type === "kubernetes:core/v1:Service" ? noAddress : {};
}

/** Returns the dependencies without scripts. Outputs, promises and lists may contain each other. */
async function withoutScripts(dependsOn: unknown): Promise<pulumi.Resource[]> {
  const found = await (pulumi.Output.isInstance(dependsOn)
    ? awaitKnownOutput(dependsOn)
    : dependsOn);
  if (Array.isArray(found)) return (await Promise.all(found.map(withoutScripts))).flat();
  if (found === undefined || found instanceof RemoteScript) return [];
  return [found as pulumi.Resource];
}

/**
 * Removes dependencies that only cause a delay. Scripts that run only at deletion get no
 * dependencies, so resources that depend on these scripts do not wait either. Kubernetes objects do
 * not wait for machines, because the API accepts the objects before the machines are ready.
 */
const withoutBarriers: pulumi.ResourceTransformation = ({ type, props, opts }) => {
  const { create } = props as { readonly create?: unknown };
  if (type === "command:remote:Command" && create === undefined)
    return { props, opts: { ...opts, dependsOn: [] } };
  if (!type.startsWith("kubernetes:")) return undefined;
  return { props, opts: { ...opts, dependsOn: withoutScripts(opts.dependsOn) } };
};

export const awaitBareOutputs = async (cluster: Cluster): Promise<BareOutputs> => ({
  kubeconfig: await value(cluster.kubeconfig),
  apiEndpoint: await value(cluster.apiEndpoint),
  clusterName: cluster.clusterName,
  nodes: await value(cluster.nodes),
  hostKeys: await value(cluster.hostKeys),
  samples: await value(cluster.samples),
});

/** Resources of earlier runs, by type and name. */
export type ExistingResources = Map<string, CreatedResource>;

/**
 * Creates the cluster of a specification.
 *
 * @param known resources that exist already and are not changed. New resources are added to this
 * map
 */
export async function createClusterWithoutEngine(
  spec: ClusterSpec,
  cloud: CloudFacts,
  hands: ResourceCreators,
  known: ExistingResources = new Map(),
): Promise<BareRunResult> {
  const work: ResourceWork[] = [];
  let cluster: Cluster | undefined;
  const noted = async ({ type, name, inputs }: ResourceRequest): Promise<CreatedResource> => {
    const key = `${type} ${name}`;
    const before = known.get(key);
    if (before) return before;
    const startedAt = Date.now();
    const asked = { type, name, inputs: revealSecrets(inputs) as Fields };
    const { id = `${name}-id`, ...outputs } = await make(hands, asked);
    work.push({ type, name, startedAt, endedAt: Date.now() });
    const made = { id, outputs };
    known.set(key, made);
    return made;
  };
  await graph(
    () => {
      pulumi.runtime.registerStackTransformation(withoutBarriers);
      cluster = new Cluster(spec.name, { ...spec, cloud });
    },
    { make: noted },
  );
  if (!cluster) throw new Error("The program made no cluster.");
  return { outputs: await awaitBareOutputs(cluster), work };
}
