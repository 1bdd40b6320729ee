import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../../../components/cluster.js";
import { readKubeconfigRenewal } from "../../../components/identity/kubeconfig-renewal.js";
import { ApiReadiness } from "../../../components/kubeadm/api-readiness.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { nonEmpty } from "../../support/non-empty.js";
import { graph, type Fields, type Row } from "../../support/graph/graph.js";
import { readSentScript } from "../../support/graph/sent.js";
import { value } from "../../support/graph/output-value.js";
import { replace } from "../../support/replace-property.js";
import { smallest } from "../../support/config/spec.js";

const validity = { from: "2027-01-01T00:00:00.000Z", to: "2028-01-01T00:00:00.000Z" };
const ended = { from: "2020-01-01T00:00:00.000Z", to: "2021-01-01T00:00:00.000Z" };
const state = (outputs: Fields): typeof cloudAnswers.lookups => ({
  "pulumi:pulumi:readStackResourceOutputs": () => ({
    outputs: { "urn::dev-readiness": { type: "stackadm:kubeadm:Readiness", outputs } },
  }),
});

describe("readKubeconfigRenewal", () => {
  /** Returns the value of a run at this time. */
  const at = async (now: string, outputs: Fields): Promise<string | undefined> => {
    let value: string | undefined;
    const program = async (): Promise<void> => {
      value = await readKubeconfigRenewal("dev-readiness", Date.parse(now));
    };
    await graph(program, { lookups: state(outputs) });
    return value;
  };

  it("returns the end of a kubeconfig with less than 30 % of its lifetime", async () => {
    assert.equal(await at("2027-09-20T00:00:00Z", { kubeconfigValidity: validity }), validity.to);
    assert.equal(await at("2029-01-01T00:00:00Z", { kubeconfigValidity: validity }), validity.to);
  });

  it("returns the value of the last run while the kubeconfig is valid for long", async () => {
    const outputs = { kubeconfigValidity: validity, kubeconfigRenewal: ended.to };
    assert.equal(await at("2027-09-01T00:00:00Z", outputs), ended.to);
  });

  it("changes the value in each run until the kubeconfig is a new one", async () => {
    const values = [validity.to];
    for (let run = 0; run < 3; run += 1) {
      const outputs = { kubeconfigValidity: validity, kubeconfigRenewal: values.at(-1) };
      values.push(String(await at("2027-12-01T00:00:00Z", outputs)));
    }
    const again = `${validity.to} again`;
    assert.deepEqual(values, [validity.to, again, validity.to, again]);
  });

  it("returns no value if the validity is unknown", async () => {
    for (const outputs of [{}, { kubeconfigValidity: { from: "x", to: "y" } }])
      assert.equal(await at("2029-01-01T00:00:00Z", outputs), "");
  });
});

describe("a cluster whose kubeconfig expires soon", () => {
  const args = { ...smallest, controlPlane: { ...smallest.controlPlane, count: 3 } };
  const run = (outputs: Fields): Promise<readonly Row[]> =>
    graph(() => new Cluster("dev", args), {
      ...cloudAnswers,
      lookups: { ...cloudAnswers.lookups, ...state(outputs) },
    });
  /** Returns the names of the scripts that get this value. */
  const scriptsWith = (rows: readonly Row[], value: string): string[] =>
    nonEmpty(
      rows.filter(({ type, inputs }) => type.endsWith("remote:Command") && "create" in inputs),
    )
      .filter(({ inputs }) => readSentScript(inputs).values["KUBECONFIG_RENEWAL"] === value)
      .map(({ name }) => name);

  it("changes only the script that outputs the kubeconfig", async () => {
    const rows = await run({ kubeconfigValidity: ended });
    assert.deepEqual(scriptsWith(rows, ended.to), ["dev-control-plane-0-init"]);
  });

  it("records the value for the next run", async () => {
    let outputs: pulumi.Inputs = {};
    const register = (registered?: pulumi.Inputs): void => {
      outputs = registered ?? outputs;
    };
    const restore = replace(ApiReadiness.prototype, "registerOutputs" as never, register);
    await run({ kubeconfigValidity: ended }).finally(restore);
    assert.equal(await value(pulumi.output(outputs["kubeconfigRenewal"])), ended.to);
  });
});
