import assert from "node:assert/strict";
import type { ClusterRequirements } from "../../../../openstack/checks/cluster-requirements.js";
import { startFakeCloud, type FakeCloud } from "../../../support/cloud/fake-openstack.js";
import { findingsOf, wellEquipped } from "../../../support/cloud/equipped-cloud.js";

describe("zone checks", () => {
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    wellEquipped(cloud);
  });
  afterEach(async () => {
    await cloud.close();
  });
  const ask = (changes: Partial<ClusterRequirements> = {}, owned: readonly string[] = []) =>
    findingsOf(cloud, changes, owned);

  it("report a missing Nova zone that only a storage class names", async () => {
    assert.deepEqual(await ask({ podZones: ["a", "b"] }), [
      "problem: storageClasses.zones: 'b' does not exist or is closed; there are: a",
    ]);
  });

  it("warn about volumes in one zone for machines in several zones that Cinder has too", async () => {
    const open = (...names: string[]) => {
      const zones = names.map((zoneName) => ({ zoneName, zoneState: { available: true } }));
      cloud.on("GET /volumev3/os-availability-zone", { body: { availabilityZoneInfo: zones } });
    };
    const volume = (name: string, zone: string) => ({ path: "etcd.etcdVolume", name, zone });
    const unplacedVolumes = [volume("one", "a"), volume("two", "b")];
    open("a", "b", "c");
    assert.deepEqual(await ask({ unplacedVolumes }), [
      'warning: volumes: machines are in a, b, and Cinder creates all of etcd.etcdVolume in one zone that it chooses: if that zone fails, all of these machines fail, and some clouds attach no volume of another zone; write zone: "{zone}" there for the zone of each machine',
    ]);
    cloud.on("GET /volumev3/volumes/detail", { body: { volumes: [{ id: "v", name: "two" }] } });
    assert.deepEqual(await ask({ unplacedVolumes }, ["v"]), [], "what is made keeps its zone");
    cloud.on("GET /volumev3/volumes/detail", { body: { volumes: [] } });
    open("nova");
    assert.deepEqual(await ask({ unplacedVolumes }), [], "a cloud that could not do otherwise");
    const before = cloud.seen.length;
    assert.deepEqual(await ask({ unplacedVolumes: unplacedVolumes.slice(0, 1) }), []);
    const asked = cloud.seen.slice(before).filter(({ path }) => path.includes("volumev3/os-av"));
    assert.deepEqual(asked, [], "one zone is nothing to ask about");
  });
});
