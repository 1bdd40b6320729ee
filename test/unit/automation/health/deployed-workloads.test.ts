import assert from "node:assert/strict";
import { findDeployedWorkloads } from "../../../../automation/health/deployed-workloads.js";
import { kubeadmWorkloads } from "../../../../automation/verify/workload-checks.js";

const urn = (types: string, name: string): string => `urn:pulumi:dev::p::${types}::${name}`;
const workload = (types: string, name: string, more: object = {}) => ({
  urn: urn(types, name),
  type: types.split("$").at(-1) ?? "",
  custom: true,
  inputs: { metadata: { name, namespace: "kube-system" } },
  ...more,
});
const addon = "stackadm:index:Cluster$stackadm:addons:Addons";

describe("health/deployed-workloads", () => {
  const found = (...resources: readonly ReturnType<typeof workload>[]) =>
    findDeployedWorkloads(
      { version: 3, deployment: { resources: [...resources] } },
      { samples: { namespace: "stackadm-samples" } },
    ).slice(0, -kubeadmWorkloads.length);

  it("returns the workloads of stackadm's components", () => {
    assert.deepEqual(
      found(
        workload(`${addon}$kubernetes:apps/v1:DaemonSet`, "csi"),
        workload(`${addon}$kubernetes:apps/v1:Deployment`, "controller"),
        workload(`${addon}$kubernetes:core/v1:Service`, "service"),
      ),
      [
        { kind: "DaemonSet", namespace: "kube-system", name: "csi" },
        { kind: "Deployment", namespace: "kube-system", name: "controller" },
      ],
    );
  });

  it("leaves out the user's workloads, the samples and replaced workloads", () => {
    const samples = { inputs: { metadata: { name: "web", namespace: "stackadm-samples" } } };
    assert.deepEqual(
      found(
        workload("kubernetes:apps/v1:Deployment", "own"),
        workload(`${addon}$kubernetes:apps/v1:Deployment`, "web", samples),
        workload(`${addon}$kubernetes:apps/v1:Deployment`, "former", { delete: true }),
        workload(`${addon}$kubernetes:apps/v1:Deployment`, "unnamed", { inputs: {} }),
      ),
      [],
    );
  });

  it("always adds CoreDNS and kube-proxy, which kubeadm deploys", () => {
    const all = findDeployedWorkloads({ version: 3, deployment: {} }, { samples: undefined });
    assert.deepEqual(
      all.map(({ name }) => name),
      ["coredns", "kube-proxy"],
    );
  });
});
