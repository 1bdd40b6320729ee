import assert from "node:assert/strict";
import { createImageTable } from "../../../../base/versions/container-images.js";
import { buildBlockStorageController } from "../../../../components/addons/manifests/block-storage.js";
import { buildCloudControllerDaemonSet } from "../../../../components/addons/manifests/cloud-controller.js";
import { buildKeystoneDaemonSet } from "../../../../components/addons/manifests/keystone-auth.js";
import { buildMetricsServerDeployment } from "../../../../components/addons/manifests/metrics-server.js";
import { buildSnapshotController } from "../../../../components/addons/manifests/snapshots.js";
import { unwrapped } from "../../../support/graph/unwrapped.js";
import { lookups, type AnyObject } from "../../../support/kubernetes-objects.js";
import { argsOf, containerOf, find, podOf, podSpecs } from "./objects.js";

const controller = "DaemonSet openstack-cloud-controller-manager";
const storageController = "Deployment csi-cinder-controllerplugin";
const storageNode = "DaemonSet csi-cinder-nodeplugin";

const system = [controller, storageController, storageNode];

describe("addons/manifests", () => {
  it("keeps system workloads in kube-system with system priority", () => {
    for (const workload of system) {
      const [kind = "", name = ""] = workload.split(" ");
      assert.equal(find(kind, name).metadata.namespace, "kube-system");
      assert.match(podOf(workload).priorityClassName ?? "", /^system-(cluster|node)-critical$/);
    }
  });

  it("mounts the cloud's credential on control planes only", () => {
    const withSecret = [...podSpecs()].filter(([, pod]) =>
      (pod.volumes ?? []).some(({ secret }) => secret?.secretName === "cloud-config"),
    );
    assert.deepEqual(
      withSecret.map(([workload]) => workload).sort(),
      [controller, storageController].sort(),
    );
    for (const [, pod] of withSecret) {
      assert.deepEqual(pod.nodeSelector, { "node-role.kubernetes.io/control-plane": "" });
    }
  });
});

describe("pods on control planes", () => {
  const label = "node-role.kubernetes.io/control-plane";
  const controlPlaneTaints = [
    { key: "example.org/cp", value: "", effect: "NoSchedule" },
    { key: "example.org/cp", value: "yes", effect: "NoExecute" },
  ];
  const [image, checksum, clusterName] = ["image", "checksum", "--cluster=a"];
  const common = { image, clusterName, configChecksum: checksum, controlPlaneTaints };
  const tainted = [
    buildCloudControllerDaemonSet(common),
    buildBlockStorageController({ ...common, images: createImageTable("1.36.3") }),
    buildSnapshotController(image, true, controlPlaneTaints),
    buildMetricsServerDeployment({ image, signedKubelets: true, controlPlaneTaints }),
    buildKeystoneDaemonSet({
      image,
      checksum,
      controlPlaneTaints,
      url: "https://keystone.example.org",
      caCertificate: false,
      policy: false,
    }),
  ] as unknown as readonly AnyObject[];
  const pods = [...lookups({ tainted }).podSpecs()];

  it("tolerate the taints that the user gives the control planes", () => {
    const pinned = [...podSpecs()].filter(([, { nodeSelector = {} }]) => label in nodeSelector);
    assert.deepEqual(
      pods.map(([workload]) => workload).sort(),
      pinned.map(([workload]) => workload).sort(),
    );
    assert.deepEqual(
      pods.map(([, { tolerations = [] }]) =>
        tolerations.filter(({ key }) => key === "example.org/cp"),
      ),
      tainted.map(() => controlPlaneTaints.map((taint) => ({ ...taint, operator: "Equal" }))),
    );
  });
});

describe("addons/manifests/cloud-controller", () => {
  it("starts on control planes before nodes are initialised and before the pod network", () => {
    const pod = podOf(controller);
    assert.equal(pod.hostNetwork, true);
    assert.equal(pod.dnsPolicy, "Default");
    const tolerated = (pod.tolerations ?? []).map(
      ({ key, effect }) => `${key ?? ""}:${effect ?? ""}`,
    );
    assert.deepEqual(tolerated.sort(), [
      "node-role.kubernetes.io/control-plane:NoSchedule",
      "node.cloudprovider.kubernetes.io/uninitialized:NoSchedule",
      "node.kubernetes.io/not-ready:NoExecute",
      "node.kubernetes.io/not-ready:NoSchedule",
    ]);
  });

  it("connects to its own machine's API server, which works before Services do", () => {
    const { env } = containerOf(controller, "openstack-cloud-controller-manager");
    assert.equal(podOf(controller).hostNetwork, true);
    assert.deepEqual(env, [
      {
        name: "KUBERNETES_SERVICE_HOST",
        valueFrom: { fieldRef: { fieldPath: "status.hostIP" } },
      },
      { name: "KUBERNETES_SERVICE_PORT", value: "6443" },
    ]);
  });

  it("names load balancers after the cluster and manages no routes", () => {
    const args = argsOf(controller, "openstack-cloud-controller-manager");
    assert.ok(args.includes("--cluster-name=example-0123456789ab"));
    assert.ok(args.includes("--cloud-config=/etc/config/cloud.conf"));
    assert.ok(args.includes("--use-service-account-credentials=false"));
    assert.ok(args.includes("--controllers=cloud-node,cloud-node-lifecycle,service"));
    assert.ok(args.includes("--leader-elect-renew-deadline=30s"));
  });

  it("handles Services concurrently unless the load balancer provider requires sequential calls", () => {
    const argument = "--concurrent-service-syncs=5";
    assert.ok(argsOf(controller, "openstack-cloud-controller-manager").includes(argument));
    const { spec } = unwrapped(
      buildCloudControllerDaemonSet({
        image: "image",
        clusterName: "--cluster-name=a",
        configChecksum: "b",
        serial: true,
      }),
    );
    const args = spec.template.spec?.containers[0]?.args ?? [];
    assert.ok(!args.some((one) => one.includes("concurrent")));
  });

  it("manages routes if the pod network uses the cloud's routes", () => {
    const { spec } = unwrapped(
      buildCloudControllerDaemonSet({
        image: "image",
        clusterName: "--cluster-name=a",
        configChecksum: "b",
        routedPods: "10.244.0.0/16",
      }),
    );
    const args = spec.template.spec?.containers[0]?.args ?? [];
    for (const expected of [
      "--controllers=cloud-node,cloud-node-lifecycle,service,route",
      "--configure-cloud-routes=true",
      "--cluster-cidr=10.244.0.0/16",
    ])
      assert.ok(args.includes(expected), expected);
  });

  it("listens on the node's loopback interface only, for its probe", () => {
    const container = containerOf(controller, "openstack-cloud-controller-manager");
    assert.ok(container.args?.includes("--bind-address=127.0.0.1"));
    for (const probe of [container.readinessProbe, container.livenessProbe]) {
      assert.deepEqual(probe?.httpGet, {
        path: "/healthz",
        port: 10258,
        host: "127.0.0.1",
        scheme: "HTTPS",
      });
    }
  });

  it("runs unprivileged", () => {
    assert.deepEqual(podOf(controller).securityContext, { runAsNonRoot: true, runAsUser: 1001 });
    assert.deepEqual(
      containerOf(controller, "openstack-cloud-controller-manager").securityContext,
      {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      },
    );
  });

  it("restarts only if its configuration changes", () => {
    const render = (configChecksum: string) =>
      unwrapped(buildCloudControllerDaemonSet({ image: "i", clusterName: "c", configChecksum }))
        .spec.template;
    assert.deepEqual(render("a"), render("a"));
    assert.notDeepEqual(render("a"), render("b"));
  });

  it("mounts the certificate at the path in cloud.conf", () => {
    const secret = find("Secret", "cloud-config") as unknown as {
      stringData: Record<string, string>;
    };
    assert.match(secret.stringData["cloud.conf"] ?? "", /ca-file = "\/etc\/config\/ca.crt"/);
    assert.ok("ca.crt" in secret.stringData);
    const mounts = containerOf(controller, "openstack-cloud-controller-manager").volumeMounts;
    assert.deepEqual(mounts, [{ name: "cloud-config", mountPath: "/etc/config", readOnly: true }]);
  });
});
