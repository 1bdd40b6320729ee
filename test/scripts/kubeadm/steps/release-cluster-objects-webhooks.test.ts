import { strict as assert } from "node:assert";
import { controlPlaneMachine, runControlPlane } from "../../../support/machine/control-plane.js";
import {
  common,
  kubectl,
  patience,
  services,
  volumes,
} from "../../../support/machine/release-stubs.js";
import { Sandbox } from "../../../support/machine/sandbox.js";

describe("release-cluster-objects.sh with a webhook that does not answer", () => {
  let machine: Sandbox;
  const run = (seconds: number) => machine.run(patience(seconds), { OTHERS: "no" });
  const living = (cases: Readonly<Record<string, string>>): void => {
    machine.stub("kubectl", kubectl(cases));
    machine.put("etc/kubernetes/admin.conf");
  };
  beforeEach(() => {
    machine = new Sandbox(common);
  });
  afterEach(() => {
    machine.close();
  });

  const stuck = {
    [services]: "",
    [volumes]: "[ -e $root/deaf ] || echo volume going - pvc-1 x,",
    '"get validatingwebhookconfigurations"*':
      "[ -e $root/deaf ] || echo guard 0 guard.example.com 10",
  };
  const webhooks = (calls: readonly string[]): string[] =>
    calls
      .join("\n")
      .split("kubectl ")
      .filter((call) => /^(annotate|patch|--kubeconfig \S+ (annotate|patch)) /.test(call))
      .map((call) => call.replace(/^--kubeconfig \S+ /, "").trim());

  it("ignores the webhook's failures if the deletion stalls, and records the former settings", () => {
    living({ ...stuck, '*"patch validating"*': "touch $root/deaf" });
    const { code, stderr, calls } = run(20);
    assert.equal(code, 0, stderr);
    const [annotation = "", patch = "", ...more] = webhooks(calls);
    assert.deepEqual(more, []);
    assert.equal(
      annotation,
      "annotate validatingwebhookconfigurations guard --overwrite stackadm.io/webhook-0=guard.example.com 10",
    );
    assert.match(patch, /^patch validatingwebhookconfigurations guard --type json -p \[/);
    assert.match(patch, /"value": "guard.example.com".*"value": "Ignore"/s);
  });

  const remembered = {
    '*"get validatingwebhookconfigurations"*metadata.annotations*':
      "echo ValidatingWebhookConfiguration guard stackadm.io/webhook-2 guard.example.com 10",
  };
  const givenBack = (calls: readonly string[]): void => {
    const [patch = "", annotation = ""] = webhooks(calls).slice(-2);
    assert.match(patch, /"\/webhooks\/2\/name", "value": "guard.example.com"/);
    assert.match(patch, /"value": "Fail".*timeoutSeconds", "value": 10/s);
    assert.equal(
      annotation.split("\n")[0],
      "annotate ValidatingWebhookConfiguration guard stackadm.io/webhook-2-",
    );
  };

  it("restores the webhook if the teardown fails, even if an earlier run changed the webhook", () => {
    living({ ...remembered, ...stuck });
    const { code, calls } = run(3);
    assert.equal(code, 1);
    givenBack(calls);
  });

  const takesPolicies = (calls: readonly string[]): boolean =>
    calls.some((call) =>
      /delete validatingadmissionpolicy,\S+ stackadm-teardown --ignore-not-found/.test(call),
    );

  it("restores the webhook and deletes the teardown's policies when control-plane.sh runs again", () => {
    const controlPlane = controlPlaneMachine();
    controlPlane.stub(
      "kubectl",
      `case "$*" in ${Object.entries(remembered)
        .map(([words, body]) => `${words}) ${body} ;;`)
        .join("")} *) ${controlPlane.bodyOf("kubectl")} ;; esac`,
    );
    const first = runControlPlane(controlPlane);
    assert.deepEqual(webhooks(first.calls), [], "a cluster that begins has none");
    assert.ok(!takesPolicies(first.calls));
    const { code, stderr, calls } = runControlPlane(controlPlane);
    controlPlane.close();
    assert.equal(code, 0, stderr);
    givenBack(calls);
    assert.ok(takesPolicies(calls), "what is created again is let in again");
  });
});
