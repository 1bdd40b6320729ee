import assert from "node:assert/strict";
import type { ClusterRequirements } from "../../../../openstack/checks/cluster-requirements.js";
import type { FakeCloud } from "../../../support/cloud/fake-openstack.js";
import {
  findingsOf,
  machine,
  rootVolume,
  serversOf,
  useEquippedCloud,
} from "../../../support/cloud/equipped-cloud.js";

describe("zone checks", () => {
  let cloud: FakeCloud;
  useEquippedCloud((started) => (cloud = started));
  const ask = (changes: Partial<ClusterRequirements> = {}, owned: readonly string[] = []) =>
    findingsOf(cloud, changes, owned);

  it("report a missing Nova zone that only a storage class names", async () => {
    assert.deepEqual(await ask({ podZones: ["a", "b"] }), [
      "problem: storageClasses.zones: Nova has no zone 'b'; there are: a",
    ]);
  });

  it("warn about volumes in one zone for machines in several zones that Cinder has too", async () => {
    const open = (service: string, ...names: string[]) => {
      const zones = names.map((zoneName) => ({ zoneName, zoneState: { available: true } }));
      const body = { availabilityZoneInfo: zones };
      cloud.on(`GET /${service}/os-availability-zone`, { body });
    };
    const etcd = (name: string, zone: string) =>
      machine(name, { zone, volumes: [rootVolume(name, { path: "etcd.etcdVolume", name })] });
    const machines = [etcd("one", "a"), etcd("two", "b")];
    open("compute", "a", "b");
    open("volumev3", "a", "b", "c");
    assert.deepEqual(await ask({ machines }), [
      'warning: volumes: machines are in a, b, and Cinder creates all of etcd.etcdVolume in one zone that it chooses: if that zone fails, all of these machines fail, and some clouds attach no volume of another zone; write zone: "{zone}" there for the zone of each machine',
    ]);
    cloud.on("GET /volumev3/volumes/detail", { body: { volumes: [{ id: "v", name: "two" }] } });
    assert.deepEqual(await ask({ machines }, ["v"]), [], "what is made keeps its zone");
    cloud.on("GET /volumev3/volumes/detail", { body: { volumes: [] } });
    open("volumev3", "nova");
    assert.deepEqual(await ask({ machines }), [], "a cloud that could not do otherwise");
    const before = cloud.seen.length;
    assert.deepEqual(await ask({ machines: machines.slice(0, 1) }), []);
    const asked = cloud.seen.slice(before).filter(({ path }) => path.includes("volumev3/os-av"));
    assert.deepEqual(asked, [], "one zone is nothing to ask about");
  });

  describe("with a zone that is not available", () => {
    const closed = "Nova reports that 'closed' is not available; there are: a";

    it("only warn if all its machines exist", async () => {
      const there = machine("general-0", { zone: "closed" });
      cloud.on("GET /compute/servers/detail", { body: { servers: serversOf([there]) } });
      const machines = [there, machine("general-1")];
      assert.deepEqual(await ask({ machines }, ["0"]), [
        `warning: zones: ${closed}; the machines that exist keep running, but none can be replaced`,
      ]);
      const another = machine("general-2", { zone: "closed" });
      assert.deepEqual(await ask({ machines: [...machines, another] }, ["0"]), [
        `problem: zones: ${closed}`,
      ]);
    });

    it("only warn if no machine is planned there, or a storage class names it", async () => {
      assert.deepEqual(await ask({ spareZones: ["closed", "b"], podZones: ["closed"] }), [
        `warning: zones: ${closed}; no machine is planned there`,
        "warning: zones: Nova has no zone 'b'; there are: a; no machine is planned there",
        `warning: storageClasses.zones: ${closed}`,
      ]);
    });

    it("only warn about Cinder's zone if the volumes exist or a storage class names it", async () => {
      const zones = ["a", "closed"].map((zoneName) => ({
        zoneName,
        zoneState: { available: zoneName === "a" },
      }));
      cloud.on("GET /volumev3/os-availability-zone", { body: { availabilityZoneInfo: zones } });
      const ofCinder = closed.replace("Nova", "Cinder");
      const volumes = [rootVolume("general-0", { zone: "closed" })];
      const machines = [machine("general-0", { volumes })];
      const at = `workers.general.rootVolume.zone: ${ofCinder}`;
      assert.deepEqual(await ask({ machines }), [`problem: ${at}`]);
      cloud.on("GET /compute/servers/detail", { body: { servers: serversOf(machines) } });
      assert.deepEqual(await ask({ machines, volumeZones: ["closed"] }, ["0"]), [
        `warning: ${at}; the machines that exist keep running, but none can be replaced`,
        `warning: storageClasses.availability: ${ofCinder}`,
      ]);
    });
  });
});
