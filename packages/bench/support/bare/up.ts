import { requiredLookups } from "../../../../components/cloud-requirements.js";
import type { ClusterSpec } from "../../../../components/config/cluster-spec.js";
import { run } from "../../../../base/run-command.js";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import type { ResourceWork } from "../moments.js";
import { BareCloudClient, lookUpCloudFacts } from "./cloud.js";
import { BareKubernetesClient } from "./kubernetes-client.js";
import { BareSshClient } from "./ssh-client.js";
import {
  createClusterWithoutEngine,
  type ResourceCreators,
  type ExistingResources,
} from "./run-without-engine.js";
import { waitUntilWorking } from "./wait-until-working.js";

/** Functions that create real resources. */
class RealHands implements ResourceCreators {
  #cluster: BareKubernetesClient | undefined;

  constructor(
    private readonly calls: BareCloudClient,
    private readonly machines: BareSshClient,
  ) {}

  readonly cloud: ResourceCreators["cloud"] = (type, inputs) => this.calls.make(type, inputs);
  readonly machine: ResourceCreators["machine"] = (script) => this.machines.run(script);
  readonly here: ResourceCreators["here"] = async (command) =>
    (await run("/bin/sh", ["-c", command])).stdout.trimEnd();
  readonly put: ResourceCreators["put"] = (object) => this.inside.put(object);
  readonly cluster: ResourceCreators["cluster"] = (kubeconfig) => {
    this.#cluster = new BareKubernetesClient(kubeconfig);
  };

  get inside(): BareKubernetesClient {
    if (!this.#cluster) throw new Error("There is no cluster to apply anything in.");
    return this.#cluster;
  }
}

export interface BareUpResult {
  readonly kubeconfig: string;
  readonly work: readonly ResourceWork[];
}

/**
 * Creates the cluster and waits for the state in which `up` ends: the nodes are Ready, the Services
 * answer, and the data in the volume claim was read back. Does not create the resources in `known`
 * again.
 */
export async function runBareUp(
  spec: ClusterSpec,
  env: NodeJS.ProcessEnv,
  known?: ExistingResources,
): Promise<BareUpResult> {
  const agentSocket = env["SSH_AUTH_SOCK"] ?? "";
  const client = await connectCloud({ env });
  const calls = new BareCloudClient(client);
  const machines = new BareSshClient(agentSocket);
  try {
    const hands = new RealHands(calls, machines);
    const facts = await lookUpCloudFacts(client, requiredLookups(spec));
    const { outputs, work } = await createClusterWithoutEngine(spec, facts, hands, known);
    await calls.settled();
    await waitUntilWorking(outputs, { user: spec.ssh.user, agentSocket });
    return { kubeconfig: outputs.kubeconfig, work };
  } finally {
    machines.close();
  }
}
