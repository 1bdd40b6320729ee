import assert from "node:assert/strict";
import type { ClusterRequirements } from "../../../../openstack/checks/cluster-requirements.js";
import type { FakeCloud } from "../../../support/cloud/fake-openstack.js";
import { findingsOf, needs, useEquippedCloud } from "../../../support/cloud/equipped-cloud.js";

describe("Octavia checks", () => {
  let cloud: FakeCloud;
  useEquippedCloud((started) => (cloud = started));
  const ask = (changes: Partial<ClusterRequirements> = {}, owned: readonly string[] = []) =>
    findingsOf(cloud, changes, owned);

  const octavia = { ...needs.octavia, providers: {}, flavors: {}, zones: {} };
  it("report a missing load balancer provider with its setting and the existing ones", async () => {
    const providers = { "loadBalancer.provider": "ovn", "endpoint.provider": "gold" };
    assert.deepEqual(await ask({ octavia: { ...octavia, providers } }), [
      "problem: endpoint.provider: 'gold' does not exist; there are: amphora, ovn",
    ]);
  });

  it("report a missing or disabled flavor or zone", async () => {
    const flavors = [
      { id: "f1", name: "large", enabled: true },
      { id: "f2", name: "former", enabled: false },
    ];
    cloud.on("GET /load-balancer/lbaas/flavors", { body: { flavors } });
    const zones = [{ name: "az1", enabled: true }, { name: "az2" }];
    cloud.on("GET /load-balancer/lbaas/availabilityzones", { body: { availability_zones: zones } });
    const choices = {
      providers: {},
      flavors: {
        "endpoint.flavorId": "f1",
        "ingress.flavorId": "f2",
        "loadBalancer.flavorId": "large",
      },
      zones: { "endpoint.zone": "az2", "loadBalancer.availabilityZone": "nova" },
    };
    assert.deepEqual(await ask({ octavia: choices }), [
      "problem: ingress.flavorId: 'f2' does not exist; there are: f1 (large)",
      "problem: loadBalancer.flavorId: 'large' does not exist; there are: f1 (large)",
      "problem: loadBalancer.availabilityZone: 'nova' does not exist; there are: az1, az2",
    ]);
  });

  it("query Octavia only for the written settings", async () => {
    await ask();
    const asked = cloud.seen.map(({ path }) => path.split("?")[0] ?? "");
    const choices = asked.filter((path) => /lbaas\/(providers|flavors|availab)/.test(path));
    assert.deepEqual(choices.length, 1, choices.join());
  });

  for (const status of [403, 404])
    it(`only warn if the cloud does not list the choices (${status})`, async () => {
      const hidden = { status, body: { faultstring: "no" } };
      for (const path of ["providers", "flavors", "availabilityzones"])
        cloud.on(`GET /load-balancer/lbaas/${path}`, hidden);
      cloud.on("GET /compute/os-availability-zone", hidden);
      cloud.on("GET /volumev3/os-availability-zone", hidden);
      cloud.on("GET /volumev3/types", hidden);
      const choices = {
        providers: { "loadBalancer.provider": "amphora" },
        flavors: { "endpoint.flavorId": "f1" },
        zones: { "endpoint.zone": "az1" },
      };
      assert.deepEqual(await ask({ octavia: choices, volumeZones: ["store"] }), [
        "warning: loadBalancer.provider: cannot check 'amphora': Octavia does not list its providers to you",
        "warning: endpoint.flavorId: cannot check 'f1': Octavia does not list its flavors to you",
        "warning: endpoint.zone: cannot check 'az1': Octavia does not list its zones to you",
        "warning: zones: cannot check a: Nova does not list its zones to you",
        "warning: volume types: cannot check fast: Cinder does not list its types to you",
        "warning: volumes: cannot check store: Cinder does not list its zones to you",
      ]);
    });
});
