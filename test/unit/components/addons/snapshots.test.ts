import assert from "node:assert/strict";
import {
  buildBlockStorageRbac,
  buildBlockStorageController,
} from "../../../../components/addons/manifests/block-storage.js";
import { buildSnapshotCrds } from "../../../../components/addons/manifests/snapshots.js";
import { cinderDriverName } from "../../../../components/addons/manifests/storage-class.js";
import { createImageTable } from "../../../../base/versions/container-images.js";
import { unwrapped } from "../../../support/graph/unwrapped.js";
import { argsOf, find, podOf } from "./objects.js";

const controller = "Deployment snapshot-controller";

describe("addons/manifests/snapshots", () => {
  it("are absent by default", () => {
    const settings = { images: createImageTable("1.36.3"), clusterName: "c", configChecksum: "0" };
    const { spec } = unwrapped(buildBlockStorageController(settings));
    const names = spec.template.spec?.containers.map(({ name }) => name) ?? [];
    assert.ok(names.includes("csi-provisioner"));
    assert.ok(!names.includes("csi-snapshotter"));
    assert.doesNotMatch(JSON.stringify(buildBlockStorageRbac()), /snapshot/);
  });

  it("define the three kinds in order of their names, with the metadata that the API server requires", () => {
    assert.deepEqual(
      buildSnapshotCrds().map(([plural]) => plural),
      ["volumesnapshotclasses", "volumesnapshots", "volumesnapshotcontents"],
    );
    for (const [plural, definition] of buildSnapshotCrds()) {
      const { metadata, spec } = unwrapped(definition);
      assert.equal(metadata.name, `${plural}.snapshot.storage.k8s.io`);
      // Kubernetes requires this annotation for its own API groups.
      assert.match(metadata.annotations?.["api-approved.kubernetes.io"] ?? "", /^https:/);
      const [version, ...others] = spec.versions;
      assert.deepEqual([version?.name, others], ["v1", []]);
      const hasStatus = "status" in (version?.schema?.openAPIV3Schema?.properties ?? {});
      assert.equal(version?.subresources !== undefined, hasStatus, plural);
    }
  });

  it("are taken by the driver from volumes in use, and are deleted with their object", () => {
    assert.deepEqual(
      { ...find("VolumeSnapshotClass", "cinder"), apiVersion: "", kind: "", metadata: {} },
      {
        apiVersion: "",
        kind: "",
        metadata: {},
        driver: cinderDriverName,
        deletionPolicy: "Delete",
        parameters: { "force-create": "true" },
      },
    );
  });

  it("have a controller on control planes that never calls the cloud", () => {
    assert.equal(podOf(controller).volumes, undefined);
    assert.deepEqual(podOf(controller).nodeSelector, {
      "node-role.kubernetes.io/control-plane": "",
    });
    for (const [workload, name] of [
      [controller, "snapshot-controller"],
      ["Deployment csi-cinder-controllerplugin", "csi-snapshotter"],
    ] as const)
      assert.ok(argsOf(workload, name).includes("--leader-election-renew-deadline=30s"), name);
  });
});
