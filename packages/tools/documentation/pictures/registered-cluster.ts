import { Cluster } from "../../../../components/cluster.js";
import type { ClusterArgs, ClusterSpec } from "../../../../components/config/cluster-spec.js";
import { validateClusterSpec } from "../../../../components/config/validate-cluster-spec.js";
import { cloudAnswers } from "../../../../test/support/cloud/cloud-answers.js";
import { graph, type GraphOptions, type Row } from "../../../../test/support/graph/graph.js";

/** Name of every cluster in the pictures, as in the examples of the documentation. */
export const clusterName = "prod";

/** Arguments of a cluster, without its name. */
export type PicturedArgs = Omit<ClusterArgs, "name">;

/** Cluster and the resources that the program registers for it. */
export interface RegisteredCluster {
  readonly spec: ClusterSpec;
  readonly rows: readonly Row[];
}

const balancerType = "openstack:loadbalancer/loadBalancer:LoadBalancer";

/** Answers of the fake cloud. A load balancer has a port if the program gives it none. */
const answers: GraphOptions = {
  ...cloudAnswers,
  outputs: {
    ...cloudAnswers.outputs,
    [balancerType]: ({ vipPortId }, name) => ({ vipPortId: vipPortId ?? getResourceId(name) }),
  },
};

/** Returns the ID that the fake cloud gives to a resource. */
export const getResourceId = (name: string): string => `${name}-id`;

/** Checks the arguments. Throws if they are invalid. */
export function specOf(args: PicturedArgs): ClusterSpec {
  const result = validateClusterSpec({ ...args, name: clusterName });
  if ("problems" in result) throw new Error(JSON.stringify(result.problems));
  return result.spec;
}

/** Runs the program without an engine and without a cloud, and returns what it registers. */
export async function registerCluster(args: PicturedArgs): Promise<RegisteredCluster> {
  const program = (): void => {
    new Cluster(clusterName, { ...args, name: clusterName });
  };
  return { spec: specOf(args), rows: await graph(program, answers) };
}

/** Returns the text of an input. Undefined if the input is absent or no text. */
export function readText({ inputs }: Row, key: string): string | undefined {
  const value = inputs[key];
  return typeof value === "string" ? value : undefined;
}

/** Returns the rows of a type, such as `networking/port:Port`. */
export const rowsOfType = (rows: readonly Row[], type: string): readonly Row[] =>
  rows.filter((row) => row.type === `openstack:${type}`);
