import assert from "node:assert/strict";
import type { ClusterRequirements } from "../../../../openstack/checks/cluster-requirements.js";
import {
  findingsOf,
  machine,
  needs,
  serversOf,
  useEquippedCloud,
} from "../../../support/cloud/equipped-cloud.js";
import type { FakeCloud } from "../../../support/cloud/fake-openstack.js";

describe("checks of Neutron's features", () => {
  let cloud: FakeCloud;
  useEquippedCloud((started) => (cloud = started));
  const ask = (changes: Partial<ClusterRequirements>, owned: readonly string[] = []) =>
    findingsOf(cloud, changes, owned);
  /** Returns the requests whose paths match the pattern. */
  const requests = (pattern: RegExp): string[] =>
    cloud.seen.map(({ path }) => path).filter((path) => pattern.test(path));
  /** Adds the servers of all machines, and returns their IDs. */
  const complete = (): string[] => {
    const servers = serversOf(needs.machines);
    cloud.on("GET /compute/servers/detail", { body: { servers } });
    return servers.map(({ id }) => id);
  };

  describe("extensions", () => {
    const [extension] = needs.extensions;
    assert.ok(extension);
    const offer = (...aliases: readonly string[]): void => {
      const extensions = aliases.map((alias) => ({ alias }));
      cloud.on("GET /network/extensions", { body: { extensions } });
    };

    it("report a missing one with the setting and what to write", async () => {
      offer("router");
      assert.deepEqual(await ask({}), [
        "problem: podNetwork: cloud-routes needs routers with static routes (Neutron's extension extraroute), which the cloud does not offer; write another pod network, such as kube-router",
      ]);
    });

    it("accept each name of an extension", async () => {
      const found: string[][] = [];
      for (const alias of extension.aliases) {
        offer(alias);
        found.push(await ask({}));
      }
      assert.deepEqual(found, [[], []]);
    });

    it("are not requested if a machine exists, which proves that Neutron has them", async () => {
      offer();
      const machines = [...needs.machines, machine("general-2")];
      assert.deepEqual(await ask({ machines }, complete()), []);
      assert.deepEqual(requests(/extensions/), []);
    });

    for (const status of [403, 404])
      it(`are not checked if Neutron does not list them (${status})`, async () => {
        cloud.on("GET /network/extensions", { status });
        assert.deepEqual(await ask({}), []);
      });
  });

  describe("subnets of an external network", () => {
    const subnet = (name: string, changes: object = {}) => ({
      id: `id-of-${name}`,
      name,
      cidr: `203.0.113.${name.length}/28`,
      ip_version: 4,
      service_types: [],
      ...changes,
    });
    const offer = (...subnets: readonly object[]): void => {
      cloud.on("GET /network/subnets?network_id=e", { body: { subnets } });
    };

    it("report several IPv4 subnets, among which Neutron chooses", async () => {
      offer(subnet("one"), subnet("", { id: "two" }));
      assert.deepEqual(await ask({}), [
        "warning: externalNetwork: 'public' has several IPv4 subnets, one (203.0.113.3/28), two (203.0.113.0/28), and Neutron chooses one for each floating IP; if not all of them are reachable for you, request the floating IPs yourself and write them, like endpoint.floatingIp, and write loadBalancer.floatingSubnet for Services",
      ]);
    });

    it("ignore IPv6 subnets and subnets only for other services", async () => {
      offer(
        subnet("one"),
        subnet("six", { ip_version: 6 }),
        subnet("gateways", { service_types: ["network:router_gateway"] }),
      );
      assert.deepEqual(await ask({}), []);
      offer(subnet("one"), subnet("floating", { service_types: ["network:floatingip"] }));
      assert.match((await ask({})).join(), /several IPv4 subnets/);
    });

    it("are not requested if no floating IP is needed", async () => {
      offer(subnet("one"), subnet("two"));
      const counts = { ...needs.counts, "floating IPs": 0 };
      assert.deepEqual(await ask({ counts }), []);
      assert.deepEqual(requests(/subnets\?network_id/), []);
    });

    it("are not checked if Neutron does not show them", async () => {
      cloud.on("GET /network/subnets?network_id=e", { status: 404 });
      assert.deepEqual(await ask({}), []);
    });
  });

  describe("port security of an existing network", () => {
    const network = (enabled?: boolean): void => {
      const networks = [{ id: "n", name: "office", port_security_enabled: enabled }];
      cloud.on("GET /network/networks", { body: { networks } });
    };
    const text =
      "network.existing.network: 'office' has port_security_enabled false, so Neutron refuses ports with security groups; write network.portSecurity: false, or ask the owner of the network to enable port security";
    const existing = { network: "office", externalNetworks: {} };

    it("report that it is off, with what to write", async () => {
      network(false);
      assert.deepEqual(await ask(existing), [`problem: ${text}`]);
    });

    it("only warn if no machine is created", async () => {
      network(false);
      assert.deepEqual(await ask(existing, complete()), [
        `warning: ${text}; the machines that exist keep running, but none can be replaced`,
      ]);
    });

    it("accept it if it is on or unknown, or if the machines' ports have none", async () => {
      for (const enabled of [true, undefined]) {
        network(enabled);
        assert.deepEqual(await ask(existing), []);
      }
      network(false);
      const machines = [machine("general-0")];
      assert.deepEqual(await ask({ ...existing, machines, filtersPorts: false }), []);
    });
  });
});
