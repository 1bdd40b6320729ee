import assert from "node:assert/strict";
import type { KubernetesApi } from "../../../../automation/verify/kubernetes-client.js";
import type { VerificationRun } from "../../../../automation/verify/check.js";
import { checkWorkloads, type Workload } from "../../../../automation/verify/workload-checks.js";

const namespace = "kube-system";
const csi: Workload = { kind: "DaemonSet", namespace, name: "csi" };
const dns: Workload = { kind: "Deployment", namespace, name: "coredns", mayBeAbsent: true };

describe("verify/workload-checks", () => {
  const requests: string[] = [];
  /** Runs the checks. `answers` contains the items by path. */
  const check = (
    workloads: readonly Workload[],
    answers: Readonly<Record<string, readonly unknown[]>>,
  ) => {
    requests.length = 0;
    const api = {
      get: (path: string) => {
        requests.push(path);
        return Promise.resolve({ items: answers[path.split("/").at(-1) ?? ""] ?? [] });
      },
    } as unknown as KubernetesApi;
    return checkWorkloads({ api, timeout: 0 } as unknown as VerificationRun, workloads);
  };
  const item = (name: string, spec: object, status: object) => ({
    metadata: { name, generation: 2 },
    spec,
    status: { observedGeneration: 2, ...status },
  });

  it("passes if all pods are available, with one request for each kind and namespace", async () => {
    const controller: Workload = { kind: "Deployment", namespace, name: "controller" };
    const results = await check([csi, dns, controller], {
      daemonsets: [item("csi", {}, { desiredNumberScheduled: 3, numberAvailable: 3 })],
      deployments: [
        item("coredns", { replicas: 2 }, { availableReplicas: 2 }),
        item("controller", { replicas: 0 }, {}),
      ],
    });
    assert.deepEqual(
      results.map(({ where, ok, answer }) => [where, ok, answer]),
      [
        ["kube-system/csi", true, "3 of 3 pods are available"],
        ["kube-system/coredns", true, "2 of 2 pods are available"],
        ["kube-system/controller", true, "0 of 0 pods are available"],
      ],
    );
    assert.deepEqual(requests, [
      "/apis/apps/v1/namespaces/kube-system/daemonsets",
      "/apis/apps/v1/namespaces/kube-system/deployments",
    ]);
  });

  it("fails if pods are missing, and names the command that says more", async () => {
    const [result] = await check([csi], {
      daemonsets: [item("csi", {}, { desiredNumberScheduled: 3, numberAvailable: 2 })],
    });
    assert.deepEqual(
      [result?.ok, result?.answer],
      [
        false,
        "2 of 3 pods are available; `kubectl describe -n kube-system daemonset/csi` says more",
      ],
    );
  });

  it("fails while Kubernetes has not processed the last change", async () => {
    const status = { observedGeneration: 1, availableReplicas: 2 };
    const [result] = await check([dns], {
      deployments: [item("coredns", { replicas: 2 }, status)],
    });
    assert.match(result?.answer ?? "", /has not processed its last change/);
  });

  it("fails if a workload does not exist, unless it may be absent", async () => {
    const [missing, ...others] = await check([csi, dns], {});
    assert.deepEqual([missing?.ok, others], [false, []]);
    assert.match(missing?.answer ?? "", /does not exist; `stackadm up --refresh` creates it again/);
  });
});
