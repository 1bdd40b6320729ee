import { setImmediate } from "node:timers/promises";
import { kubernetesMinors, supportedMinors } from "../../../../base/versions/pinned-versions.js";
import { requiredLookups } from "../../../../components/cloud-requirements.js";
import { Cluster } from "../../../../components/cluster.js";
import type { ClusterSpec } from "../../../../components/config/cluster-spec.js";
import { lookUpCloud } from "../../../../components/lookup/cloud-lookup.js";
import { listPlannedMachines, planCluster } from "../../../../components/plan/cluster-plan.js";
import { cloudAnswers } from "../../../../test/support/cloud/cloud-answers.js";
import {
  graph,
  type CreatedResource,
  type ResourceRequest,
  type Row,
} from "../../../../test/support/graph/graph.js";
import { clusterName, getResourceId, specOf, type PicturedArgs } from "./registered-cluster.js";

/** Resource that an upgrade changes. */
export interface UpgradedResource {
  readonly name: string;
  readonly type: string;
  /** Number of the step in which the engine changes the resource, from 0. */
  readonly step: number;
}

/** Turns of the event loop without a new request after which the program waits for an answer. */
const quietTurns = 200;

const versionOf = (minor: string | undefined): string =>
  kubernetesMinors[minor ?? ""]?.version ?? "";

/** Returns the resources of the state that tell the program about the cluster's last version. */
const stateOf = (version: string): Readonly<Record<string, object>> => ({
  [`urn::${clusterName}`]: { type: Cluster.type, outputs: { kubernetesVersion: version } },
  [`urn::${clusterName}-frozen`]: {
    type: "command:local:Command",
    outputs: { environment: { "kubernetes.version": version } },
  },
});

/** Runs the program for a cluster whose machines all exist and have the version `before`. */
function runProgram(
  spec: ClusterSpec,
  args: PicturedArgs,
  before: string,
  make: (asked: ResourceRequest) => Promise<CreatedResource>,
): Promise<readonly Row[]> {
  const servers = Object.fromEntries(
    listPlannedMachines(planCluster(spec)).map(({ name }) => [
      name,
      { id: getResourceId(name), generation: "0", failed: false },
    ]),
  );
  const program = async (): Promise<void> => {
    const cloud = { ...(await lookUpCloud(requiredLookups(spec))), servers };
    new Cluster(clusterName, { ...args, name: clusterName, cloud });
  };
  const lookups = {
    ...cloudAnswers.lookups,
    "pulumi:pulumi:readStackResourceOutputs": () => ({ outputs: stateOf(before) }),
  };
  return graph(program, { ...cloudAnswers, lookups, make });
}

const answer = ({ type, name, inputs }: ResourceRequest): CreatedResource => ({
  id: getResourceId(name),
  outputs: cloudAnswers.outputs?.[type]?.(inputs, name) ?? {},
});

const isShown = ({ type }: { readonly type: string }): boolean =>
  type.startsWith("command:remote:") || type.startsWith("kubernetes:");

/**
 * Plays the engine during an upgrade: changes wait until the program requests no further resource,
 * and then all end together. Each such end is a step.
 */
class StepwiseEngine {
  readonly changed: UpgradedResource[] = [];
  private requests = 0;
  private waiting: (() => void)[] = [];
  private step = 0;

  /** @param before inputs of each resource before the upgrade, as JSON, by name */
  constructor(private readonly before: ReadonlyMap<string, string>) {}

  async make(asked: ResourceRequest): Promise<CreatedResource> {
    this.requests += 1;
    if (isShown(asked) && this.before.get(asked.name) !== JSON.stringify(asked.inputs)) {
      this.changed.push({ name: asked.name, type: asked.type, step: this.step });
      await new Promise<void>((end) => this.waiting.push(end));
    }
    return answer(asked);
  }

  /** Ends the changes step by step until `program` has finished. */
  async run(program: Promise<unknown>): Promise<void> {
    let running = true;
    const ended = program.finally(() => (running = false));
    const isRunning = (): boolean => running;
    while (isRunning()) {
      await this.quiet();
      if (this.waiting.length > 0) this.step += 1;
      for (const end of this.waiting.splice(0)) end();
    }
    await ended;
  }

  private async quiet(): Promise<void> {
    let seen = -1;
    for (let turns = 0; turns < quietTurns; turns += 1) {
      if (seen !== this.requests) turns = 0;
      seen = this.requests;
      await setImmediate();
    }
  }
}

/**
 * Returns the resources that an upgrade to the newest minor changes, with the step of each change.
 * The order comes from the program: a resource has a later step only if the program requests it
 * after the end of an earlier change.
 */
export async function findUpgradeSteps(args: PicturedArgs): Promise<readonly UpgradedResource[]> {
  const [newest, former] = supportedMinors.map(versionOf);
  const at = (version: string | undefined): PicturedArgs => ({
    ...args,
    kubernetes: { ...args.kubernetes, version },
  });
  const [start, target] = [at(former), at(newest)];
  const before = new Map<string, string>();
  await runProgram(specOf(start), start, former ?? "", (asked) => {
    before.set(asked.name, JSON.stringify(asked.inputs));
    return Promise.resolve(answer(asked));
  });
  const engine = new StepwiseEngine(before);
  await engine.run(runProgram(specOf(target), target, former ?? "", (asked) => engine.make(asked)));
  return engine.changed;
}
