import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { orderUserAddons } from "../../../components/config/kubernetes/user-addons.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import type { Row } from "../../support/graph/graph.js";
import { isSecret } from "../../support/graph/secrets.js";
import { smallest, specOf } from "../../support/config/spec.js";
import { nonEmpty } from "../../support/non-empty.js";
import { named, reaches, run } from "./addons-example.js";

/** Returns the YAML of one object. */
const objectOf = (type: string, name: string, fields: object = {}): string => {
  const [apiVersion, kind] = type.split(" ");
  const namespace = kind === "Namespace" ? {} : { namespace: "shop" };
  return JSON.stringify({ apiVersion, kind, metadata: { name, ...namespace }, ...fields });
};
const crd = {
  spec: { group: "example.org", names: { kind: "Shop" } },
};
const shop = [
  objectOf("example.org/v1 Shop", "main"),
  objectOf("apps/v1 Deployment", "web"),
  objectOf("v1 Service", "web", { spec: { type: "LoadBalancer" } }),
  objectOf("v1 PersistentVolumeClaim", "data"),
  objectOf("v1 ConfigMap", "settings", { data: { a: "b" } }),
  objectOf("v1 Namespace", "shop"),
  objectOf("apiextensions.k8s.io/v1 CustomResourceDefinition", "shops.example.org", crd),
].join("\n---\n");

const addons: NonNullable<ClusterArgs["addons"]> = [
  { name: "shop", yaml: shop },
  { name: "cni", yaml: objectOf("apps/v1 DaemonSet", "cni"), after: [] },
  { name: "more", yaml: objectOf("v1 Pod", "more"), after: ["shop"] },
  { name: "net", yaml: objectOf("v1 Pod", "net"), after: ["podNetwork"] },
];

describe("graph: add-ons of the user", () => {
  let rows: readonly Row[] = [];
  before(async () => {
    rows = await clusterRows({ ...smallest, samples: true, metricsServer: true, addons });
  });
  const of = (name: string): Row => named(rows, `dev-addons-user-${name}`);
  const waits = (name: string, other: string): boolean =>
    reaches(rows, of(name).urn, named(rows, other).urn);

  it("are one resource for each object, below the component of the add-on", () => {
    const { urn } = of("shop");
    assert.deepEqual(
      rows
        .filter(({ parent }) => parent === urn)
        .map(({ type, name }) => `${type} ${name.replace("dev-addons-user-shop-", "")}`)
        .sort(),
      [
        "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition custom-resource-definition-shop-shops.example.org",
        "kubernetes:apps/v1:Deployment deployment-shop-web",
        "kubernetes:core/v1:ConfigMap config-map-shop-settings",
        "kubernetes:core/v1:Namespace namespace-shop",
        "kubernetes:core/v1:PersistentVolumeClaim persistent-volume-claim-shop-data",
        "kubernetes:core/v1:Service service-shop-web",
        "kubernetes:example.org/v1:Shop shop-shop-main",
      ],
    );
    const { inputs, provider } = of("shop-deployment-shop-web");
    assert.deepEqual(inputs, JSON.parse(objectOf("apps/v1 Deployment", "web")));
    assert.match(provider, /::dev-addons-provider::/);
  });

  it("are the same resources in a preview", async () => {
    const shown = await clusterRows(
      { ...smallest, samples: true, metricsServer: true, addons },
      { preview: true },
    );
    assert.deepEqual(
      shown.map(({ urn }) => urn),
      rows.map(({ urn }) => urn),
    );
  });

  it("are created in stages: scopes, settings, workloads, custom resources", () => {
    const stages = [
      ["namespace-shop", "custom-resource-definition-shop-shops.example.org"],
      ["config-map-shop-settings"],
      ["deployment-shop-web", "service-shop-web", "persistent-volume-claim-shop-data"],
      ["shop-shop-main"],
    ];
    for (const [index, names] of nonEmpty(stages.slice(1)).entries())
      for (const name of nonEmpty(names))
        for (const earlier of nonEmpty(stages[index] ?? []))
          assert.ok(waits(`shop-${name}`, `dev-addons-user-shop-${earlier}`), `${name} ${earlier}`);
  });

  it("come after all add-ons of the cluster by default, and else after those they name", () => {
    const own = ["network-kube-router-daemon-set", "cloud-controller-daemon-set"]
      .concat("storage-controller", "samples-web", "metrics-server-deployment")
      .map((name) => `dev-addons-${name}`);
    for (const name of nonEmpty(own)) {
      assert.ok(waits("shop-namespace-shop", name), name);
      assert.ok(!waits("cni-daemon-set-shop-cni", name), name);
    }
    assert.ok(waits("more-pod-shop-more", "dev-addons-user-shop-deployment-shop-web"));
    assert.ok(waits("net-pod-shop-net", own[0] ?? ""));
    assert.ok(!waits("net-pod-shop-net", own[1] ?? ""));
  });

  it("are deleted one by one, before the controllers, where they may own something", () => {
    const deleted = [
      "shop-deployment-shop-web",
      "shop-service-shop-web",
      "more-pod-shop-more",
    ].concat("shop-persistent-volume-claim-shop-data", "shop-shop-shop-main");
    for (const name of nonEmpty(deleted)) {
      assert.equal(of(name).deletedWith, "", name);
      for (const kept of ["control-plane-teardown", "addons-cloud-config-secret"])
        assert.ok(waits(name, `dev-${kept}`), `${name} ${kept}`);
      assert.ok(waits(name, "dev-workers-general-0-join"), name);
    }
  });

  it("are deleted with the machines if they hold nothing in the cloud", () => {
    const server = named(rows, "dev-control-plane-0-server").urn;
    const held = [
      "shop-namespace-shop",
      "shop-config-map-shop-settings",
      "cni-daemon-set-shop-cni",
    ];
    for (const name of nonEmpty([...held, "net-pod-shop-net"]))
      assert.equal(of(name).deletedWith, server, name);
    assert.ok(!waits("net-pod-shop-net", "dev-control-plane-teardown"));
  });

  it("give load balancers as much time as those of the cluster", () => {
    assert.equal(of("shop-service-shop-web").timeouts.create, "15m");
  });

  it("keep the values of Secrets secret", async () => {
    const directory = mkdtempSync(join(tmpdir(), "addons-"));
    const login = objectOf("v1 Secret", "login", { stringData: { password: "canary" } });
    writeFileSync(join(directory, "login.yaml"), login);
    const manifest = [{ name: "login", manifest: "login.yaml" }];
    const userAddons = orderUserAddons(specOf({ addons: manifest }));
    const { rows: made } = await run({ userAddons, files: { directory } });
    rmSync(directory, { recursive: true });
    const { inputs, secretOutputs } = named(made, "addons-user-login-secret-shop-login");
    assert.ok(isSecret(inputs["stringData"]));
    assert.deepEqual([...secretOutputs].sort(), ["data", "stringData"]);
  });

  it("hide the objects of text in settings that hold an encrypted value", async () => {
    const userAddons = orderUserAddons(specOf({ addons }));
    const { rows: hidden } = await run({ userAddons, encrypted: true });
    const { inputs } = named(hidden, "addons-user-shop-service-shop-web");
    assert.ok(isSecret(inputs["spec"]));
    assert.deepEqual(inputs["metadata"], { name: "web", namespace: "shop" });
  });
});
