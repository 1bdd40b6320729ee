import { Cluster } from "../../../components/cluster.js";
import type { ClusterComponentArgs } from "../../../components/cluster-arguments.js";
import { cloudAnswers } from "../cloud/cloud-answers.js";
import { graph, type Row } from "./graph.js";
import { remembered } from "./memoize.js";

/** Returns the resources that a cluster named `dev` registers. */
export const clusterRows: (
  args: ClusterComponentArgs,
  options?: { readonly preview?: boolean },
) => Promise<readonly Row[]> = remembered((args, options = {}) =>
  graph(() => new Cluster("dev", args), { ...cloudAnswers, ...options }),
);
