import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import type { ClusterArgs } from "../../components/cluster-spec.js";
import { Cluster } from "../../components/cluster.js";
import { FrozenValues } from "../../components/frozen-values.js";
import { cloudAnswers } from "../support/cloud-answers.js";
import { graph, type Fields, type Row } from "../support/graph.js";
import { plain } from "../support/secrets.js";
import { smallest } from "../support/spec.js";

type Values = Readonly<Record<string, unknown>>;

const urn = "urn:pulumi:test::stackadm::stackadm:index:Cluster$command:local:Command::dev-frozen";
/** What the engine says of the state, by the resource's name. */
type State = Readonly<Record<string, string>> | undefined;
const living: State = { "dev-addons-provider": "pulumi:providers:kubernetes" };

/** What the engine calls before an update from one set of values to another, on a stack in this state. */
async function update(before: Values | undefined, now: Values, state: State): Promise<void> {
  const hooks: unknown[] = [];
  const look: pulumi.ResourceTransformation = ({ opts }) => {
    hooks.push(...(opts.hooks?.beforeUpdate ?? []));
    return undefined;
  };
  const lookup = ({ stackName }: Fields): Fields => {
    assert.equal(stackName, "organization/stackadm/test");
    if (!state) throw new Error("no backend client is available");
    const outputs = Object.entries(state).map(([name, type]) => [`urn::${name}`, { type }]);
    return { outputs: Object.fromEntries(outputs) as Fields };
  };
  const args = { cluster: "dev", values: {} };
  const lookups = { "pulumi:pulumi:readStackResourceOutputs": lookup };
  await graph(
    async () => {
      new FrozenValues("dev-frozen", args, { transformations: [look] });
      const [hook, ...more] = hooks;
      assert.ok(pulumi.ResourceHook.isInstance(hook) && more.length === 0);
      assert.equal(hook.opts?.onDryRun, true);
      await hook.callback({
        ...{ urn, id: "", name: "dev-frozen", type: "" },
        oldInputs: before && { environment: before },
        newInputs: { environment: now },
      });
    },
    { ...cloudAnswers, lookups },
  );
}

describe("frozen values", () => {
  it("refuse every other value at once, in a preview too", async () => {
    await assert.rejects(update({ a: "1", b: "2", c: "3" }, { a: "1", b: "3", c: "4" }, living), {
      message: [
        "[INVALID_CONFIG] The specification of the living cluster dev is not valid:",
        "  cluster.b: 2 cannot become 3 while the cluster lives; write 2 again, or destroy the cluster and make it anew",
        "  cluster.c: 3 cannot become 4 while the cluster lives; write 3 again, or destroy the cluster and make it anew",
      ].join("\n"),
    });
  });

  it("let a value come, go, and be unknown", async () => {
    await update({ a: "1" }, { b: "2" }, living);
    await update({ a: "1" }, { a: pulumi.unknown }, living);
    await update(undefined, { a: "1" }, living);
  });

  it("may be corrected as long as the cluster never answered", async () => {
    const others = { "other-provider": "pulumi:providers:kubernetes", "dev-seed": "command:x:Y" };
    await update({ a: "1" }, { a: "2" }, others);
    await update({ a: "1" }, { a: "2" }, {});
    await assert.rejects(update({ a: "1" }, { a: "2" }, { "dev-x": "kubernetes:core/v1:Secret" }));
  });

  it("belong to a living cluster when the state cannot be asked", async () => {
    await assert.rejects(update({ a: "1" }, { a: "2" }, undefined), /living cluster/);
  });
});

describe("the frozen values of a cluster", () => {
  const build = (over: Partial<ClusterArgs> = {}): Promise<readonly Row[]> =>
    graph(() => {
      new Cluster("dev", { ...smallest, ...over });
    }, cloudAnswers);
  const named = (some: readonly Row[], name: string): Row => {
    const found = some.find((row) => row.name === name);
    assert.ok(found, name);
    return found;
  };
  const values = (some: readonly Row[]): Readonly<Record<string, string>> =>
    named(some, "dev-frozen").inputs["environment"] as Readonly<Record<string, string>>;
  let rows: readonly Row[];
  before(async () => {
    rows = await build();
  });

  it("are in the state in clear, by path, and compared before an update of them", () => {
    const { type, inputs, hooks, replaceOnChanges } = named(rows, "dev-frozen");
    assert.equal(type, "command:local:Command");
    // Without a command nothing runs; only `triggers` would replace.
    assert.deepEqual(Object.keys(inputs), ["environment"]);
    assert.deepEqual(replaceOnChanges, ["triggers[*]"]);
    assert.deepEqual(hooks, ["check-dev-frozen"]);
    assert.equal(values(rows)["network.pods"], "10.244.0.0/16");
  });

  it("have the external network by its ID: another way to name it is no change", async () => {
    const byId = await build({ externalNetwork: "0b1c2d3e-0000-4000-8000-000000000000" });
    assert.equal(values(rows)["externalNetwork"], "external-network-id");
    assert.deepEqual(values(byId), values(rows));
  });

  it("come before anything else: every child of the cluster waits for them", () => {
    const children = rows.filter(({ parent }) => parent.endsWith(`${Cluster.type}::dev`));
    const first = children.filter(
      ({ dependencies }) => !dependencies.some((one) => one.endsWith("::dev-frozen")),
    );
    assert.deepEqual(
      first.map(({ name }) => name),
      ["dev-frozen"],
    );
    assert.deepEqual(named(rows, "dev-frozen").dependencies, []);
  });

  it("are what the machine compares again", () => {
    const read = plain(named(rows, "dev-control-plane-0-init").inputs["stdin"]);
    const lines = Object.entries(values(rows)).map(([path, value]) => `${path} ${value}`);
    assert.ok(read.includes(`FROZEN='${lines.sort().join("\n")}'\n`));
  });
});
