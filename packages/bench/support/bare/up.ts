import { requiredLookups } from "../../../../components/index.js";
import type { ClusterSpec } from "../../../../components/config/cluster-spec.js";
import { run } from "../../../../base/run-command.js";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import type { Work } from "../moments.js";
import { BareCloud, factsFor } from "./cloud.js";
import { BareCluster } from "./kubernetes-client.js";
import { BareMachines } from "./ssh-client.js";
import { runBare, type Hands, type Known } from "./run.js";
import { untilWorking } from "./wait-until-working.js";

/** Hands that create real resources. */
class RealHands implements Hands {
  #cluster: BareCluster | undefined;

  constructor(
    private readonly calls: BareCloud,
    private readonly machines: BareMachines,
  ) {}

  readonly cloud: Hands["cloud"] = (type, inputs) => this.calls.make(type, inputs);
  readonly machine: Hands["machine"] = (script) => this.machines.run(script);
  readonly here: Hands["here"] = async (command) =>
    (await run("/bin/sh", ["-c", command])).stdout.trimEnd();
  readonly put: Hands["put"] = (object) => this.inside.put(object);
  readonly cluster: Hands["cluster"] = (kubeconfig) => {
    this.#cluster = new BareCluster(kubeconfig);
  };

  get inside(): BareCluster {
    if (!this.#cluster) throw new Error("There is no cluster to apply anything in.");
    return this.#cluster;
  }
}

export interface BareUp {
  readonly kubeconfig: string;
  readonly work: readonly Work[];
}

/**
 * Creates the cluster and waits for the state in which `up` ends: the nodes are Ready, the Services
 * answer, and the data in the claim was read back. Does not create the resources in `known` again.
 */
export async function bareUp(
  spec: ClusterSpec,
  env: NodeJS.ProcessEnv,
  known?: Known,
): Promise<BareUp> {
  const agentSocket = env["SSH_AUTH_SOCK"] ?? "";
  const client = await connectCloud({ env });
  const calls = new BareCloud(client);
  const machines = new BareMachines(agentSocket);
  try {
    const hands = new RealHands(calls, machines);
    const facts = await factsFor(client, requiredLookups(spec));
    const { outputs, work } = await runBare(spec, facts, hands, known);
    await calls.settled();
    await untilWorking(outputs, { user: spec.ssh.user, agentSocket });
    return { kubeconfig: outputs.kubeconfig, work };
  } finally {
    machines.close();
  }
}
