import assert from "node:assert/strict";
import { cniConfiguration } from "../../../components/addons/manifests/kube-router.js";
import { cloudControllerDaemonSet } from "../../../components/addons/manifests/cloud-controller.js";
import { containerOf, find, objects, podSpecs } from "./objects.js";
import type { PodSpec } from "../../../components/addons/manifests/types.js";

const controller = "DaemonSet openstack-cloud-controller-manager";
const router = "DaemonSet kube-router";
const storageController = "Deployment csi-cinder-controllerplugin";
const storageNode = "DaemonSet csi-cinder-nodeplugin";

const podOf = (workload: string): PodSpec => {
  const pod = podSpecs().get(workload);
  assert.ok(pod, workload);
  return pod;
};
const argsOf = (workload: string, container: string) => containerOf(workload, container).args ?? [];
const system = [controller, router, storageController, storageNode];

describe("addons/manifests: all workloads", () => {
  for (const [workload, pod] of podSpecs()) {
    const containers = [...(pod.initContainers ?? []), ...pod.containers];

    it(`${workload}: keeps images on the node and the last log lines in the pod`, () => {
      for (const container of containers) {
        assert.equal(container.imagePullPolicy, "IfNotPresent");
        assert.equal(container.terminationMessagePolicy, "FallbackToLogsOnError");
        assert.doesNotMatch(container.image, /:latest$/);
      }
    });

    it(`${workload}: mounts only volumes that it has, each of them`, () => {
      const volumes = (pod.volumes ?? []).map(({ name }) => name);
      const mounted = containers.flatMap(({ volumeMounts }) =>
        (volumeMounts ?? []).map(({ name }) => name),
      );
      assert.deepEqual([...new Set(mounted)].sort(), volumes.sort());
    });

    it(`${workload}: asks for some processor and memory`, () => {
      for (const { resources, name } of pod.containers) {
        assert.deepEqual(Object.keys(resources?.requests ?? {}), ["cpu", "memory"], name);
      }
    });

    it(`${workload}: shows no secret in arguments or environment`, () => {
      for (const { args, env, command } of containers) {
        const shown = JSON.stringify([args, env, command]);
        assert.doesNotMatch(shown, /secret|password|token/i);
      }
    });
  }

  it("selects exactly its own pods", () => {
    const workloads = Object.values(objects)
      .flat()
      .filter(({ kind }) => ["DaemonSet", "Deployment", "StatefulSet"].includes(kind));
    const selectors = workloads.map((object) => {
      const { spec } = object as unknown as {
        spec: { selector: { matchLabels: object }; template: { metadata: { labels: object } } };
      };
      assert.deepEqual(spec.selector.matchLabels, spec.template.metadata.labels);
      return JSON.stringify(spec.selector.matchLabels);
    });
    assert.equal(new Set(selectors).size, workloads.length);
  });

  it("keeps what makes the cluster work in kube-system, ahead of other pods", () => {
    for (const workload of system) {
      const [kind = "", name = ""] = workload.split(" ");
      assert.equal(find(kind, name).metadata.namespace, "kube-system");
      assert.match(podOf(workload).priorityClassName ?? "", /^system-(cluster|node)-critical$/);
    }
  });

  it("has the cloud's credential on control planes only", () => {
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

describe("addons/manifests/cloud-controller", () => {
  it("starts before nodes are initialized, before the pod network, on control planes", () => {
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

  it("names load balancers after the cluster and leaves routes alone", () => {
    const args = argsOf(controller, "openstack-cloud-controller-manager");
    assert.ok(args.includes("--cluster-name=example"));
    assert.ok(args.includes("--cloud-config=/etc/config/cloud.conf"));
    assert.ok(args.includes("--use-service-account-credentials=false"));
    assert.ok(args.includes("--controllers=cloud-node,cloud-node-lifecycle,service"));
    assert.ok(args.includes("--leader-elect-renew-deadline=30s"));
  });

  it("listens on the node itself only, and is asked there", () => {
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

  it("needs no right on its node", () => {
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

  it("restarts when its configuration changes and not otherwise", () => {
    const render = (configChecksum: string) =>
      cloudControllerDaemonSet({ image: "i", clusterName: "c", configChecksum }).spec.template;
    assert.deepEqual(render("a"), render("a"));
    assert.notDeepEqual(render("a"), render("b"));
  });

  it("finds the certificate where cloud.conf says it is", () => {
    const secret = find("Secret", "cloud-config") as unknown as {
      stringData: Record<string, string>;
    };
    assert.match(secret.stringData["cloud.conf"] ?? "", /ca-file = "\/etc\/config\/ca.crt"/);
    assert.ok("ca.crt" in secret.stringData);
    const mounts = containerOf(controller, "openstack-cloud-controller-manager").volumeMounts;
    assert.deepEqual(mounts, [{ name: "cloud-config", mountPath: "/etc/config", readOnly: true }]);
  });
});

describe("addons/manifests/kube-router", () => {
  it("routes and filters, and leaves services to kube-proxy", () => {
    const args = argsOf(router, "kube-router");
    for (const expected of [
      "--run-router=true",
      "--run-firewall=true",
      "--run-service-proxy=false",
      "--enable-overlay=false",
      "--auto-mtu=false",
      "--service-cluster-ip-range=10.96.0.0/12",
    ]) {
      assert.ok(args.includes(expected), expected);
    }
  });

  it("runs on every node at any time", () => {
    assert.deepEqual(podOf(router).tolerations, [{ operator: "Exists" }]);
    assert.equal(podOf(router).hostNetwork, true);
  });

  it("gives pods the MTU of the network", () => {
    for (const mtu of [1280, 1350, 1450, 8950]) {
      const list = JSON.parse(cniConfiguration(mtu)) as {
        plugins: { type: string; mtu?: number }[];
      };
      assert.deepEqual(
        list.plugins.map(({ type }) => type),
        ["bridge", "portmap"],
      );
      assert.equal(list.plugins[0]?.mtu, mtu);
    }
  });

  it("installs the configuration that it then completes", () => {
    const install = containerOf(router, "install-cni-configuration");
    const [copy, from, to] = install.command ?? [];
    assert.equal(copy, "cp");
    const configMap = find("ConfigMap", "kube-router-cni") as unknown as { data: object };
    assert.equal(from, `/etc/kube-router/${Object.keys(configMap.data).join()}`);
    const { env } = containerOf(router, "kube-router");
    assert.equal(env?.find(({ name }) => name === "KUBE_ROUTER_CNI_CONF_FILE")?.value, to);
  });
});
