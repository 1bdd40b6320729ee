import assert from "node:assert/strict";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import { CloudError } from "../../../../openstack/http/cloud-error.js";
import type { ClusterRequirements } from "../../../../openstack/checks/cluster-requirements.js";
import { readQuotas } from "../../../../openstack/checks/quotas.js";
import { getClusterTags } from "../../../../openstack/inventory/ownership.js";
import {
  fakeProject,
  startFakeCloud,
  type FakeCloud,
} from "../../../support/cloud/fake-openstack.js";
import {
  findingsOf,
  flavor,
  image,
  limits,
  machine,
  needs,
  rootVolume,
  serversOf,
  useEquippedCloud,
  wellEquipped,
} from "../../../support/cloud/equipped-cloud.js";

const id = (digit: number): string => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;
const [one, other] = [id(1), id(2)];

describe("preflight checks", () => {
  let cloud: FakeCloud;
  useEquippedCloud((started) => (cloud = started));
  const ask = (changes: Partial<ClusterRequirements> = {}, owned: readonly string[] = []) =>
    findingsOf(cloud, changes, owned);

  it("report nothing if all requirements are met", async () => {
    assert.deepEqual(await ask(), []);
  });

  it("send no modifying request", async () => {
    await ask();
    const written = cloud.seen.filter(
      ({ method, path }) => method !== "GET" && !/tokens$/.test(path),
    );
    assert.deepEqual(written, []);
  });

  it("report all missing objects at once, with the existing ones", async () => {
    cloud.on("GET /network/extensions", { body: { extensions: [{ alias: "router" }] } });
    const volumes = [rootVolume("general-0", { type: "gold", zone: "a" })];
    const findings = await ask({
      machines: [
        machine("general-0", { flavor: "huge", image: "debian-13", zone: "b", volumes }),
        machine("general-1", { zone: "closed" }),
      ],
      externalNetworks: { externalNetwork: "nowhere", "of.services": "elsewhere" },
      network: "home",
      volumeZones: ["a", "store"],
      volumeTypes: ["gold"],
    });
    assert.deepEqual(findings, [
      "problem: externalNetwork: 'nowhere' is not an external network; there are: public",
      "problem: of.services: 'elsewhere' is not an external network; there are: public",
      "problem: podNetwork: cloud-routes needs routers with static routes (Neutron's extension extraroute), which the cloud does not offer; write another pod network, such as kube-router",
      "problem: network.existing.network: 'home' does not exist; there are none",
      "problem: image: 'debian-13' does not exist; there are: debian-12",
      "problem: workers.general.flavor: 'huge' does not exist; there are: big, small",
      "problem: zones: Nova has no zone 'b'; there are: a",
      "problem: zones: Nova reports that 'closed' is not available; there are: a",
      "problem: storageClasses.type: 'gold' does not exist; there are: fast",
      "problem: workers.general.rootVolume.type: 'gold' does not exist; there are: fast",
      "problem: workers.general.rootVolume.zone: Cinder has no zone 'a'; there are: store",
      "problem: storageClasses.availability: Cinder has no zone 'a'; there are: store",
    ]);
  });

  it("accept IDs instead of names", async () => {
    cloud.on(`GET /image/images/${one}`, { body: image(one) });
    cloud.on("GET /network/networks?router:external=true", {
      body: { networks: [{ id: other, name: "public" }] },
    });
    const machines = [machine("general-0", { flavor: "id-of-big", image: one })];
    assert.deepEqual(await ask({ externalNetworks: { externalNetwork: other }, machines }), []);
  });

  it("treat a value in the format of an ID as an ID, even if another object has this name", async () => {
    const networks = [
      { id: one, name: "public" },
      { id: other, name: one },
    ];
    cloud.on("GET /network/networks?router:external=true", { body: { networks } });
    assert.deepEqual(await ask({ externalNetworks: { externalNetwork: one } }), []);
    const stranger = { ...flavor("tiny", 1, 512), id: "big" };
    cloud.on("GET /compute/flavors/detail", {
      body: { flavors: [stranger, flavor("big", 4, 8192), flavor("small", 2, 2048)] },
    });
    assert.deepEqual(await ask(), [], "a flavor's name counts before another one's ID");
  });

  it("report an image with an unknown ID, or with a known ID and not active", async () => {
    const machines = [machine("general-0", { image: one })];
    assert.deepEqual(await ask({ machines }), [
      `problem: image: '${one}' does not exist; there are: debian-12`,
    ]);
    cloud.on(`GET /image/images/${one}`, { body: image(one, "deactivated") });
    assert.match((await ask({ machines })).join(), /is deactivated, not active/);
  });

  it("report the IDs if a name is ambiguous", async () => {
    cloud.on("GET /image/images", { body: { images: [image("1"), image("2")] } });
    const networks = ["3", "4"].map((id) => ({ id, name: "public" }));
    cloud.on("GET /network/networks?router:external=true", { body: { networks } });
    assert.deepEqual(await ask(), [
      "problem: externalNetwork: 2 external networks are called 'public' (3, 4); write the ID of one",
      "problem: image: 2 images are called 'debian-12' (1, 2); write the ID of one",
    ]);
  });

  it("require an active image and ignore other images of the name", async () => {
    cloud.on("GET /image/images", { body: { images: [image("1", "queued"), image("2")] } });
    assert.deepEqual(await ask(), []);
    cloud.on("GET /image/images", { body: { images: [image("1", "queued")] } });
    assert.match((await ask()).join(), /'debian-12' is queued, not active/);
  });

  it("only warn about hidden kinds that the cluster does not use, and throw for the others", async () => {
    cloud.on("GET /load-balancer/lbaas/loadbalancers", { status: 403, body: {} });
    await assert.rejects(
      ask(),
      (error) => error instanceof CloudError && error.kind === "forbidden",
    );
    const counts = { ...needs.counts, "load balancers": 0 };
    const warnings = [
      "warning: quota: the load balancer service does not show the quota to you",
      "warning: load balancer: the cloud does not show them to you, so they were not checked",
    ];
    assert.deepEqual(await ask({ counts }), warnings);
    cloud.on("GET /compute/servers/detail", { status: 403, body: {} });
    await assert.rejects(ask({ counts }), CloudError);
  });

  it("refuse control planes that kubeadm considers too small, and warn about other nodes", async () => {
    cloud.on("GET /compute/flavors/detail", {
      body: { flavors: [flavor("big", 1, 512), flavor("small", 2, 2048)] },
    });
    const has = "flavor: 'big' has 1 vCPU and 512 MiB; kubeadm";
    const problem = (checks: string): string =>
      `problem: controlPlane.${has} creates no control plane with less than 2 and 1700; write a larger flavor, or ${checks} in kubernetes.ignorePreflightErrors`;
    const warning = `${has} wants 2 and 1700`;
    assert.deepEqual(await ask(), [problem("NumCPU and Mem")]);
    assert.deepEqual(await ask({ sizeChecks: ["Mem"] }), [problem("Mem")]);
    assert.deepEqual(await ask({ sizeChecks: [] }), [`warning: controlPlane.${warning}`]);
    const worker = machine("general-0", { flavor: "big" });
    assert.deepEqual(await ask({ machines: [worker] }), [`warning: workers.general.${warning}`]);
    assert.deepEqual(await ask({ machines: [{ ...worker, kubeadmSize: "none" }] }), []);
  });

  it("compare quotas with the objects still to create", async () => {
    limits(cloud, { maxTotalCores: 10, totalCoresUsed: 4 });
    assert.deepEqual(await ask(), [
      "problem: quota of cores: need 8 more, but 6 of 10 are free; ask for a larger quota or delete unused objects",
    ]);
  });

  it("do not count objects twice that the stack already has", async () => {
    limits(cloud, {
      maxTotalCores: 8,
      totalCoresUsed: 8,
      totalInstancesUsed: 3,
      maxTotalInstances: 3,
    });
    const servers = serversOf(needs.machines);
    cloud.on("GET /compute/servers/detail", { body: { servers } });
    assert.deepEqual(await ask({}, ["0", "1", "2"]), []);
    assert.match((await ask()).join(), /quota of instances: need 3 more, but 0 of 3/);
  });

  it("require no quota for a volume that only a recreation would enlarge", async () => {
    cloud.on(`GET /volumev3/limits`, {
      body: {
        limits: { absolute: { maxTotalVolumeGigabytes: 100, totalGigabytesUsed: 90 } },
      },
    });
    const counts = { ...needs.counts, volumes: 1, "volume gigabytes": 60 };
    const volumes = [rootVolume("general-0", { size: 60 })];
    const larger = { counts, machines: [machine("general-0", { volumes })] };
    assert.match((await ask(larger)).join(), /quota of volume gigabytes: need 60 more/);
    const volume = { id: "v", name: "dev-general-0-root", size: 20 };
    cloud.on("GET /volumev3/volumes/detail", { body: { volumes: [volume] } });
    assert.deepEqual(await ask(larger, ["v"]), []);
  });

  it("count security group rules except existing ones", async () => {
    const quota = { security_group_rule: { limit: 100, used: 80, reserved: 0 } };
    cloud.on(`GET /network/quotas/${fakeProject}/details`, { body: { quota } });
    assert.deepEqual(await ask(), [
      "problem: quota of security group rules: need 30 more, but 20 of 100 are free; ask for a larger quota or delete unused objects",
    ]);
    const group = { id: "g", name: "dev-node", security_group_rules: Array(10).fill({}) };
    cloud.on("GET /network/security-groups", { body: { security_groups: [group] } });
    assert.deepEqual(await ask({}, ["g"]), []);
  });

  it("refuse a name used by a foreign object, but not by the stack's own objects", async () => {
    const servers = [{ id: "s", name: "dev-control-plane-0" }];
    cloud.on("GET /compute/servers/detail", () => ({ body: { servers } }));
    assert.deepEqual(await ask(), [
      "problem: server: the name 'dev-control-plane-0' is taken by s, which no cluster of stackadm created; choose another cluster name",
    ]);
    servers.push({ id: "theirs", name: "dev-control-plane-0" });
    assert.deepEqual(await ask({}, ["s"]), []);
  });

  it("distinguish another cluster of the same name from a foreign object", async () => {
    const tags = getClusterTags({ name: "dev", identity: "0123456789ab" });
    cloud.on(`GET /network/networks?project_id=${fakeProject}`, {
      body: { networks: [{ id: "n", name: "dev", tags }] },
    });
    assert.match(
      (await ask()).join(),
      /taken by n, which belongs to another cluster 'dev' \(identity 0123456789ab\).*PULUMI_BACKEND_URL.*orphans --identity 0123456789ab`/,
    );
  });

  it("report the service that hides its quota", async () => {
    cloud.on(`GET /network/quotas/${fakeProject}/details`, {
      status: 403,
      body: { NeutronError: { message: "policy does not allow" } },
    });
    assert.deepEqual(await ask(), [
      "warning: quota: the network service does not show the quota to you",
    ]);
  });

  it("require the load balancer service only if needed", async () => {
    await cloud.close();
    cloud = await startFakeCloud({ services: ["compute", "network", "image", "volumev3"] });
    wellEquipped(cloud);
    assert.match((await ask()).join(), /the cloud offers no load-balancer service/);
    assert.deepEqual(await ask({ counts: { ...needs.counts, "load balancers": 0 } }), []);
    assert.ok(cloud.seen.every(({ path }) => !path.includes("providers")));
  });

  it("require block storage only if volumes or volume types are requested", async () => {
    await cloud.close();
    cloud = await startFakeCloud({ services: ["compute", "network", "image", "load-balancer"] });
    wellEquipped(cloud);
    assert.equal((await ask()).join().match(/offers no block storage/g)?.length, 2);
    assert.deepEqual(await ask({ volumeTypes: [], counts: { ...needs.counts, volumes: 0 } }), []);
  });

  it("require volumev3 in the catalog for volumes of machines, if the plugin needs it", async () => {
    await cloud.close();
    const services = ["compute", "network", "image", "block-storage", "load-balancer"];
    cloud = await startFakeCloud({ services });
    wellEquipped(cloud);
    cloud.on("GET /block-storage/volumes/detail", { body: { volumes: [] } });
    cloud.on("GET /block-storage/snapshots/detail", { body: { snapshots: [] } });
    cloud.on("GET /block-storage/types", { body: { volume_types: [{ id: "t", name: "fast" }] } });
    cloud.on("GET /block-storage/limits", { body: { limits: { absolute: {} } } });
    const machines = [machine("general-0", { volumes: [rootVolume("general-0")] })];
    assert.deepEqual(await ask({ machines }), []);
    const older = { openstackPlugin: "3.15.2" };
    assert.deepEqual(await ask(older), [], "no machine has a volume");
    assert.deepEqual(await ask({ machines, ...older }), [
      "problem: openstackPlugin: version 3.15.2 looks for block storage only as volumev3, which is not in the cloud's catalog; write 5.5.1, or leave workers.general.rootVolume out",
    ]);
  });

  it("read every service's quota", async () => {
    const client = await connectCloud({ env: cloud.environment() });
    const { quotas, unreadable } = await readQuotas(client);
    for (const name of ["instances", "volumes", "load balancers"] as const)
      assert.deepEqual(quotas[name], { limit: 10, used: 0 }, name);
    assert.deepEqual([unreadable, quotas.cores?.limit, quotas.ports?.limit], [[], 20, 50]);
  });
});
