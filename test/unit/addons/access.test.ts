import assert from "node:assert/strict";
import { access, rule } from "../../../components/addons/manifests/access.js";
import { blockStorageAccess } from "../../../components/addons/manifests/block-storage.js";
import { cloudControllerAccess } from "../../../components/addons/manifests/cloud-controller.js";
import { kubeRouterAccess } from "../../../components/addons/manifests/kube-router.js";
import { find, objects, podSpecs, rulesOf } from "./objects.js";

/** What each account may do, in full: a change here is a change of rights and wants a reason. */
const expected = {
  "cloud-controller-manager": [
    "core/nodes: get list watch patch update delete",
    "core/nodes/status: patch",
    "core/services: list watch patch update",
    "core/services/status: patch",
    "core/events: create patch update",
    "coordination.k8s.io/leases: get create update patch",
    "core/configmaps: get list watch",
  ],
  "kube-router": [
    "core/namespaces: get list watch",
    "core/nodes: get list watch",
    "core/pods: get list watch",
    "core/services: get list watch",
    "discovery.k8s.io/endpointslices: get list watch",
    "networking.k8s.io/networkpolicies: get list watch",
  ],
  "csi-cinder-controllerplugin": [
    "core/persistentvolumes: get list watch create patch delete",
    "core/persistentvolumeclaims: get list watch update",
    "core/persistentvolumeclaims/status: patch",
    "core/nodes: get list watch",
    "core/pods: get list watch",
    "storage.k8s.io/csinodes: get list watch",
    "storage.k8s.io/storageclasses: get list watch",
    "storage.k8s.io/volumeattributesclasses: get list watch",
    "storage.k8s.io/volumeattachments: get list watch patch",
    "storage.k8s.io/volumeattachments/status: patch",
    "core/events: list watch create patch update",
    "coordination.k8s.io/leases: get create update patch",
  ],
};
const all = {
  "cloud-controller-manager": cloudControllerAccess(),
  "kube-router": kubeRouterAccess(),
  "csi-cinder-controllerplugin": blockStorageAccess(),
};

describe("addons/manifests/access", () => {
  for (const [account, rights] of Object.entries(expected)) {
    it(`gives ${account} what its program calls and nothing else`, () => {
      assert.deepEqual(rulesOf(all[account as keyof typeof all]), rights);
    });
  }

  it("gives nobody all verbs, all resources, secrets, tokens, impersonation or more rights", () => {
    for (const [account, needs] of Object.entries(all)) {
      const forbidden = /\*|secrets|serviceaccounts|impersonate|escalate|bind|pods\/exec/;
      assert.deepEqual(
        rulesOf(needs).filter((right) => forbidden.test(right)),
        [],
        account,
      );
    }
  });

  it("keeps the cloud controller able to delete nodes whose server is gone", () => {
    const { rules } = cloudControllerAccess().clusterRole;
    const verbs = rules.find(({ resources }) => resources.includes("nodes"))?.verbs;
    assert.ok(verbs?.includes("delete"));
  });

  it("lets the cloud controller read one ConfigMap by name, and leases only at home", () => {
    const { namespaced, clusterRole } = cloudControllerAccess();
    const configMaps = namespaced?.role.rules.find(({ resources }) =>
      resources.includes("configmaps"),
    );
    assert.deepEqual(configMaps?.resourceNames, ["extension-apiserver-authentication"]);
    assert.equal(namespaced?.role.metadata.namespace, "kube-system");
    assert.ok(clusterRole.rules.every(({ resources }) => !resources.includes("leases")));
  });

  it("binds each role to its own account, never cluster-admin", () => {
    for (const needs of Object.values(all)) {
      const { clusterRole, clusterRoleBinding, serviceAccount, namespaced } = needs;
      assert.equal(clusterRoleBinding.roleRef.name, clusterRole.metadata.name);
      assert.notEqual(clusterRoleBinding.roleRef.name, "cluster-admin");
      const subject = { kind: "ServiceAccount", ...serviceAccount.metadata };
      assert.deepEqual(clusterRoleBinding.subjects, [subject]);
      if (namespaced !== undefined) {
        assert.equal(namespaced.roleBinding.roleRef.name, namespaced.role.metadata.name);
        assert.deepEqual(namespaced.roleBinding.subjects, [subject]);
      }
    }
  });

  it("leaves out the namespaced role when none is needed", () => {
    const needs = access({ account: "reader", cluster: [rule("", ["nodes"], ["get"])] });
    assert.equal(needs.namespaced, undefined);
    assert.equal(needs.clusterRole.metadata.name, "reader");
  });

  it("gives every pod an account that exists, or no token at all", () => {
    const accounts = new Set(
      Object.values(objects)
        .flat()
        .filter(({ kind }) => kind === "ServiceAccount")
        .map(({ metadata }) => metadata.name),
    );
    for (const [workload, pod] of podSpecs()) {
      assert.ok(
        pod.serviceAccountName === undefined
          ? pod.automountServiceAccountToken === false
          : accounts.has(pod.serviceAccountName),
        workload,
      );
    }
  });

  it("gives the storage plugin on the nodes no token", () => {
    const account = find("ServiceAccount", "csi-cinder-nodeplugin");
    assert.equal(
      (account as { automountServiceAccountToken?: boolean }).automountServiceAccountToken,
      false,
    );
  });
});
