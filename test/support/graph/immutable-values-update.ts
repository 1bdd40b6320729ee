/**
 * Runs the hook that checks changes of a cluster's frozen values. Frozen values are settings that
 * must not change.
 */
import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import {
  FrozenValues,
  getNamesByPath,
  type FrozenValuesArgs,
} from "../../../components/lifecycle/immutable-values.js";
import { planCluster } from "../../../components/plan/cluster-plan.js";
import { cloudAnswers } from "../cloud/cloud-answers.js";
import { graph, type Fields } from "./graph.js";
import { smallest, specOf } from "../config/spec.js";

export type Values = Readonly<Record<string, unknown>>;

export const allGroups: ClusterArgs = {
  ...smallest,
  workers: { gpu: { flavor: "medium", count: 2 } },
  etcd: { kind: "dedicated", flavor: "medium" },
  access: "bastion",
  bastion: { flavor: "tiny" },
};

const urn = "urn:pulumi:test::stackadm::stackadm:index:Cluster$command:local:Command::dev-frozen";
/** Map from the name of a resource in the state to its type and outputs, or only to its type. */
export type State = Readonly<Record<string, string | Recorded>> | undefined;
export interface Recorded {
  readonly type: string;
  readonly outputs: Fields;
}
export const living: State = { "dev-addons-provider": "pulumi:providers:kubernetes" };

/**
 * Runs the hook that the engine calls before it updates the frozen values. `state` is the state of
 * the stack.
 */
export async function update(
  before: Values | undefined,
  now: Values,
  state: State,
  checks: Partial<Pick<FrozenValuesArgs, "replacements" | "upgrades">> = {},
): Promise<void> {
  const hooks: unknown[] = [];
  const look: pulumi.ResourceTransformation = ({ opts }) => {
    hooks.push(...(opts.hooks?.beforeUpdate ?? []));
    return undefined;
  };
  const lookup = ({ stackName }: Fields): Fields => {
    assert.equal(stackName, "organization/stackadm/test");
    if (!state) throw new Error("no backend client is available");
    const outputs = Object.entries(state).map(([name, one]) => [
      `urn::${name}`,
      typeof one === "string" ? { type: one } : one,
    ]);
    return { outputs: Object.fromEntries(outputs) as Fields };
  };
  const args = {
    cluster: "dev",
    values: {},
    replacements: () => [],
    upgrades: () => [],
    ...checks,
    groups: getNamesByPath(planCluster(specOf(allGroups))),
  };
  const lookups = { "pulumi:pulumi:readStackResourceOutputs": lookup };
  await graph(
    async () => {
      new FrozenValues("dev-frozen", args, { transformations: [look] });
      const [hook, ...more] = hooks;
      assert.ok(pulumi.ResourceHook.isInstance(hook) && more.length === 0);
      assert.equal(hook.opts?.onDryRun, true);
      await hook.callback({
        urn,
        id: "",
        name: "dev-frozen",
        type: "",
        oldInputs: before && { environment: before },
        newInputs: { environment: now },
      });
    },
    { ...cloudAnswers, lookups },
  );
}
