import { strict as assert } from "node:assert";
import { issueJoinCredentialsProgram } from "../../../../components/kubeadm/node-scripts.js";
import { Sandbox } from "../../../support/machine/sandbox.js";

describe("issue-join-credentials.sh, spreading CoreDNS", () => {
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

  it("deletes exactly one of the replicas that are on one machine", () => {
    cluster(["a coredns-1", "a coredns-2"], nodes);
    assert.deepEqual(deleted(), ["kubectl -n kube-system delete pod coredns-2 --wait=false"]);
  });

  it("leaves them alone when they are on two machines, or when there is but one", () => {
    cluster(["a coredns-1", "b coredns-2"], nodes);
    assert.deepEqual(deleted(), []);
    cluster(["a coredns-1"], nodes);
    assert.deepEqual(deleted(), []);
  });

  it("leaves them alone while no other machine takes pods", () => {
    for (const other of ["b=False=", "b=True=[uninitialized]"]) {
      cluster(["a coredns-1", "a coredns-2"], ["cp=True=[control-plane]", "a=True=", other]);
      assert.deepEqual(deleted(), []);
    }
  });
});
