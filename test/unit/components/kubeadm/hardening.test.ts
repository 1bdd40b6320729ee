import { strict as assert } from "node:assert";
import { parseClusterSpec, type ClusterArgs } from "../../../../components/config/cluster-spec.js";
import {
  getAdmissionPluginSettings,
  getApiServerFlags,
  getControllerManagerFlags,
  mergeKubeletFields,
  getSchedulerFlags,
  hasSignedKubeletCertificates,
} from "../../../../components/kubeadm/hardening.js";
import { smallest } from "../../../support/config/spec.js";

const kubernetes = (written: NonNullable<ClusterArgs["kubernetes"]> = {}) => {
  const result = parseClusterSpec({ ...smallest, kubernetes: written });
  assert.ok("spec" in result, JSON.stringify(result));
  return result.spec.kubernetes;
};

const hardened = { hardened: true };

const podSecurity = (written: NonNullable<ClusterArgs["kubernetes"]>) => {
  const { plugins = [] } = (getAdmissionPluginSettings(kubernetes(written)) ?? {}) as {
    plugins?: {
      name: string;
      configuration: {
        defaults: Record<string, string>;
        exemptions: { namespaces: readonly string[] };
      };
    }[];
  };
  return plugins.find(({ name }) => name === "PodSecurity")?.configuration;
};

describe("hardening", () => {
  it("disables profiling of all components unless the user enables it", () => {
    for (const flags of [getApiServerFlags, getSchedulerFlags])
      assert.deepEqual(flags(kubernetes()), { profiling: false });
    const requests = { "kube-api-qps": 100, "kube-api-burst": 200 };
    assert.deepEqual(getControllerManagerFlags(kubernetes()), { profiling: false, ...requests });
    const scheduler = { extraArgs: { profiling: true } };
    assert.deepEqual(getSchedulerFlags(kubernetes({ scheduler })), { profiling: true });
  });

  it("keeps the user's request rate of the controller manager", () => {
    const controllerManager = { extraArgs: { "kube-api-qps": 30 } };
    assert.equal(getControllerManagerFlags(kubernetes({ controllerManager }))["kube-api-qps"], 30);
  });

  it("multiplies leader election times by timeoutFactor unless the user sets one of the times", () => {
    const times = {
      "leader-elect-lease-duration": "60s",
      "leader-elect-renew-deadline": "40s",
      "leader-elect-retry-period": "8s",
    };
    for (const [flags, more] of [
      [getControllerManagerFlags, { "node-monitor-grace-period": "200s" }],
      [getSchedulerFlags, {}],
    ] as const) {
      const usual = flags({ ...kubernetes(), timeoutFactor: 1 });
      assert.deepEqual(usual, flags(kubernetes()));
      assert.deepEqual(flags({ ...kubernetes(), timeoutFactor: 4 }), {
        ...usual,
        ...times,
        ...more,
      });
    }
    // The lease must be longer than the renew deadline of 40 s, or the component refuses to start.
    const extraArgs = { "leader-elect-lease-duration": "30s" };
    const written = kubernetes({ scheduler: { extraArgs }, controllerManager: { extraArgs } });
    for (const flags of [getControllerManagerFlags, getSchedulerFlags]) {
      const { "node-monitor-grace-period": grace, ...rest } = flags({
        ...written,
        timeoutFactor: 4,
      });
      assert.equal(grace, flags === getControllerManagerFlags ? "200s" : undefined);
      assert.deepEqual(rest, flags(written));
    }
  });

  it("raises lease and etcd timeouts on slow machines unless the user sets them", () => {
    const slow = { ...kubernetes(), timeoutFactor: 4 };
    assert.deepEqual(mergeKubeletFields(slow), {
      nodeLeaseDurationSeconds: 160,
      nodeStatusUpdateFrequency: "8s",
      nodeStatusReportFrequency: "5m0s",
    });
    const kubelet = { nodeLeaseDurationSeconds: 60, nodeStatusUpdateFrequency: "10s" };
    assert.deepEqual(mergeKubeletFields({ ...kubernetes({ kubelet }), timeoutFactor: 4 }), kubelet);
    assert.equal(getApiServerFlags(slow)["etcd-readycheck-timeout"], "8s");
    assert.equal(getApiServerFlags(kubernetes())["etcd-readycheck-timeout"], undefined);
    const apiServer = { extraArgs: { "etcd-readycheck-timeout": "3s" } };
    const written = { ...kubernetes({ apiServer }), timeoutFactor: 4 };
    assert.equal(getApiServerFlags(written)["etcd-readycheck-timeout"], "3s");
  });

  it("warns about pods above the baseline by default, and refuses them if hardened", () => {
    assert.equal(podSecurity({})?.defaults["enforce"], "privileged");
    assert.equal(podSecurity({})?.defaults["warn"], "baseline");
    assert.equal(podSecurity(hardened)?.defaults["enforce"], "baseline");
    assert.equal(podSecurity(hardened)?.defaults["warn"], "restricted");
    assert.deepEqual(podSecurity(hardened)?.exemptions.namespaces, ["kube-system", "kube-flannel"]);
  });

  it("uses the user's admission configuration file and omits plugins that need the program's file", () => {
    const extraArgs = { "admission-control-config-file": "/etc/mine.yaml" };
    const own = kubernetes({ ...hardened, apiServer: { extraArgs } });
    assert.equal(getAdmissionPluginSettings(own), undefined);
    assert.equal(
      getApiServerFlags(own)["enable-admission-plugins"],
      "NodeRestriction,AlwaysPullImages,DenyServiceExternalIPs",
    );
  });

  it("merges its admission plugins with the user's, without duplicates", () => {
    const extraArgs = { "enable-admission-plugins": "PodNodeSelector,NodeRestriction" };
    const own = kubernetes({ ...hardened, apiServer: { extraArgs } });
    assert.equal(
      getApiServerFlags(own)["enable-admission-plugins"],
      "NodeRestriction,AlwaysPullImages,DenyServiceExternalIPs,EventRateLimit,PodNodeSelector",
    );
    const soft = kubernetes({ apiServer: { extraArgs } });
    assert.equal(
      getApiServerFlags(soft)["enable-admission-plugins"],
      extraArgs["enable-admission-plugins"],
    );
  });

  it("keeps NodeRestriction and the controllers for tokens in the user's lists", () => {
    const own = kubernetes({
      apiServer: { extraArgs: { "enable-admission-plugins": ["PodNodeSelector"] } },
      controllerManager: { extraArgs: { controllers: "*,-ttl-after-finished-controller" } },
    });
    assert.equal(
      getApiServerFlags(own)["enable-admission-plugins"],
      "PodNodeSelector,NodeRestriction",
    );
    assert.equal(
      getControllerManagerFlags(own)["controllers"],
      "*,-ttl-after-finished-controller,bootstrapsigner,tokencleaner",
    );
  });

  it("omits admission plugins that the user disables, because the API server refuses a plugin in both flags", () => {
    const extraArgs = {
      "disable-admission-plugins": ["AlwaysPullImages", "PodSecurity,EventRateLimit"],
    };
    const flags = getApiServerFlags(kubernetes({ ...hardened, apiServer: { extraArgs } }));
    assert.equal(flags["enable-admission-plugins"], "NodeRestriction,DenyServiceExternalIPs");
    assert.deepEqual(flags["disable-admission-plugins"], extraArgs["disable-admission-plugins"]);
  });

  it("restricts the kubelet only if hardened, and prefers the user's fields", () => {
    assert.deepEqual(mergeKubeletFields(kubernetes()), {});
    const fields = mergeKubeletFields(kubernetes({ ...hardened, kubelet: { podPidsLimit: 100 } }));
    assert.equal(fields["podPidsLimit"], 100);
    assert.equal(fields["seccompDefault"], true);
  });

  it("verifies kubelets' certificates if hardened, unless kubelets use self-signed ones", () => {
    const flag = "kubelet-certificate-authority";
    const authority = "/etc/kubernetes/pki/ca.crt";
    assert.equal(mergeKubeletFields(kubernetes(hardened))["serverTLSBootstrap"], true);
    assert.equal(getApiServerFlags(kubernetes(hardened))[flag], authority);
    assert.ok(!(flag in getApiServerFlags(kubernetes())));
    const selfSigned = kubernetes({ ...hardened, kubelet: { serverTLSBootstrap: false } });
    assert.ok(!(flag in getApiServerFlags(selfSigned)));
    // Existing kubelets that request certificates may have requests that are not approved yet.
    const asking = kubernetes({ kubelet: { serverTLSBootstrap: true } });
    assert.ok(!(flag in getApiServerFlags(asking)));
    assert.deepEqual([kubernetes(), selfSigned, asking].map(hasSignedKubeletCertificates), [
      false,
      false,
      true,
    ]);
  });
});
