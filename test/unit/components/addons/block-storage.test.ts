import assert from "node:assert/strict";
import {
  cinderDriverName,
  buildStorageClass,
} from "../../../../components/addons/manifests/storage-class.js";
import { unwrapped } from "../../../support/graph/unwrapped.js";
import { argsOf, containerOf, podOf } from "./objects.js";
import { nonEmpty } from "../../../support/non-empty.js";

const storageController = "Deployment csi-cinder-controllerplugin";
const storageNode = "DaemonSet csi-cinder-nodeplugin";

describe("addons/manifests/block-storage", () => {
  it("marks volumes with the cluster's name and requests them in the pod's zone", () => {
    const args = argsOf(storageController, "cinder-csi-plugin");
    assert.ok(args.includes("--cluster=example-0123456789ab"));
    assert.ok(args.includes("--with-topology=true"));
    assert.ok(args.includes("--provide-node-service=false"));
    const provisioner = argsOf(storageController, "csi-provisioner");
    assert.ok(provisioner.includes("--extra-create-metadata"));
  });

  it("sets longer lease times than client-go's defaults in every sidecar, for a slow etcd", () => {
    for (const sidecar of ["csi-attacher", "csi-provisioner", "csi-resizer"]) {
      const args = argsOf(storageController, sidecar);
      const seconds = ["lease-duration", "renew-deadline", "retry-period"].map((time) =>
        Number(
          args.find((arg) => arg.startsWith(`--leader-election-${time}=`))?.match(/(\d+)s$/)?.[1],
        ),
      );
      assert.deepEqual(seconds, [45, 30, 5], sidecar);
    }
  });

  it("runs on control planes, before workers exist and before the cloud controller has initialised nodes", () => {
    assert.deepEqual(podOf(storageController).tolerations?.slice(0, 2), [
      {
        key: "node.cloudprovider.kubernetes.io/uninitialized",
        operator: "Equal",
        value: "true",
        effect: "NoSchedule",
      },
      {
        key: "node-role.kubernetes.io/control-plane",
        operator: "Exists",
        effect: "NoSchedule",
      },
    ]);
  });

  it("leaves a lost machine early, because the controller has one replica", () => {
    const soon = ["not-ready", "unreachable"].map((condition) => ({
      key: `node.kubernetes.io/${condition}`,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: 30,
    }));
    for (const controller of [storageController, "Deployment snapshot-controller"])
      assert.deepEqual(podOf(controller).tolerations?.slice(-2), soon);
  });

  it("shares one socket directory among all containers of a pod", () => {
    for (const workload of [storageController, storageNode]) {
      for (const { name, args, volumeMounts } of nonEmpty(podOf(workload).containers)) {
        assert.match(
          args?.join(" ") ?? "",
          /(--endpoint=unix:\/\/|--csi-address=)\/csi\/csi\.sock/,
        );
        assert.ok(
          volumeMounts?.some(({ mountPath }) => mountPath === "/csi"),
          `${workload} ${name}`,
        );
      }
    }
  });

  it("registers with the kubelet at the path of the driver's socket", () => {
    const socket = podOf(storageNode).volumes?.find(({ name }) => name === "socket");
    assert.equal(socket?.hostPath?.path, `/var/lib/kubelet/plugins/${cinderDriverName}`);
    assert.ok(
      argsOf(storageNode, "node-driver-registrar").includes(
        `--kubelet-registration-path=/var/lib/kubelet/plugins/${cinderDriverName}/csi.sock`,
      ),
    );
  });

  it("mounts volumes for pods through the kubelet's directory and sees new devices", () => {
    const mounts = containerOf(storageNode, "cinder-csi-plugin").volumeMounts ?? [];
    const propagation = Object.fromEntries(
      mounts.map(({ mountPath, mountPropagation }) => [mountPath, mountPropagation]),
    );
    assert.equal(propagation["/var/lib/kubelet"], "Bidirectional");
    assert.equal(propagation["/dev"], "HostToContainer");
  });

  it("runs on every node, with one privileged container only", () => {
    const pod = podOf(storageNode);
    assert.deepEqual(pod.tolerations, [{ operator: "Exists" }]);
    assert.deepEqual(
      pod.containers
        .filter(({ securityContext }) => securityContext?.privileged)
        .map(({ name }) => name),
      ["cinder-csi-plugin"],
    );
  });

  it("serves its health check on the port of the probe", () => {
    for (const workload of [storageController, storageNode]) {
      const plugin = containerOf(workload, "cinder-csi-plugin");
      assert.equal(plugin.livenessProbe?.httpGet?.port, plugin.ports?.[0]?.name);
      assert.ok(
        argsOf(workload, "liveness-probe").includes(
          `--health-port=${String(plugin.ports?.[0]?.containerPort)}`,
        ),
      );
    }
  });
});

describe("addons/manifests/storage-class", () => {
  it("binds volumes in the pod's zone, allows expansion and deletes volumes with their claim", () => {
    const gold = unwrapped(buildStorageClass({ name: "gold", default: true }));
    assert.equal(gold.provisioner, cinderDriverName);
    assert.equal(gold.volumeBindingMode, "WaitForFirstConsumer");
    assert.equal(gold.allowVolumeExpansion, true);
    assert.equal(gold.reclaimPolicy, "Delete");
    assert.deepEqual(gold.parameters, { "csi.storage.k8s.io/fstype": "ext4" });
  });

  it("uses the user's settings", () => {
    const { allowedTopologies, ...other } = unwrapped(
      buildStorageClass({
        name: "kept",
        default: false,
        zones: ["a", "b"],
        reclaimPolicy: "Retain",
        volumeBindingMode: "Immediate",
        fsType: "xfs",
        allowVolumeExpansion: false,
      }),
    );
    assert.deepEqual(
      [other.reclaimPolicy, other.volumeBindingMode, other.allowVolumeExpansion, other.parameters],
      ["Retain", "Immediate", false, { "csi.storage.k8s.io/fstype": "xfs" }],
    );
    assert.deepEqual(allowedTopologies, [
      {
        matchLabelExpressions: [
          { key: "topology.cinder.csi.openstack.org/zone", values: ["a", "b"] },
        ],
      },
    ]);
  });

  it("is the default exactly if the user requests it", () => {
    const key = "storageclass.kubernetes.io/is-default-class";
    const marked = (isDefault: boolean) =>
      unwrapped(buildStorageClass({ name: "a", default: isDefault })).metadata.annotations?.[key];
    assert.deepEqual([marked(true), marked(false)], ["true", "false"]);
  });

  it("passes type and zone to Cinder", () => {
    const { parameters } = buildStorageClass({
      name: "fast",
      default: false,
      type: "nvme",
      availability: "zone-b",
    });
    assert.deepEqual(parameters, {
      "csi.storage.k8s.io/fstype": "ext4",
      type: "nvme",
      availability: "zone-b",
    });
  });
});
