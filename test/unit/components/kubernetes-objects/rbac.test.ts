import assert from "node:assert/strict";
import { buildRbacObjects, buildRbacRule } from "../../../../components/kubernetes-objects/rbac.js";
import { buildBlockStorageRbac } from "../../../../components/addons/manifests/block-storage.js";
import { buildCloudControllerRbac } from "../../../../components/addons/manifests/cloud-controller.js";
import { describeAccess } from "../../../support/kubernetes-objects.js";
import { unwrapped } from "../../../support/graph/unwrapped.js";
import { find } from "../addons/objects.js";

/**
 * Complete rights of each account. A change needs a reason, because it changes what an account may
 * do.
 */
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
  "cloud-controller-manager": buildCloudControllerRbac(),
  "csi-cinder-controllerplugin": buildBlockStorageRbac(),
};

describe("addons/manifests/access", () => {
  for (const [account, rights] of Object.entries(expected))
    describeAccess(account, all[account as keyof typeof all], rights);

  it("allows the cloud controller to delete nodes whose server is gone", () => {
    const { rules = [] } = unwrapped(buildCloudControllerRbac()).clusterRole;
    const verbs = rules.find(({ resources }) => resources?.includes("nodes"))?.verbs;
    assert.ok(verbs?.includes("delete"));
  });

  it("allows the cloud controller to read one ConfigMap by name, and leases only in its namespace", () => {
    const { namespaced, clusterRole } = unwrapped(buildCloudControllerRbac());
    const configMaps = namespaced?.role.rules?.find(({ resources }) =>
      resources?.includes("configmaps"),
    );
    assert.deepEqual(configMaps?.resourceNames, ["extension-apiserver-authentication"]);
    assert.equal(namespaced?.role.metadata.namespace, "kube-system");
    assert.ok(clusterRole.rules?.every(({ resources }) => !resources?.includes("leases")));
  });

  it("omits the namespaced role if it would be empty", () => {
    const needs = unwrapped(
      buildRbacObjects({ account: "reader", cluster: [buildRbacRule("", ["nodes"], ["get"])] }),
    );
    assert.equal(needs.namespaced, undefined);
    assert.equal(needs.clusterRole.metadata.name, "reader");
  });

  it("gives the storage plugin on nodes no token", () => {
    const account = find("ServiceAccount", "csi-cinder-nodeplugin");
    assert.equal(
      (account as { automountServiceAccountToken?: boolean }).automountServiceAccountToken,
      false,
    );
  });
});
