import assert from "node:assert/strict";
import type {
  ClusterRequirements,
  VolumeRequirement,
} from "../../../../openstack/checks/cluster-requirements.js";
import {
  controlPlane,
  findingsOf,
  limits,
  machine,
  needs,
  rootVolume,
  serversOf,
  useEquippedCloud,
} from "../../../support/cloud/equipped-cloud.js";
import { fakeProject, type FakeCloud } from "../../../support/cloud/fake-openstack.js";

const advice = "ask for a larger quota or delete unused objects";

describe("quotas that only new objects need", () => {
  let cloud: FakeCloud;
  useEquippedCloud((started) => (cloud = started));
  const ask = (changes: Partial<ClusterRequirements>, owned: readonly string[] = []) =>
    findingsOf(cloud, changes, owned);
  /** Returns the requests whose paths match the pattern. */
  const requests = (pattern: RegExp): string[] =>
    cloud.seen.map(({ path }) => path).filter((path) => pattern.test(path));

  describe("for servers in a server group", () => {
    const pool = (size: number) =>
      Array.from({ length: size }, (_, index) => machine(`general-${index}`));
    beforeEach(() => {
      limits(cloud, { maxTotalInstances: 50, maxServerGroupMembers: 10 });
    });

    it("report a pool with more machines than Nova allows, with what to write", async () => {
      assert.deepEqual(await ask({ machines: pool(10) }), []);
      assert.deepEqual(await ask({ machines: pool(11) }), [
        "problem: workers.general.count: all 11 machines are in one server group, but the quota allows 10 servers in a group (server_group_members); write another pool for the other machines, or ask the cloud's operator for a larger quota",
      ]);
    });

    it("recommend to spread control planes otherwise, because they are one group", async () => {
      limits(cloud, { maxServerGroupMembers: 2 });
      const machines = ["0", "1", "2"].map((name) => ({ ...controlPlane, name }));
      assert.match((await ask({ machines })).join(), /; write controlPlane\.spread: none, or ask /);
    });

    it("ignore machines without a server group, and a pool that is complete", async () => {
      const alone = pool(11).map((one) => ({ ...one, grouped: false }));
      assert.deepEqual(await ask({ machines: alone }), []);
      const servers = serversOf(pool(11));
      cloud.on("GET /compute/servers/detail", { body: { servers } });
      const ids = servers.map(({ id }) => id);
      assert.deepEqual(await ask({ machines: pool(11) }, ids), []);
    });

    it("treat -1 as unlimited", async () => {
      limits(cloud, { maxTotalInstances: 50, maxServerGroupMembers: -1 });
      assert.deepEqual(await ask({ machines: pool(11) }), []);
    });
  });

  describe("for volumes", () => {
    const quotaSet = (quotas: Readonly<Record<string, readonly [limit: number, used: number]>>) => {
      const sets = Object.entries(quotas).map(
        ([name, [limit, used]]) =>
          [name, { limit, in_use: used, reserved: 0, allocated: 0 }] as const,
      );
      cloud.on(`GET /volumev3/os-quota-sets/${fakeProject}`, {
        body: { quota_set: { id: fakeProject, ...Object.fromEntries(sets) } },
      });
    };
    const withVolumes = (changes: Partial<VolumeRequirement>) => {
      const machines = ["general-0", "general-1"].map((name) =>
        machine(name, { volumes: [rootVolume(name, changes)] }),
      );
      const counts = { ...needs.counts, volumes: 2, "volume gigabytes": 40 };
      return { machines, counts };
    };
    const at = "(workers.general.rootVolume)";

    it("report the quota of a volume type, given by name or ID", async () => {
      quotaSet({ volumes_fast: [1, 0], gigabytes_fast: [50, 20], gigabytes: [1000, 0] });
      const expected = [
        `problem: quota of volumes of type 'fast' ${at}: need 2 more, but 1 of 1 are free; ${advice}`,
        `problem: quota of gigabytes of type 'fast' ${at}: need 40 more, but 30 of 50 are free; ${advice}`,
      ];
      assert.deepEqual(await ask(withVolumes({ type: "fast" })), expected);
      assert.deepEqual(await ask(withVolumes({ type: "t" })), expected);
      assert.deepEqual(requests(/types\/default/), []);
    });

    it("use the quota of Cinder's default type for volumes without a type", async () => {
      quotaSet({ volumes_fast: [2, 2], gigabytes_fast: [-1, 20] });
      cloud.on("GET /volumev3/types/default", { body: { volume_type: { id: "t", name: "fast" } } });
      assert.deepEqual(await ask(withVolumes({})), [
        `problem: quota of volumes of type 'fast' ${at}: need 2 more, but 0 of 2 are free; ${advice}`,
      ]);
    });

    it("report a volume that is larger than the quota for one volume", async () => {
      quotaSet({ per_volume_gigabytes: [15, 0] });
      assert.deepEqual(await ask(withVolumes({ type: "fast" })), [
        "problem: workers.general.rootVolume.size: a volume of 20 GiB is larger than the quota allows for one volume (per_volume_gigabytes, 15); write at most 15, or ask the cloud's operator for a larger quota",
      ]);
    });

    for (const status of [403, 404, 405, 501])
      it(`say nothing if Cinder does not show them (${status})`, async () => {
        cloud.on(`GET /volumev3/os-quota-sets/${fakeProject}`, { status });
        cloud.on("GET /volumev3/types/default", { status });
        assert.deepEqual(await ask(withVolumes({})), []);
      });

    it("require the quota for both volumes of a replaced machine until the run ends", async () => {
      quotaSet({ volumes_fast: [3, 2] });
      const { machines, counts } = withVolumes({ type: "fast" });
      cloud.on("GET /compute/servers/detail", { body: { servers: serversOf(machines) } });
      const volumes = machines.flatMap(({ volumes: own }) =>
        own.map(({ name, size }) => ({ id: name, name, size })),
      );
      cloud.on("GET /volumev3/volumes/detail", { body: { volumes } });
      const owned = ["0", "1", ...volumes.map(({ id }) => id)];
      assert.deepEqual(await ask({ machines, counts }, owned), []);
      assert.deepEqual(requests(/os-quota-sets/), [], "no volume is created");
      const replaced = machines.map((one) => ({ ...one, generation: 1 }));
      assert.deepEqual(await ask({ machines: replaced, counts }, owned), [
        `problem: quota of volumes of type 'fast' ${at}: need 2 more, but 1 of 3 are free; ${advice}`,
      ]);
    });
  });

  describe("for parts of load balancers", () => {
    const parts = /lbaas\/(listeners|pools|healthmonitors)/;
    const quota = { loadbalancer: 10, listener: 3, pool: -1, member: 10, healthmonitor: 3 };
    const prepare = (...balancers: readonly string[]) => {
      cloud.on(`GET /load-balancer/lbaas/quotas/${fakeProject}`, { body: { quota } });
      const refer = (id: string) => [{ id }];
      const [own = "other"] = balancers;
      cloud.on("GET /load-balancer/lbaas/listeners", {
        body: {
          listeners: [
            { id: "l1", loadbalancers: refer("other") },
            { id: "l2", loadbalancers: refer(own) },
          ],
        },
      });
      const members = ["m1", "m2", "m3", "m4"].map((id) => ({ id }));
      cloud.on("GET /load-balancer/lbaas/pools", {
        body: {
          pools: [
            { id: "p1", loadbalancers: refer("other"), members },
            { id: "p2", loadbalancers: refer(own), members: members.slice(0, 3) },
          ],
        },
      });
      cloud.on("GET /load-balancer/lbaas/healthmonitors", {
        body: { healthmonitors: ["p1", "p2"].map((id) => ({ id: `of-${id}`, pools: refer(id) })) },
      });
      const loadbalancers = balancers.map((id) => ({ id, name: id }));
      cloud.on("GET /load-balancer/lbaas/loadbalancers", { body: { loadbalancers } });
    };

    it("report each quota that is too small", async () => {
      prepare();
      assert.deepEqual(await ask({}), [
        `problem: quota of listeners: need 2 more, but 1 of 3 are free; ${advice}`,
        `problem: quota of members: need 4 more, but 3 of 10 are free; ${advice}`,
        `problem: quota of health monitors: need 2 more, but 1 of 3 are free; ${advice}`,
      ]);
    });

    it("subtract the parts of the cluster's own load balancers", async () => {
      prepare("own");
      assert.deepEqual(await ask({}, ["own"]), []);
    });

    it("are not requested if the cluster is complete, or if all are unlimited", async () => {
      prepare("own", "second");
      cloud.on("GET /compute/servers/detail", { body: { servers: serversOf(needs.machines) } });
      assert.deepEqual(await ask({}, ["0", "1", "2", "own", "second"]), []);
      assert.deepEqual(requests(parts), []);
      cloud.on("GET /compute/servers/detail", { body: { servers: [] } });
      cloud.on(`GET /load-balancer/lbaas/quotas/${fakeProject}`, {
        body: { quota: { listener: -1, pool: -1, member: -1, health_monitor: -1 } },
      });
      assert.deepEqual(await ask({}), []);
      assert.deepEqual(requests(parts), []);
    });

    it("say nothing if Octavia does not list them", async () => {
      prepare();
      cloud.on("GET /load-balancer/lbaas/pools", { status: 403, body: { faultstring: "no" } });
      assert.deepEqual(await ask({}), []);
    });
  });
});
