import assert from "node:assert/strict";
import {
  buildMetricsServerDeployment,
  getMetricsServerSettings,
} from "../../../../components/addons/manifests/metrics-server.js";
import { parseClusterSpec } from "../../../../components/config/cluster-spec.js";
import { smallest } from "../../../support/config/spec.js";
import { unwrapped } from "../../../support/graph/unwrapped.js";
import { containerOf, find, podOf } from "./objects.js";

const workload = "Deployment metrics-server";
const settingsOf = (written: object) => {
  const result = parseClusterSpec({ ...smallest, ...written });
  assert.ok("spec" in result);
  return getMetricsServerSettings(result.spec);
};

describe("addons/manifests/metrics-server", () => {
  it("is optional, and verifies kubelets if the cluster signs their certificates", () => {
    assert.equal(settingsOf({}), undefined);
    assert.deepEqual(settingsOf({ metricsServer: true }), { signedKubelets: false });
    const kubelet = { serverTLSBootstrap: true };
    assert.deepEqual(settingsOf({ metricsServer: true, kubernetes: { kubelet } }), {
      signedKubelets: true,
    });
    const flags = [false, true].map((signedKubelets) =>
      unwrapped(
        buildMetricsServerDeployment({ image: "i", signedKubelets }),
      ).spec.template.spec?.containers[0]?.args?.filter((arg) => /tls|authority/.test(arg)),
    );
    assert.deepEqual(flags, [
      ["--kubelet-insecure-tls"],
      ["--kubelet-certificate-authority=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"],
    ]);
  });

  it("has the Service and port that its APIService names", () => {
    const api = find("APIService", "v1beta1.metrics.k8s.io") as unknown as {
      spec: { service: { name: string; namespace: string } };
    };
    const { name, namespace } = api.spec.service;
    const service = find("Service", name) as unknown as {
      metadata: { namespace: string };
      spec: { selector: object; ports: { targetPort: string }[] };
    };
    assert.equal(service.metadata.namespace, namespace);
    const container = containerOf(workload, "metrics-server");
    assert.equal(service.spec.ports[0]?.targetPort, container.ports?.[0]?.name);
    assert.ok(
      container.args?.includes(`--secure-port=${String(container.ports?.[0]?.containerPort)}`),
    );
    const { metadata } = find("Deployment", "metrics-server");
    assert.deepEqual(service.spec.selector, metadata.labels);
  });

  it("writes only to its own directory and runs unprivileged", () => {
    const { securityContext, volumeMounts } = containerOf(workload, "metrics-server");
    assert.equal(securityContext?.readOnlyRootFilesystem, true);
    assert.deepEqual(volumeMounts, [{ name: "tmp", mountPath: "/tmp" }]);
    assert.equal(securityContext.allowPrivilegeEscalation, false);
  });

  it("queries kubelets from the host network, because pods may not, and frees its port for its successor", () => {
    assert.equal(podOf(workload).hostNetwork, true);
    assert.notEqual(containerOf(workload, "metrics-server").ports?.[0]?.containerPort, 10250);
    const { strategy } = unwrapped(
      buildMetricsServerDeployment({ image: "i", signedKubelets: false }),
    ).spec;
    assert.deepEqual(strategy?.rollingUpdate, { maxSurge: 0, maxUnavailable: 1 });
  });
});
