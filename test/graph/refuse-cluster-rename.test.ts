import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import program from "../../index.js";
import { refuseClusterRename } from "../../components/refuse-cluster-rename.js";
import { cloudAnswers } from "../support/cloud/cloud-answers.js";
import { graph, type Fields } from "../support/graph/graph.js";
import { smallest } from "../support/config/spec.js";

/** Type of each resource in the state, by the resource's name. */
type State = Readonly<Record<string, string>> | undefined;

const cluster = "stackadm:index:Cluster";
const living: State = {
  old: cluster,
  "old-addons-provider": "pulumi:providers:kubernetes",
};

const lookups = (state: State): Record<string, () => Fields> => ({
  "pulumi:pulumi:readStackResourceOutputs": () => {
    if (!state) throw new Error("no backend client is available");
    const outputs = Object.entries(state).map(([one, type]) => [`urn::${one}`, { type }]);
    return { outputs: Object.fromEntries(outputs) as Fields };
  },
});

const renamed = async (name: string, state: State): Promise<void> => {
  for (const preview of [true, false])
    await graph(() => refuseClusterRename(name, "Pulumi.dev.yaml"), {
      preview,
      lookups: lookups(state),
    });
};

describe("refuseClusterRename", () => {
  it("refuses another name for an existing cluster, also in a preview", async () => {
    await assert.rejects(renamed("new", living), {
      message: [
        "[INVALID_CONFIG] Pulumi.dev.yaml is not valid:",
        "  cluster.name: old cannot become new while the cluster exists: Pulumi would delete it with its data and create another one; write old again, or use another stack for another cluster",
      ].join("\n"),
    });
  });

  it("accepts the same name, and any name without a cluster in the state", async () => {
    await renamed("old", living);
    await renamed("new", {});
    await renamed("new", undefined);
  });

  it("accepts another name until the state has a Kubernetes resource of the cluster", async () => {
    await renamed("new", { old: cluster, "old-seed": "command:local:Command" });
    const others = { "older-addons-provider": "pulumi:providers:kubernetes" };
    await renamed("new", { old: cluster, ...others });
  });

  it("runs in the program that reads the cluster from the settings", async () => {
    const run = (name: string): Promise<unknown> =>
      graph(
        () => {
          const cluster = JSON.stringify({ ...smallest, name });
          pulumi.runtime.setAllConfig({ "stackadm:cluster": cluster });
          return program();
        },
        { ...cloudAnswers, lookups: { ...cloudAnswers.lookups, ...lookups(living) } },
      );
    await assert.rejects(run("new"), /Pulumi\.test\.yaml .*:\n {2}cluster\.name: old cannot/);
    await run("old");
  });
});
