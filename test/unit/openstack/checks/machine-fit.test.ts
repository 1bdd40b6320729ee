import assert from "node:assert/strict";
import type { MachineRequirement } from "../../../../openstack/checks/cluster-requirements.js";
import {
  findingsOf,
  flavor,
  flavors,
  image,
  limits,
  machine,
  rootVolume,
  serversOf,
  useEquippedCloud,
} from "../../../support/cloud/equipped-cloud.js";
import { fakeProject, type FakeCloud } from "../../../support/cloud/fake-openstack.js";

const kept = "; the machines that exist keep running, but none can be replaced";

describe("checks of machines", () => {
  let cloud: FakeCloud;
  useEquippedCloud((started) => (cloud = started));
  const offer = (...more: readonly ReturnType<typeof flavor>[]): void => {
    cloud.on("GET /compute/flavors/detail", { body: { flavors: [...flavors, ...more] } });
  };
  /** Returns the findings for a cluster of these machines. Those in `living` have servers. */
  const ask = (
    machines: readonly MachineRequirement[],
    living: readonly MachineRequirement[] = [],
  ): Promise<string[]> => {
    const servers = serversOf(living);
    cloud.on("GET /compute/servers/detail", { body: { servers } });
    return findingsOf(
      cloud,
      { machines },
      servers.map(({ id }) => id),
    );
  };

  const retired = machine("general-0", { flavor: "gone", image: "gone" });
  const noImage = "image: 'gone' does not exist; there are: debian-12";
  const noFlavor = "workers.general.flavor: 'gone' does not exist; there are: big, small";

  it("only warn about a flavor and an image that the cloud withdrew, while their machines live", async () => {
    assert.deepEqual(await ask([retired]), [`problem: ${noImage}`, `problem: ${noFlavor}`]);
    assert.deepEqual(await ask([retired, machine("general-1")], [retired]), [
      `warning: ${noImage}${kept}`,
      `warning: ${noFlavor}${kept}`,
    ]);
  });

  it("report them if a machine is added or replaced", async () => {
    const problems = [`problem: ${noImage}`, `problem: ${noFlavor}`];
    assert.deepEqual(
      await ask([retired, { ...retired, name: "dev-general-1" }], [retired]),
      problems,
    );
    assert.deepEqual(await ask([{ ...retired, generation: 1 }], [retired]), problems);
  });

  it("keep a server whose generation Nova does not know", async () => {
    const servers = [{ id: "s", name: retired.name }];
    cloud.on("GET /compute/servers/detail", { body: { servers } });
    const found = await findingsOf(cloud, { machines: [retired] }, ["s"]);
    assert.deepEqual(found, [`warning: ${noImage}${kept}`, `warning: ${noFlavor}${kept}`]);
  });

  it("report a flavor without a disk, unless the machine boots from a volume", async () => {
    offer(flavor("diskless", 2, 2048, 0));
    const diskless = machine("general-0", { flavor: "diskless" });
    const text =
      "workers.general.flavor: 'diskless' has no disk, so its machines must boot from a volume; write workers.general.rootVolume with a size in GiB, or a flavor with a disk";
    assert.deepEqual(await ask([diskless]), [`problem: ${text}`]);
    assert.deepEqual(await ask([diskless], [diskless]), [`warning: ${text}${kept}`]);
    assert.deepEqual(await ask([{ ...diskless, volumes: [rootVolume("general-0")] }]), []);
  });

  it("report an image that needs a larger disk or more memory", async () => {
    cloud.on("GET /image/images", {
      body: { images: [{ ...image("i"), min_disk: 30, min_ram: 4096 }] },
    });
    const small = machine("general-0");
    const memory =
      "problem: workers.general.flavor: 'small' has 2048 MiB of RAM, but the image 'debian-12' needs 4096 (min_ram); write a larger flavor, or another image";
    assert.deepEqual(await ask([small]), [
      "problem: workers.general.flavor: the disk of 'small' has 20 GiB, but the image 'debian-12' needs 30 GiB (min_disk); write a flavor with a larger disk, workers.general.rootVolume of at least 30 GiB, or another image",
      memory,
    ]);
    assert.deepEqual(await ask([{ ...small, volumes: [rootVolume("general-0")] }]), [
      "problem: workers.general.rootVolume.size: the volume has 20 GiB, but the image 'debian-12' needs 30 GiB (min_disk); write at least 30, or another image",
      memory,
    ]);
    const enough = { volumes: [rootVolume("general-0", { size: 30 })], flavor: "big" };
    assert.deepEqual(await ask([{ ...small, ...enough }]), []);
  });

  it("count the RAM and the cores of exactly the missing machines", async () => {
    offer(flavor("huge", 32, 65536));
    const memory = { maxTotalRAMSize: 65536, totalRAMUsed: 6144 };
    limits(cloud, { ...memory, maxTotalCores: 40, totalCoresUsed: 16 });
    const three = ["general-0", "general-1", "general-2"].map((name) => machine(name));
    const huge = machine("general-3", { flavor: "huge" });
    const advice = "ask for a larger quota or delete unused objects";
    assert.deepEqual(await ask([...three, huge], three), [
      `problem: quota of cores: need 32 more, but 24 of 40 are free; ${advice}`,
      `problem: quota of MiB of RAM: need 65536 more, but 59392 of 65536 are free; ${advice}`,
    ]);
    assert.deepEqual(await ask([...three, huge], [...three, huge]), []);
  });

  it("count the ports of exactly the missing machines", async () => {
    const quota = { port: { limit: 10, used: 10, reserved: 0 } };
    cloud.on(`GET /network/quotas/${fakeProject}/details`, { body: { quota } });
    const living = machine("general-0");
    const ports = [
      { id: "p", name: "dev-general-0", network_id: "n" },
      // Ports of load balancers that users created, of the router, and of DHCP.
      ...["a", "b", "c", "d", "e", "f"].map((id) => ({ id, name: "", network_id: "n" })),
    ];
    cloud.on("GET /network/ports", { body: { ports } });
    cloud.on("GET /compute/servers/detail", { body: { servers: serversOf([living]) } });
    cloud.on(`GET /network/networks?project_id=${fakeProject}`, {
      body: { networks: [{ id: "n", name: "dev" }] },
    });
    const owned = ["0", "p", "n"];
    assert.deepEqual(await findingsOf(cloud, { machines: [living] }, owned), []);
    assert.deepEqual(await findingsOf(cloud, { machines: [living, machine("general-1")] }, owned), [
      "problem: quota of ports: need 1 more, but 0 of 10 are free; ask for a larger quota or delete unused objects",
    ]);
  });
});
