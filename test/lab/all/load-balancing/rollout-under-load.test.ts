import assert from "node:assert/strict";
import { createImageTable } from "../../../../base/versions/container-images.js";
import { defaultKubernetesVersion } from "../../../../base/versions/pinned-versions.js";
import { toYaml } from "../../../../base/yaml.js";
import { until } from "../../support/cloud/foreign.js";
import { applied, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { sendRequests } from "../../support/network/availability.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;
const pool = { flavor: "k8s-worker", count: 3 };
const namespace = "default";
const { agnhost: image } = createImageTable(defaultKubernetesVersion);
const internal = {
  "service.beta.kubernetes.io/openstack-internal-load-balancer": "true",
};

/** Returns the objects of an application of `replicas` pods, of which one at a time may be absent. */
function application(kind: "Deployment" | "StatefulSet", name: string, replicas: number) {
  const labels = { app: name };
  const metadata = { name, namespace };
  const pod = {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "kubernetes.io/hostname",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: labels },
      },
    ],
    containers: [
      {
        name,
        image,
        args: ["netexec", "--http-port=8080"],
        // A pod answers until all nodes and load balancers know that it ends.
        lifecycle: { preStop: { sleep: { seconds: 15 } } },
        readinessProbe: { httpGet: { path: "/", port: 8080 }, periodSeconds: 1 },
      },
    ],
  };
  return [
    {
      apiVersion: "apps/v1",
      kind,
      metadata,
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: pod },
        ...(kind === "StatefulSet" && { serviceName: name }),
      },
    },
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata,
      spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
    },
  ];
}

const service = (name: string, app: string, annotations = {}) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace, annotations },
  spec: { type: "LoadBalancer", selector: { app }, ports: [{ port: 80, targetPort: 8080 }] },
});

// The lab allows 20 load balancers. Two of them belong to the samples.
const others = Array.from({ length: 17 }, (_, index) =>
  service(`other-${String(index)}`, index % 2 === 0 ? "web" : "state", internal),
);

describe("a rollout of three workers with 20 load balancers under load, on the lab", function () {
  this.timeout(30 * minutes);
  this.bail(true);
  const stack = new Stack("busy");
  const kubectl = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line);
  const addresses = async (): Promise<readonly string[]> =>
    (
      await kubectl(
        `-n ${namespace} get services -o jsonpath='{range .items[*]}{.metadata.name}={.status.loadBalancer.ingress[0].ip}{"\\n"}{end}'`,
      )
    )
      .split("\n")
      .filter((line) => /^(web|other-\d+)=\S/.test(line));
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  it("starts with an application behind each load balancer", async () => {
    await stack.up({ workers: { general: pool } });
    const objects = [
      ...application("Deployment", "web", 3),
      ...application("StatefulSet", "state", 2),
      service("web", "web"),
      ...others,
    ];
    await kubectl(applied(objects.map(toYaml).join("---\n")));
    await until(async () => (await addresses()).length === others.length + 1, 15 * 60);
  });

  it("fails no request of a client that sends one every 50 ms", async () => {
    const [address = ""] = (await addresses()).flatMap(
      (line) => /^web=(.*)$/.exec(line)?.[1] ?? [],
    );
    const before = ["general-0", "general-1", "general-2"].map((name) => stack.serverOf(name));
    const began = Date.now();
    const requests = sendRequests(`http://${address}/`, 50);
    await stack.up({ workers: { general: { ...pool, generation: 1 } } });
    const { sent, failed } = await requests.end();
    const seconds = Math.round((Date.now() - began) / 1_000);
    process.stderr.write(
      `${String(failed.length)} of ${String(sent)} requests failed in a rollout of ${String(seconds)} s.\n`,
    );
    const after = ["general-0", "general-1", "general-2"].map((name) => stack.serverOf(name));
    assert.ok(after.every((id) => !before.includes(id)));
    assert.ok(sent > 1_000, `${String(sent)} requests`);
    assert.deepEqual(failed, []);
  });

  it("is destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});
