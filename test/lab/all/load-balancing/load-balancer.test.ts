import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { administrator } from "../../support/cloud/administrator.js";
import { until } from "../../support/cloud/foreign.js";
import { applied, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { balancersOf, OctaviaOffer } from "../../support/cloud/octavia.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;

describe("load balancers with a configured flavor and zone, on the lab", function () {
  this.timeout(10 * minutes);
  const stack = new Stack("sized");
  // Octavia never frees the name of an availability zone, even after its deletion.
  const suffix = randomBytes(4).toString("hex");
  let offer: OctaviaOffer;
  let zone = "";
  let [small, large] = ["", ""];
  const changed = (flavorId: string): Readonly<Record<string, unknown>> => ({
    workers: { general: { flavor: "k8s-worker", count: 1 } },
    endpoint: { kind: "load-balancer", flavorId, zone },
    loadBalancer: { flavorId: small, availabilityZone: zone },
  });
  /**
   * Returns the ID, flavor and zone of the API's load balancer. Also returns the flavors and zones
   * of all load balancers, with the namespace and name of the Service as the key.
   */
  const seen = async () => {
    const all = await balancersOf(stack.cluster.cloud);
    const named = all.map(({ id, name, flavor_id: flavor, availability_zone: place }) => ({
      name: name.startsWith("kube_service_") ? name.split("_").slice(3).join("/") : "the API",
      id,
      chosen: [flavor, place],
    }));
    return {
      api: named.find(({ name }) => name === "the API"),
      chosen: Object.fromEntries(named.map(({ name, chosen }) => [name, chosen])),
    };
  };
  let first: string | undefined;
  before(async () => {
    offer = new OctaviaOffer(await administrator());
    small = await offer.flavor(`small-${suffix}`);
    large = await offer.flavor(`large-${suffix}`);
    zone = await offer.zone(`place-${suffix}`);
    await stack.open();
  });
  after(async () => {
    await offer.remove();
    await stack.cluster.close();
  });

  it("use the flavor and zone for the API and for Services", async () => {
    await stack.up(changed(small));
    await stack.prove(1);
    const { api, chosen } = await seen();
    first = api?.id;
    const both = [small, zone];
    const samples = "stackadm-samples";
    assert.deepEqual(chosen, {
      "the API": both,
      [`${samples}/web-external`]: both,
      [`${samples}/web-internal`]: both,
    });
  });

  it("use the flavor that a Service requests", async () => {
    const manifest = `
apiVersion: v1
kind: Service
metadata:
  name: other
  namespace: default
  annotations: {loadbalancer.openstack.org/flavor-id: "${large}"}
spec: {type: LoadBalancer, selector: {app: none}, ports: [{port: 80}]}
`;
    await kubectlOn(stack.serverOf("control-plane-0"), applied(manifest));
    await until(async () => "default/other" in (await seen()).chosen);
    assert.deepEqual((await seen()).chosen["default/other"], [large, zone]);
  });

  it("have no changes on a second `up`", async () => {
    await stack.again(changed(small));
  });

  it("are recreated with another flavor, and the cluster keeps working", async () => {
    await stack.up(changed(large));
    await stack.prove(1);
    const { api } = await seen();
    assert.deepEqual(api?.chosen, [large, zone]);
    assert.notEqual(api.id, first);
    await stack.again(changed(large));
  });

  it("are deleted with the cluster, including those of Services", async () => {
    await stack.destroyAndLookAround();
  });
});
