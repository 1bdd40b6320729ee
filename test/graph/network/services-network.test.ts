import { strict as assert } from "node:assert";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { parseGcfg } from "../../unit/components/addons/gcfg.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph, type Fields, type GraphOptions, type Row } from "../../support/graph/graph.js";
import { isSecret, plain } from "../../support/graph/secrets.js";
import { smallest } from "../../support/config/spec.js";

const lookups: GraphOptions["lookups"] = {
  ...cloudAnswers.lookups,
  "openstack:networking/getNetwork:getNetwork": ({ name, external }) =>
    external === true
      ? { id: `${String(name)}-network-id`, name }
      : { id: "office-id", name, mtu: 1450, subnets: ["subnet-id"] },
};
const network = { externalNetwork: "services" };
const build = (over: Partial<ClusterArgs> = {}, preview = false): Promise<readonly Row[]> =>
  graph(() => new Cluster("dev", { ...smallest, ...over }), { ...cloudAnswers, lookups, preview });
const apart = (over: Partial<ClusterArgs> = {}, preview = false): Promise<readonly Row[]> =>
  build({ loadBalancer: { network }, ...over }, preview);

const row = (rows: readonly Row[], name: string): Row => {
  const found = rows.find((one) => one.name === name);
  assert.ok(found, name);
  return found;
};
const tags = ["stackadm-cluster=dev", "stackadm-identity=0123456789ab"];
const conf = (rows: readonly Row[]) => {
  const data = row(rows, "dev-addons-cloud-config-secret").inputs["stringData"];
  const files = (isSecret(data) ? (data as { value: Fields }).value : data) as Fields;
  return parseGcfg(plain(files["cloud.conf"]));
};
const annotationsOf = (rows: readonly Row[], name: string): Fields =>
  ((row(rows, name).inputs["metadata"] as Fields)["annotations"] ?? {}) as Fields;
const classOf = (rows: readonly Row[], name: string): unknown =>
  annotationsOf(rows, name)["loadbalancer.openstack.org/class"];

describe("graph: a separate network for service addresses", () => {
  let rows: readonly Row[];
  before(async () => {
    rows = await apart({ samples: true });
  });

  it("has a network, a subnet and a router to the second external network", () => {
    const prefix = "dev-network-services";
    const made = rows.filter(({ name, custom }) => custom && name.startsWith(`${prefix}-`));
    assert.deepEqual(
      made.map(({ name, inputs }) => [name.slice(prefix.length + 1), inputs["name"]]).sort(),
      [
        ["network", "dev-services"],
        ["router", "dev-services"],
        ["router-interface", undefined],
        ["subnet", "dev-services"],
      ],
    );
    assert.equal(row(rows, `${prefix}-subnet`).inputs["cidr"], "10.1.0.0/24");
    assert.equal(row(rows, `${prefix}-router`).inputs["externalNetworkId"], "services-network-id");
    for (const part of ["network", "subnet", "router"])
      assert.deepEqual(row(rows, `${prefix}-${part}`).inputs["tags"], tags);
    assert.equal(
      row(rows, "dev-network-router").inputs["externalNetworkId"],
      "public-network-id",
      "the machines' way out is what it was",
    );
  });

  it("is the network of load balancers, with members in the machines' subnet", () => {
    const { LoadBalancer, 'LoadBalancerClass "machines"': machines } = conf(rows);
    assert.deepEqual(
      ["network-id", "subnet-id", "member-subnet-id", "floating-network-id"].map(
        (key) => LoadBalancer?.[key],
      ),
      [
        "dev-network-services-network-id",
        "dev-network-services-subnet-id",
        "dev-network-subnet-id",
        "services-network-id",
      ],
    );
    assert.deepEqual(machines, {
      "member-subnet-id": "dev-network-subnet-id",
      "subnet-id": "dev-network-subnet-id",
      "network-id": "dev-network-network-id",
      "floating-network-id": "public-network-id",
    });
  });

  it("is not used for the program's internal Services", async () => {
    const [external, internal] = ["external", "internal"].map((reach) =>
      classOf(rows, `dev-addons-samples-web-${reach}`),
    );
    assert.deepEqual([external, internal], [undefined, "machines"]);
    const service = "dev-addons-ingress-service";
    const ingress = { kind: "service", public: false } as const;
    assert.equal(classOf(await apart({ ingress }), service), "machines");
    assert.equal(classOf(await apart({ ingress: { kind: "service" } }), service), undefined);
    assert.equal(classOf(await build({ ingress }), service), undefined);
    const said = { annotations: { "loadbalancer.openstack.org/class": "near" } };
    const told = await apart({ samples: true, sampleServices: said });
    assert.equal(classOf(told, "dev-addons-samples-web-internal"), "near");
  });

  it("exists before the cloud controller starts and until the teardown has run", () => {
    const routed = row(rows, "dev-network-services-router-interface").urn;
    const secret = row(rows, "dev-addons-cloud-config-secret");
    const controller = row(rows, "dev-addons-cloud-controller-daemon-set");
    const teardown = rows.find(({ name }) => name.endsWith("-teardown"));
    assert.ok(teardown);
    assert.ok(secret.dependencies.includes(routed));
    assert.ok(controller.dependencies.includes(secret.urn));
    assert.ok(teardown.dependencies.includes(secret.urn));
  });

  it("adds no security group rules", async () => {
    const rules = (of: readonly Row[]): unknown[] =>
      of.filter(({ type }) => type.endsWith(":SecGroupRule")).map(({ inputs }) => inputs);
    assert.deepEqual(rules(rows), rules(await build()));
  });

  it("is recorded in the immutable values by range and external network ID", async () => {
    const kept = row(rows, "dev-frozen").inputs["environment"] as Fields;
    assert.equal(kept["loadBalancer.network.range"], "10.1.0.0/24");
    assert.equal(kept["loadBalancer.network.externalNetwork"], "services-network-id");
    const without = row(await build(), "dev-frozen").inputs["environment"] as Fields;
    assert.deepEqual(
      Object.keys(without).filter((path) => path.startsWith("loadBalancer")),
      ["loadBalancer.provider"],
    );
  });

  it("registers the same resources in a preview", async () => {
    const names = (of: readonly Row[]): string[] => of.map(({ name }) => name).sort();
    assert.deepEqual(names(await apart({ samples: true }, true)), names(rows));
  });

  it("works without an external network of the machines", async () => {
    const separate = await apart({
      externalNetwork: undefined,
      endpoint: { kind: "private" },
      samples: true,
      network: { existing: { network: "office" } },
    });
    const { LoadBalancer, 'LoadBalancerClass "machines"': machines } = conf(separate);
    assert.equal(LoadBalancer?.["floating-network-id"], "services-network-id");
    assert.ok(machines && !("floating-network-id" in machines));
  });

  it("is configured by the IDs of an existing network without new resources", async () => {
    const given = { networkId: "n", subnetId: "s", floatingNetworkId: "f" };
    const found = await build({ loadBalancer: given });
    const { LoadBalancer, ...others } = conf(found);
    assert.deepEqual(
      ["network-id", "subnet-id", "member-subnet-id", "floating-network-id"].map(
        (key) => LoadBalancer?.[key],
      ),
      ["n", "s", "dev-network-subnet-id", "f"],
    );
    assert.ok(!Object.keys(others).some((section) => section.startsWith("LoadBalancerClass")));
    assert.ok(!found.some(({ name }) => name.includes("services")));
  });
});
