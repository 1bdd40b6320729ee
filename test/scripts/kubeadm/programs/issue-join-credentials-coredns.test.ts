import { strict as assert } from "node:assert";
import { issueJoinCredentialsProgram } from "../../../../components/kubeadm/node-scripts.js";
import { Sandbox } from "../../../support/machine/sandbox.js";

describe("issue-join-credentials.sh spread", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox({ hostname: "echo machine" });
  });
  afterEach(() => {
    machine.close();
  });
  const cluster = (pods: readonly string[], nodes: readonly string[]): void => {
    machine.stub(
      "kubectl",
      `case "$*" in *"get pods"*) printf '${pods.join("\\n")}' ;; *"get nodes"*) printf '${nodes.map((node) => `${node}\\n`).join("")}' ;; esac`,
    );
  };
  const deleted = (): string[] =>
    machine
      .execute(
        issueJoinCredentialsProgram.replace(
          "try < 60; try++)); do\n    if spread",
          "try < 1; try++)); do\n    if spread",
        ),
        "spread",
      )
      .calls.filter((call) => call.includes("delete"));
  const nodes = ["cp=True=[control-plane]", "a=True=", "b=True="];

  it("deletes exactly one of two CoreDNS pods on the same node", () => {
    cluster(["a coredns-1", "a coredns-2"], nodes);
    assert.deepEqual(deleted(), ["kubectl -n kube-system delete pod coredns-2 --wait=false"]);
  });

  it("deletes no pod if the CoreDNS pods are on two nodes or if only one pod exists", () => {
    cluster(["a coredns-1", "b coredns-2"], nodes);
    assert.deepEqual(deleted(), []);
    cluster(["a coredns-1"], nodes);
    assert.deepEqual(deleted(), []);
  });

  it("deletes no CoreDNS pod while no other node accepts pods", () => {
    for (const other of ["b=False=", "b=True=[uninitialized]"]) {
      cluster(["a coredns-1", "a coredns-2"], ["cp=True=[control-plane]", "a=True=", other]);
      assert.deepEqual(deleted(), []);
    }
  });
});
