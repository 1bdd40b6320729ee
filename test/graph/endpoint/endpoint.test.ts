import { strict as assert } from "node:assert";
import { getEndpointTraits } from "../../../components/config/load-balancing/endpoint-traits.js";
import type { EndpointSpec } from "../../../components/config/load-balancing/endpoint.js";
import { sampleIdentity } from "../../support/cloud/cloud-answers.js";
import {
  addresses,
  allowedCidrs,
  amphora,
  build,
  named,
  nodes,
  ovn,
  roles,
  short,
  virtualIp,
  type Built,
} from "../../support/graph/endpoint-graph.js";
import { value } from "../../support/graph/output-value.js";
import { nonEmpty } from "../../support/non-empty.js";

const tags = ["stackadm-cluster=dev", `stackadm-identity=${sampleIdentity}`];
const kinds: readonly EndpointSpec[] = [
  { kind: "floating-ip" },
  ...[amphora, ovn, { ...amphora, public: false }],
  ...[virtualIp, { ...virtualIp, public: false }],
  ...[{ kind: "floating-ip", floatingIp: "203.0.113.9" } as const],
  ...[amphora, ovn, virtualIp].map((one) => ({ ...one, floatingIp: "203.0.113.9" })),
  { kind: "existing", host: "203.0.113.9" },
  { kind: "private" },
];

describe("an endpoint", () => {
  for (const kind of kinds) {
    const text = JSON.stringify(kind);

    it(`registers the same resources in a preview: ${text}`, async () => {
      const [now, preview] = [await build(kind), await build(kind, 3, true)];
      const keys = ({ rows }: Built): string[] =>
        rows.map(({ urn, dependencies }) => `${urn} ${String(dependencies)}`);
      assert.deepEqual(keys(preview), keys(now));
    });

    if ("floatingIp" in kind)
      it(`associates the existing floating IP and creates none: ${text}`, async () => {
        const { rows, endpoint } = await build(kind);
        const made = rows.filter(({ type }) => /:FloatingIp/.test(type));
        assert.deepEqual(
          made.map(({ name, inputs, deleteBeforeReplace }) => [
            ...[name, inputs["floatingIp"], Object.keys(inputs).length, deleteBeforeReplace],
          ]),
          [["dev-endpoint-floating-ip-association", "203.0.113.9", 2, true]],
        );
        // The provider would disassociate the floating IP, even from another port than this one.
        assert.equal(made[0]?.retainOnDelete, true);
        assert.ok(made[0].dependencies.some((one) => one.endsWith("router-interface")));
        assert.equal(await value(endpoint.externalHost), "203.0.113.9");
      });

    it(`creates tagged resources in the numbers of getEndpointTraits: ${text}`, async () => {
      const { rows } = await build(kind);
      const count = (type: string): number => rows.filter((row) => row.type.endsWith(type)).length;
      const { floatingIps, loadBalancers, ports } = getEndpointTraits({
        endpoint: kind,
        allowedCidrs,
        network: { nodes },
      });
      // OVN creates the port of its load balancer itself.
      const own = ports - ("provider" in kind && kind.provider === ovn.provider ? 1 : 0);
      assert.deepEqual(
        [count(":FloatingIp"), count(":LoadBalancer"), count(":Port")],
        [floatingIps, loadBalancers, own],
      );
      for (const { type, inputs } of rows.filter((row) =>
        /:(FloatingIp|LoadBalancer|Port)$/.test(row.type),
      ))
        assert.deepEqual(inputs["tags"], tags, type);
    });
  }

  it("has the same component type and name for every kind, so that its floating IP is kept", async () => {
    for (const kind of [{ kind: "floating-ip" }, amphora, virtualIp] as const) {
      const [component] = (await build(kind)).rows.filter(({ custom }) => !custom);
      assert.equal(component?.type, "stackadm:endpoint:Endpoint");
      assert.equal(component.name, "dev-endpoint");
      assert.equal(named((await build(kind)).rows, "floating-ip").name, "dev-endpoint-floating-ip");
    }
  });

  describe("of kind floating-ip", () => {
    const kind = { kind: "floating-ip" } as const;

    it("associates the floating IP with the first control plane, after the route", async () => {
      const { rows, endpoint } = await build(kind);
      assert.deepEqual(roles(rows), ["floating-ip"]);
      const { inputs, dependencies, ignoreChanges } = named(rows, "floating-ip");
      assert.equal(inputs["portId"], "dev-0-port-id");
      assert.equal(inputs["pool"], "public");
      assert.deepEqual(inputs["valueSpecs"], { floating_network_id: "external-network-id" });
      assert.ok(dependencies.map(short).includes("dev-router-interface"));
      assert.deepEqual(ignoreChanges, ["valueSpecs"]);
      assert.equal(await value(endpoint.externalHost), "203.0.113.7");
      assert.deepEqual(await value(endpoint.certificateNames), ["203.0.113.7"]);
    });

    it("resolves to all control planes inside the cluster", async () => {
      const { endpoint } = await build(kind);
      assert.deepEqual(await value(endpoint.getInternalAddresses(addresses)), addresses);
      assert.deepEqual(endpoint.allowedAddresses, []);
    });
  });

  describe("of kind existing", () => {
    it("creates nothing and uses the specified address", async () => {
      const { rows, endpoint } = await build({ kind: "existing", host: "203.0.113.9" });
      assert.deepEqual(roles(rows), []);
      assert.equal(await value(endpoint.externalHost), "203.0.113.9");
      assert.deepEqual(await value(endpoint.certificateNames), ["203.0.113.9"]);
      assert.deepEqual(await value(endpoint.getInternalAddresses(addresses)), ["203.0.113.9"]);
    });

    it("leaves a host name to DNS", async () => {
      const { endpoint } = await build({ kind: "existing", host: "api.example.org" });
      assert.deepEqual(await value(endpoint.getInternalAddresses(addresses)), []);
      assert.equal(await value(endpoint.externalHost), "api.example.org");
    });
  });

  describe("of kind private", () => {
    it("creates nothing and uses the first control plane as the host", async () => {
      const { rows, endpoint } = await build({ kind: "private" });
      assert.deepEqual(roles(rows), []);
      assert.equal(await value(endpoint.externalHost), "10.0.0.11");
      assert.deepEqual(await value(endpoint.certificateNames), []);
      assert.deepEqual(await value(endpoint.getInternalAddresses(addresses)), addresses);
    });
  });

  it("passes an empty virtual IP to the scripts for other kinds than virtual-ip", async () => {
    for (const kind of nonEmpty(kinds.filter((one) => one.kind !== "virtual-ip"))) {
      const { endpoint } = await build(kind);
      assert.deepEqual(Object.values(endpoint.scriptValues(0, addresses)), ["", "", ""]);
    }
  });
});
