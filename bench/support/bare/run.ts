import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterSpec } from "../../../components/spec/cluster-spec.js";
import type { NodeOutput, SamplesOutput } from "../../../components/outputs.js";
import type { CloudFacts } from "../../../components/support/catalog.js";
import { RemoteScript } from "../../../components/support/remote-script.js";
import { graph, type Asked, type Fields, type Made } from "../../../test/support/graph.js";
import { isSecret } from "../../../test/support/secrets.js";
import { value } from "../../../test/support/value.js";
import type { Work } from "../moments.js";

/*
 * The program without an engine: whatever it registers is made by a bare call as soon as its values are known, and counts as made when
 * the call was answered. Nobody waits until a server is ACTIVE or a pod is ready, but who needs something of it. So the calls, the
 * scripts and the manifests are the program's own, and the order is the best that they allow.
 */

/** An SSH hop as the program describes it to the command plugin. */
export interface Hop {
  readonly host: string;
  readonly user: string;
  readonly hostKey: string;
  readonly proxy?: Hop;
}

/** A script for a machine. */
export interface Script {
  /** Of its resource. */
  readonly name: string;
  readonly hop: Hop;
  readonly command: string;
  readonly input: string;
}

/** What makes things. Each answers as soon as the call was taken. */
export interface Hands {
  /** Makes a resource of OpenStack. */
  cloud(type: string, inputs: Fields): Promise<Made>;
  /** Runs a script on a machine; answers its standard output. */
  machine(script: Script): Promise<string>;
  /** Runs a command here; answers its standard output. */
  here(command: string): Promise<string>;
  /** The administrator's kubeconfig, before the first object. */
  cluster(kubeconfig: string): void;
  /** Applies a manifest. */
  put(object: Fields): Promise<void>;
}

/** What came out of it: all but the addresses of the sample services, for which nobody waited. */
export interface BareOutputs {
  readonly kubeconfig: string;
  readonly apiEndpoint: string;
  readonly clusterName: string;
  readonly nodes: NodeOutput[];
  readonly hostKeys: string[];
  readonly samples?: SamplesOutput;
}

export interface BareRun {
  readonly outputs: BareOutputs;
  readonly work: readonly Work[];
}

/** The value, with what is secret in clear. */
export function open(inputs: unknown): unknown {
  if (isSecret(inputs)) return open((inputs as { value: unknown }).value);
  if (Array.isArray(inputs)) return inputs.map(open);
  if (typeof inputs !== "object" || inputs === null) return inputs;
  return Object.fromEntries(Object.entries(inputs).map(([key, inner]) => [key, open(inner)]));
}

const text = (inputs: Fields, key: string): string => {
  const found = inputs[key];
  return typeof found === "string" ? found : "";
};

/** The address of a Service's load balancer comes later. */
const noAddress = { status: { loadBalancer: { ingress: [{ ip: "" }] } } };

async function make(
  hands: Hands,
  { type, name, inputs }: Asked,
): Promise<Fields & { readonly id?: string }> {
  if (type.startsWith("openstack:")) {
    const { id, outputs } = await hands.cloud(type, inputs);
    return { ...outputs, id };
  }
  if (type === "command:local:Command")
    return "create" in inputs ? { stdout: await hands.here(text(inputs, "create")) } : {};
  if (type === "command:remote:Command") {
    if (!("create" in inputs)) return {};
    const hop = inputs["connection"] as Hop;
    const [command, input] = [text(inputs, "create"), text(inputs, "stdin")];
    return { stdout: await hands.machine({ name, hop, command, input }) };
  }
  if (type === "pulumi:providers:kubernetes") hands.cluster(text(inputs, "kubeconfig"));
  if (!type.startsWith("kubernetes:")) return {};
  await hands.put(inputs);
  return type === "kubernetes:core/v1:Service" ? noAddress : {};
}

type DependsOn = pulumi.ResourceOptions["dependsOn"];

const withoutScripts = (dependsOn: DependsOn): DependsOn =>
  Array.isArray(dependsOn) ? dependsOn.filter((one) => !(one instanceof RemoteScript)) : dependsOn;

/**
 * What runs only when it is deleted waits for nothing, and nobody for what it waited for. No object waits for a machine: the API
 * takes it before.
 */
const withoutBarriers: pulumi.ResourceTransformation = ({ type, props, opts }) => {
  const { create } = props as { readonly create?: unknown };
  if (type === "command:remote:Command" && create === undefined)
    return { props, opts: { ...opts, dependsOn: [] } };
  if (!type.startsWith("kubernetes:")) return undefined;
  return { props, opts: { ...opts, dependsOn: withoutScripts(opts.dependsOn) } };
};

export const outputsOf = async (cluster: Cluster): Promise<BareOutputs> => ({
  kubeconfig: await value(cluster.kubeconfig),
  apiEndpoint: await value(cluster.apiEndpoint),
  clusterName: cluster.clusterName,
  nodes: await value(cluster.nodes),
  hostKeys: await value(cluster.hostKeys),
  samples: await value(cluster.samples),
});

/** What runs before this one made, by type and name. */
export type Known = Map<string, Made>;

/**
 * Makes the cluster of a specification.
 *
 * @param known is made already, whatever its inputs are now; what is made is added to it
 */
export async function runBare(
  spec: ClusterSpec,
  cloud: CloudFacts,
  hands: Hands,
  known: Known = new Map(),
): Promise<BareRun> {
  const work: Work[] = [];
  let cluster: Cluster | undefined;
  const noted = async ({ type, name, inputs }: Asked): Promise<Made> => {
    const key = `${type} ${name}`;
    const before = known.get(key);
    if (before) return before;
    const startedAt = Date.now();
    const asked = { type, name, inputs: open(inputs) as Fields };
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
  return { outputs: await outputsOf(cluster), work };
}
