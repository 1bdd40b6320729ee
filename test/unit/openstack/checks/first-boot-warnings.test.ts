import assert from "node:assert/strict";
import { getClusterRequirements } from "../../../../components/cloud-requirements.js";
import type { ClusterArgs } from "../../../../components/config/cluster-spec.js";
import type { ClusterRequirements } from "../../../../openstack/checks/cluster-requirements.js";
import type { FakeCloud } from "../../../support/cloud/fake-openstack.js";
import { smallest, specOf } from "../../../support/config/spec.js";
import {
  findingsOf,
  image,
  machine,
  useEquippedCloud,
} from "../../../support/cloud/equipped-cloud.js";

describe("warnings about the first boot", () => {
  let cloud: FakeCloud;
  useEquippedCloud((started) => (cloud = started));
  const ask = (changes: Partial<ClusterRequirements> = {}): Promise<string[]> =>
    findingsOf(cloud, changes);

  describe("about pulls from Docker Hub", () => {
    const pulls = (over: Partial<ClusterArgs> = {}): ClusterRequirements["dockerHub"] =>
      getClusterRequirements(specOf(over)).dockerHub;
    const workers = { general: { flavor: "medium", count: 80 } };
    const router = "docker.io/cloudnativelabs/kube-router:v2.10.0";

    it("report more pulls than one address may do, with what to write", async () => {
      const dockerHub = pulls({ workers });
      assert.deepEqual(dockerHub, { nodes: 81, images: [router] });
      assert.deepEqual(await ask({ dockerHub }), [
        `warning: registry: 81 nodes each pull ${router}; without a login, Docker Hub refuses an address, and so all nodes behind one router, after 100 pulls in 6 hours; write a mirror, or user and password, in kubernetes.registries["docker.io"]`,
      ]);
    });

    it("are absent for a smaller cluster", async () => {
      const fewer = { general: { flavor: "medium", count: 79 } };
      assert.deepEqual(await ask({ dockerHub: pulls({ workers: fewer }) }), []);
    });

    const elsewhere: readonly (readonly [string, Partial<ClusterArgs>])[] = [
      [
        "a mirror",
        { kubernetes: { registries: { "docker.io": { mirrors: ["https://m.example"] } } } },
      ],
      ["copies of the site's", { kubernetes: { registry: { prefix: "r.example/k8s" } } }],
      ["a pod network from elsewhere", { podNetwork: { kind: "flannel" } }],
    ];
    for (const [what, over] of elsewhere)
      it(`are absent with ${what}`, async () => {
        assert.deepEqual(await ask({ dockerHub: pulls({ workers, ...over }) }), []);
      });
  });

  describe("about the config drive", () => {
    const with_ = (properties: object, name = "debian-12"): void => {
      cloud.on("GET /image/images", { body: { images: [{ ...image("i"), name, ...properties }] } });
    };
    const rest =
      "the genericcloud kernel of Debian 12 cannot read the config drive; then no machine answers unless its network has the metadata service; set hw_cdrom_bus=scsi and hw_scsi_model=virtio-scsi on the image, or choose Debian's image generic";

    it("report that machine type q35 may not read the drive", async () => {
      for (const type of ["q35", "pc-q35-8.2"]) {
        with_({ hw_machine_type: type });
        assert.deepEqual(await ask(), [
          `warning: image: 'debian-12' has the machine type ${type}, on which ${rest}`,
        ]);
      }
    });

    it("report that Debian 12's genericcloud may not read the drive if q35 is Nova's default", async () => {
      for (const name of ["debian-12-genericcloud-amd64", "Debian 12 (genericcloud)"]) {
        with_({}, name);
        assert.deepEqual(await ask({ machines: [machine("general-0", { image: name })] }), [
          `warning: image: '${name}' has no hw_machine_type, and where Nova's default is q35, ${rest}`,
        ]);
      }
    });

    it("are absent for another bus, machine type or kernel", async () => {
      for (const [properties, name] of [
        [{ hw_machine_type: "q35", hw_cdrom_bus: "scsi" }, "debian-12"],
        [{ hw_cdrom_bus: "scsi" }, "debian-12-genericcloud"],
        [{ hw_machine_type: "pc" }, "debian-12-genericcloud"],
        [{ hw_machine_type: "q35" }, "debian-12-generic-amd64"],
        [{ hw_machine_type: "q35" }, "debian-13-genericcloud"],
        [{ hw_machine_type: "q35" }, "ubuntu-24.04"],
        [{}, "debian-12-generic"],
        [{}, "debian-13-genericcloud"],
        [{}, "ubuntu-24.04"],
      ] as const) {
        with_(properties, name);
        const machines = [machine("general-0", { image: name })];
        assert.deepEqual(await ask({ machines }), [], name);
      }
    });
  });

  describe("about an existing subnet", () => {
    const existing = { network: { nodes: "10.0.0.0/24", existing: { network: "home" } } };
    const { network, subnet } = getClusterRequirements(specOf({ ...smallest, ...existing }));
    const without = (...subnets: readonly object[]): void => {
      cloud.on("GET /network/networks", { body: { networks: [{ id: "n", name: "home" }] } });
      cloud.on("GET /network/networks?router:external=true", {
        body: { networks: [{ id: "e", name: "public" }] },
      });
      cloud.on("GET /network/subnets?network_id=n", { body: { subnets } });
    };
    const found = async (): Promise<string[]> => {
      assert.ok(network !== undefined && subnet !== undefined);
      return ask({ network, subnet });
    };

    it("report a subnet without DHCP, with what to do", async () => {
      without(
        { id: "other", name: "", cidr: "10.1.0.0/24", enable_dhcp: false },
        { id: "s", name: "inside", cidr: "10.0.0.0/24", enable_dhcp: false },
      );
      assert.deepEqual(await found(), [
        "warning: network.existing: the subnet 'inside' has no DHCP, and Debian's genericcloud images get an address by DHCP only, so no machine would answer; enable DHCP with `openstack subnet set --dhcp s`, or choose an image that configures itself from the config drive",
      ]);
    });

    it("are absent with DHCP", async () => {
      without({ id: "s", name: "inside", cidr: "10.0.0.0/24", enable_dhcp: true });
      assert.deepEqual(await found(), []);
    });
  });
});
