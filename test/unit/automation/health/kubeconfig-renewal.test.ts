import assert from "node:assert/strict";
import {
  markScriptsForKubeconfig,
  findKubeconfigRenewalScripts,
} from "../../../../automation/health/kubeconfig-renewal.js";
import { StackOperation } from "../../../../automation/engine/operation-context.js";
import { Engine, urnOf } from "../../../support/engine/fake-engine.js";

const year = { from: "2027-01-01T00:00:00Z", to: "2028-01-01T00:00:00Z" };
const command = "command:remote:Command";
const script = (name: string) => ({
  urn: urnOf(`stackadm:Cluster$stackadm:kubeadm:ControlPlane$${command}`, name),
  type: command,
  custom: true,
  inputs: { update: "u" },
  outputs: { update: "u" },
});
const readiness = (kubeconfigValidity?: object) => {
  const type = "stackadm:kubeadm:Readiness";
  const urn = urnOf(`stackadm:Cluster$${type}`, "dev-readiness");
  return { urn, type, custom: false, outputs: { kubeconfigValidity } };
};
const init = script("dev-control-plane-0-init");
const others = ["dev-control-plane-1-join", "dev-control-plane-0-prepare"].map(script);
import { runSteps } from "../../../../automation/steps/run-steps.js";
import type { OperationFacts } from "../../../../automation/steps/step.js";

describe("renewal of the kubeconfig", () => {
  const scripts = (now: string, validity?: object): string[] => {
    const resources = [init, ...others, readiness(validity)];
    return [
      ...findKubeconfigRenewalScripts({ version: 3, deployment: { resources } }, Date.parse(now)),
    ];
  };

  it("marks only the script that returns the kubeconfig", () => {
    assert.deepEqual(scripts("2027-09-20T00:00:00Z", year), [init.urn]);
    assert.deepEqual(scripts("2029-01-01T00:00:00Z", year), [init.urn]);
  });

  it("marks nothing if the kubeconfig is valid for long or its validity is unknown", () => {
    assert.deepEqual(scripts("2027-09-01T00:00:00Z", year), []);
    assert.deepEqual(scripts("2029-01-01T00:00:00Z"), []);
    assert.deepEqual(scripts("2029-01-01T00:00:00Z", { from: "x", to: "y" }), []);
  });

  it("runs the script in the next engine run and notifies the user", async () => {
    const engine = new Engine();
    try {
      const ended = { from: "2020-01-01T00:00:00Z", to: "2021-01-01T00:00:00Z" };
      const resources = [init, ...others, readiness(ended)];
      engine.state({ resources });
      const notes: string[] = [];
      const run = {
        access: engine.access(),
        note: (text: string) => notes.push(text),
        step: (_: string, work: () => unknown) => work(),
      } as unknown as StackOperation;
      const fetch = (state: OperationFacts["state"]): Promise<void> =>
        runSteps({ guards: [], steps: [markScriptsForKubeconfig] }, { run, state });
      await fetch({ version: 3, deployment: { resources } });
      assert.match(notes.join(), /expires soon/);
      assert.equal(engine.calls().filter((call) => call.startsWith("stack import")).length, 1);
      await fetch(undefined);
      await fetch({ version: 3, deployment: { resources: [init] } });
      assert.equal(notes.length, 1);
    } finally {
      engine.remove();
    }
  });
});
