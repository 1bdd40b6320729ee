import { strict as assert } from "node:assert";
import { parseClusterSpec } from "../../../components/config/cluster-spec.js";
import type { MachineRequirement } from "../../../openstack/checks/cluster-requirements.js";
import { getFirewallRules } from "../../../components/network/firewall-plan.js";
import { getClusterRequirements } from "../../../components/cloud-requirements.js";
import { smallest } from "../../support/config/spec.js";

const minimal = {
  ...smallest,
  controlPlane: { flavor: "big" },
  workers: { general: { flavor: "small", count: 2 }, batch: { flavor: "big", count: 1 } },
};
const spec = (args: unknown) => {
  const result = parseClusterSpec(args);
  assert.ok("spec" in result);
  return result.spec;
};

/** Returns the values of all machines, without duplicates. */
const valuesOf = (machines: readonly MachineRequirement[], key: "image" | "zone") => [
  ...new Set(machines.map((machine) => machine[key])),
];

describe("getClusterRequirements", () => {
  it("contains one server per machine, with the names that the program uses", () => {
    assert.deepEqual(
      getClusterRequirements(spec(minimal))
        .names.filter(({ kind }) => kind === "server")
        .map(({ name }) => name),
      ["dev-control-plane-0", "dev-general-0", "dev-general-1", "dev-batch-0"],
    );
    assert.deepEqual(
      getClusterRequirements(spec(minimal)).machines.map(({ flavor }) => flavor),
      ["big", "small", "small", "big"],
    );
  });

  it("requires the cloud's Keystone for API server users, unless the user names another Keystone", () => {
    const asks = (kubernetes: object): boolean =>
      getClusterRequirements(spec({ ...minimal, kubernetes })).asksKeystone;
    assert.equal(asks({}), false);
    assert.equal(asks({ keystone: {} }), true);
    assert.equal(asks({ keystone: { url: "https://other.example/v3" } }), false);
  });

  it("counts a port for each machine and one floating IP", () => {
    const { counts } = getClusterRequirements(spec(minimal));
    assert.equal(counts.ports, 6);
    assert.equal(counts["floating IPs"], 1);
    assert.equal(counts["load balancers"], 0);
    assert.equal(counts.volumes, 0);
    assert.equal(counts["server groups"], 3);
  });

  it("counts a rule per firewall row and two egress rules per group", () => {
    const of = (over: object = {}) => {
      const parsed = spec({ ...minimal, ...over });
      return (
        getClusterRequirements(parsed).counts["security group rules"] -
        getFirewallRules(parsed).length
      );
    };
    assert.equal(of(), 2 * 3);
    assert.equal(of({ samples: true }), 2 * 5);
    const admin = { network: "ops", allowedCidrs: ["10.9.0.0/24"] };
    assert.equal(of({ network: { nodes: "10.1.0.0/24", admin } }), 2 * 3, "which keeps none");
    assert.equal(of({ network: { portSecurity: false } }), 0);
  });

  it("adds two load balancers, a floating IP and a volume for the samples", () => {
    const { counts } = getClusterRequirements(spec({ ...minimal, samples: true }));
    assert.equal(counts["load balancers"], 2);
    assert.equal(counts["floating IPs"], 2);
    assert.equal(counts["volume gigabytes"], 1);
  });

  it("contains the bastion, whose flavor is not checked as a node", () => {
    const behind = spec({ ...minimal, access: "bastion", bastion: { flavor: "tiny" } });
    const { machines, counts } = getClusterRequirements(behind);
    assert.deepEqual(
      machines.map(({ flavor, kubeadmSize }) => [flavor, kubeadmSize]),
      [
        ["big", "required"],
        ["small", "advised"],
        ["small", "advised"],
        ["big", "advised"],
        ["tiny", "none"],
      ],
    );
    assert.deepEqual([counts["floating IPs"], counts["security groups"]], [2, 4]);
  });

  it("checks the control plane's size as kubeadm does, unless the user ignores these checks", () => {
    const of = (...ignorePreflightErrors: string[]) =>
      getClusterRequirements(spec({ ...minimal, kubernetes: { ignorePreflightErrors } }))
        .sizeChecks;
    assert.deepEqual(of(), ["NumCPU", "Mem"]);
    assert.deepEqual(of("mem", "Swap"), ["NumCPU"]);
    assert.deepEqual(of("NumCPU", "Mem"), []);
    assert.deepEqual(of("all"), []);
  });

  it("contains image, external network, zones, and volume types of storage classes", () => {
    const needs = getClusterRequirements(
      spec({
        ...minimal,
        zones: ["a"],
        storageClasses: [{ name: "gold", type: "fast" }, { name: "x" }],
      }),
    );
    assert.deepEqual(valuesOf(needs.machines, "image"), ["debian-12"]);
    assert.deepEqual(valuesOf(needs.machines, "zone"), ["a"]);
    assert.deepEqual(needs.externalNetworks, { externalNetwork: "public" });
    assert.deepEqual(needs.volumeTypes, ["fast"]);
  });

  it("contains values of single groups and machines, with the paths of their settings", () => {
    const own = { flavor: "huge", image: "debian-13", zone: "z", rootVolume: { size: 9 } };
    const { machines, spareZones } = getClusterRequirements(
      spec({
        ...minimal,
        zones: ["a", "unused"],
        workers: {
          gpu: { flavor: "big", count: 2, image: "gpu", zones: ["b"], nodes: { "1": own } },
        },
        access: "bastion",
        bastion: { flavor: "tiny", zone: "c" },
      }),
    );
    assert.deepEqual(
      machines.map(({ flavor, image, zone }) => [flavor, image, zone]),
      [
        ["big", "debian-12", "a"],
        ["big", "gpu", "b"],
        ["huge", "debian-13", "z"],
        ["tiny", "debian-12", "c"],
      ],
    );
    const [general, gpu] = ["controlPlane", "workers.gpu"];
    assert.deepEqual(
      machines.map(({ paths }) => paths),
      [
        { group: general, flavor: "controlPlane.flavor", image: "image", zone: "zones" },
        { group: gpu, flavor: `${gpu}.flavor`, image: `${gpu}.image`, zone: `${gpu}.zones` },
        {
          group: gpu,
          flavor: `${gpu}.nodes.1.flavor`,
          image: `${gpu}.nodes.1.image`,
          zone: `${gpu}.nodes.1.zone`,
        },
        { group: "bastion", flavor: "bastion.flavor", image: "image", zone: "bastion.zone" },
      ],
    );
    assert.deepEqual(
      machines.flatMap(({ volumes }) => volumes.map(({ path, boots }) => [path, boots])),
      [[`${gpu}.nodes.1.rootVolume`, true]],
    );
    assert.deepEqual(spareZones, ["unused"]);
  });

  it("contains generations, ports and membership in server groups", () => {
    const { machines } = getClusterRequirements(
      spec({
        ...minimal,
        workers: { general: { flavor: "small", count: 1, spread: "none", generation: 2 } },
        network: { nodes: "10.1.0.0/24", admin: { network: "ops", allowedCidrs: ["10.9.0.0/24"] } },
      }),
    );
    assert.deepEqual(
      machines.map(({ generation, grouped, ports }) => [generation, grouped, ports]),
      [
        [0, true, ["dev-control-plane-0", "dev-control-plane-0-admin"]],
        [2, false, ["dev-general-0", "dev-general-0-admin"]],
      ],
    );
  });

  it("contains the extensions of Neutron that the settings need", () => {
    const of = (over: object) =>
      getClusterRequirements(spec({ ...minimal, ...over })).extensions.map(
        ({ aliases: [alias], reason }) => `${reason.split(":")[0] ?? ""} ${alias}`,
      );
    const own = ["tags standard-attr-tag", "network router", "network port-security"];
    const filtered = "network.portSecurity security-group";
    const pairs = "podNetwork allowed-address-pairs";
    assert.deepEqual(of({}), [...own, filtered, pairs]);
    assert.deepEqual(of({ podNetwork: "flannel" }), [...own, filtered]);
    assert.deepEqual(of({ podNetwork: "cloud-routes" }), [
      ...own,
      filtered,
      "podNetwork extraroute",
      pairs,
    ]);
    const virtual = { podNetwork: "flannel", endpoint: { kind: "virtual-ip" }, topology: "ha" };
    assert.deepEqual(of(virtual), [...own, filtered, "endpoint allowed-address-pairs"]);
    const existing = { network: { nodes: "10.0.0.0/24", existing: { network: "office" } } };
    assert.deepEqual(of({ ...existing, podNetwork: "flannel" }), [
      "tags standard-attr-tag",
      filtered,
    ]);
    const open = { network: { portSecurity: false } };
    assert.deepEqual(of(open), [...own, "network.portSecurity port-security"]);
  });

  it("counts volumes and contains their sizes, types and zones", () => {
    const disk = { size: 20, type: "fast", zone: "{zone}" };
    const needs = getClusterRequirements(
      spec({
        ...minimal,
        zones: ["a", "b"],
        controlPlane: { flavor: "big", rootVolume: disk, etcdVolume: { size: 5 } },
        workers: { general: { flavor: "small", count: 2, runtimeVolume: disk } },
      }),
    );
    assert.deepEqual([needs.counts.volumes, needs.counts["volume gigabytes"]], [4, 65]);
    assert.deepEqual([needs.volumeTypes, needs.volumeZones], [[], []]);
    assert.deepEqual(
      needs.machines.flatMap(({ volumes }) => volumes),
      [
        ["controlPlane.rootVolume", "dev-control-plane-0-root", 20, "fast", "a"],
        ["controlPlane.etcdVolume", "dev-control-plane-0-etcd", 5, undefined, undefined],
        ["workers.general.runtimeVolume", "dev-general-0-runtime", 20, "fast", "a"],
        ["workers.general.runtimeVolume", "dev-general-1-runtime", 20, "fast", "b"],
      ].map(([path, name, size, type, zone], index) => ({
        path,
        name,
        size,
        type,
        zone,
        boots: index === 0,
      })),
    );
  });

  describe("octavia", () => {
    const amphora = { "loadBalancer.provider": "amphora" };
    const of = (over: object) => getClusterRequirements(spec({ ...minimal, ...over })).octavia;
    const off = { cloudController: { enabled: false } };

    it("contains providers, flavors and zones of the cluster's load balancers", () => {
      assert.deepEqual(of({}), { providers: amphora, flavors: {}, zones: {} });
      const api = { kind: "load-balancer", provider: "gold", flavorId: "f", zone: "z" };
      const flavors = { "endpoint.flavorId": "f" };
      const zones = { "endpoint.zone": "z" };
      assert.deepEqual(of({ endpoint: api }), {
        providers: { ...amphora, "endpoint.provider": "gold" },
        flavors,
        zones,
      });
      const other = { flavorId: "g", availabilityZone: "y" };
      assert.deepEqual(of({ endpoint: api, loadBalancer: other }), {
        providers: { ...amphora, "endpoint.provider": "gold" },
        flavors: { ...flavors, "loadBalancer.flavorId": "g" },
        zones: { ...zones, "loadBalancer.availabilityZone": "y" },
      });
    });

    it("omits settings that no load balancer uses", () => {
      assert.equal(of(off), undefined);
      assert.equal(of({ loadBalancer: { enabled: false } }), undefined);
      const ovn = { endpoint: { kind: "load-balancer", provider: "ovn" } };
      const providers = { "endpoint.provider": "ovn" };
      assert.deepEqual(of({ ...off, ...ovn }), { providers, flavors: {}, zones: {} });
      const same = { endpoint: { kind: "load-balancer" } };
      assert.deepEqual(of({ ...off, ...same })?.providers, amphora);
      const unused = { loadBalancer: { flavorId: "f" }, ...off, ...ovn };
      assert.deepEqual(of(unused)?.flavors, {});
    });

    it("contains the settings of an ingress controller and of annotated Services", () => {
      const onPool = { kind: "workers", pool: "general", flavorId: "f", zone: "z" };
      const { providers, flavors, zones } = of({ ...off, ingress: onPool }) ?? assert.fail();
      assert.deepEqual(providers, amphora);
      assert.deepEqual([flavors, zones], [{ "ingress.flavorId": "f" }, { "ingress.zone": "z" }]);
      const flavor = "loadbalancer.openstack.org/flavor-id";
      const zone = "loadbalancer.openstack.org/availability-zone";
      const annotations = { [flavor]: "f", [zone]: "z" };
      const told = of({
        ingress: { kind: "service", annotations },
        samples: true,
        sampleServices: { annotations },
      });
      assert.deepEqual(told?.flavors, {
        [`ingress.annotations.${flavor}`]: "f",
        [`sampleServices.annotations.${flavor}`]: "f",
      });
      assert.deepEqual(Object.keys(told.zones), [
        `ingress.annotations.${zone}`,
        `sampleServices.annotations.${zone}`,
      ]);
    });
  });

  it("contains the zones in which storage classes place pods", () => {
    const classes = [
      { name: "x", zones: ["b", "c"] },
      { name: "y", zones: ["c"] },
    ];
    assert.deepEqual(
      getClusterRequirements(spec({ ...minimal, storageClasses: classes })).podZones,
      ["b", "c"],
    );
  });
});
