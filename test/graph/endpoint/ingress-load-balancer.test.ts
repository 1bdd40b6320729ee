import assert from "node:assert/strict";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph, type Row } from "../../support/graph/graph.js";
import { remembered } from "../../support/graph/memoize.js";
import { smallest } from "../../support/config/spec.js";
import { value } from "../../support/graph/output-value.js";
import { named, reaches } from "../addons/addons-example.js";

const answers = {
  ...cloudAnswers,
  outputs: {
    ...cloudAnswers.outputs,
    "openstack:loadbalancer/loadBalancer:LoadBalancer": () => ({
      vipAddress: "10.0.0.200",
      vipPortId: "vip-port",
    }),
  },
};
const workers = {
  general: { flavor: "medium", count: 1 },
  edge: {
    flavor: "medium",
    count: 2,
    taints: [{ key: "edge", value: "yes", effect: "NoSchedule" }],
  },
} satisfies ClusterArgs["workers"];
const edge = { kind: "workers", pool: "edge" } as const;

interface Built {
  readonly rows: readonly Row[];
  readonly cluster: Cluster;
}

const build = remembered(async (over: Partial<ClusterArgs>, preview?: boolean): Promise<Built> => {
  let cluster: Cluster | undefined;
  const rows = await graph(
    () => (cluster = new Cluster("dev", { ...smallest, workers, ...over })),
    { ...answers, preview: preview === true },
  );
  assert.ok(cluster);
  return { rows, cluster };
});

const ports = ["http", "https"];
/** Parts of the load balancer that belong to no machine. */
const common = [
  "load-balancer",
  ...ports.flatMap((name) => ["listener", "pool", "monitor"].map((part) => `${part}-${name}`)),
];
/** Parts of the load balancer of each machine. */
const machines = ["0", "1"].map((position) => ports.map((name) => `member-${name}-${position}`));
const own = (rows: readonly Row[], role: string): Row => named(rows, `dev-ingress-${role}`);

describe("graph: an ingress controller on the machines of a pool", () => {
  it("creates the parts of its load balancer one after the other, and the members of each machine", async () => {
    const { rows } = await build({ ingress: edge });
    const made = rows.filter(({ urn, custom }) => custom && urn.includes("IngressBalancer$"));
    assert.deepEqual(
      made.map(({ name }) => name.replace("dev-ingress-", "")).sort(),
      [...common, ...machines.flat(), "floating-ip"].sort(),
    );
    for (const members of machines) {
      const parts = [...common, ...members];
      for (const [index, part] of parts.entries()) {
        const before = parts[index - 1];
        if (before !== undefined)
          assert.ok(own(rows, part).dependencies.includes(own(rows, before).urn), part);
      }
    }
  });

  it("creates a machine's members after the machine has joined, and without waiting for another machine", async () => {
    const { rows } = await build({ ingress: edge });
    const join = (position: string): string => named(rows, `dev-workers-edge-${position}-join`).urn;
    for (const [one, other] of [
      ["0", "1"],
      ["1", "0"],
    ] as const)
      for (const name of ports) {
        const { urn } = own(rows, `member-${name}-${one}`);
        assert.ok(reaches(rows, urn, join(one)));
        assert.ok(!reaches(rows, urn, join(other)));
        assert.ok(!reaches(rows, urn, named(rows, `dev-workers-edge-${other}-server`).urn));
      }
  });

  it("forwards ports 80 and 443 to node ports of the pool's machines only", async () => {
    const { rows } = await build({ ingress: edge });
    assert.deepEqual(
      ports.map((name) => own(rows, `listener-${name}`).inputs["protocolPort"]),
      [80, 443],
    );
    const members = rows.filter(({ name }) => name.startsWith("dev-ingress-member-"));
    assert.deepEqual(members.map(({ inputs }) => [inputs["name"], inputs["protocolPort"]]).sort(), [
      ["dev-edge-0", 30043],
      ["dev-edge-0", 30080],
      ["dev-edge-1", 30043],
      ["dev-edge-1", 30080],
    ]);
    const service = named(rows, "dev-addons-ingress-service").inputs["spec"] as {
      ports: { nodePort: number }[];
    };
    assert.deepEqual(
      service.ports.map(({ nodePort }) => nodePort),
      [30080, 30043],
    );
  });

  it("removes a machine's members before the machine is drained, or together with a replaced server", async () => {
    const { rows } = await build({ ingress: edge });
    for (const position of ["0", "1"]) {
      const leave = rows.filter(({ name }) => name.endsWith(`edge-${position}-leave`));
      assert.equal(leave.length, 1, "there is one script that drains the machine");
      const server = rows.filter(
        ({ type, inputs }) =>
          type === "openstack:compute/instance:Instance" &&
          inputs["name"] === `dev-edge-${position}`,
      );
      for (const name of ["http", "https"]) {
        const member = own(rows, `member-${name}-${position}`);
        assert.ok(member.dependencies.includes(leave[0]?.urn ?? "none"));
        assert.deepEqual(
          member.replaceWith,
          server.map(({ urn }) => urn),
        );
        assert.equal(member.deleteBeforeReplace, true);
      }
    }
  });

  it("publishes the load balancer's address in Ingresses and outputs", async () => {
    const shown = (rows: readonly Row[]) =>
      /ingressEndpoint\.[^"]*/.exec(
        JSON.stringify(named(rows, "dev-addons-ingress-deployment").inputs),
      )?.[0];
    const open = await build({ ingress: edge });
    assert.equal(own(open.rows, "floating-ip").inputs["portId"], "vip-port");
    assert.deepEqual(await value(open.cluster.ingress), { address: "203.0.113.7", public: true });
    assert.equal(shown(open.rows), "ingressEndpoint.ip=203.0.113.7");
    const inside = await build({ ingress: { ...edge, public: false } });
    assert.ok(!inside.rows.some(({ name }) => name === "dev-ingress-floating-ip"));
    assert.deepEqual(await value(inside.cluster.ingress), { address: "10.0.0.200", public: false });
    assert.equal(shown(inside.rows), "ingressEndpoint.ip=10.0.0.200");
  });

  it("allows the specified clients, the cluster's ranges and the router's address", async () => {
    const allowed = async (over: Partial<ClusterArgs>): Promise<unknown[]> => {
      const { rows } = await build({ ingress: edge, ...over });
      return ["http", "https"].map((name) => own(rows, `listener-${name}`).inputs["allowedCidrs"]);
    };
    const inside = ["10.0.0.0/24", "10.244.0.0/16"];
    const usual = [...inside, "203.0.113.0/24", "203.0.113.2/32"];
    assert.deepEqual(await allowed({}), [usual, usual]);
    const others = [...inside, "198.51.100.0/24", "203.0.113.2/32"];
    assert.deepEqual(await allowed({ serviceCidrs: ["198.51.100.0/24"] }), [others, others]);
    // OVN does not support ranges.
    const ovn = await allowed({ loadBalancer: { provider: "ovn" } });
    assert.deepEqual(ovn, [undefined, undefined]);
  });

  it("passes flavor and availability zone to the load balancer", async () => {
    const { rows } = await build({ ingress: { ...edge, flavorId: "f", zone: "az1" } });
    const { flavorId, availabilityZone } = own(rows, "load-balancer").inputs;
    assert.deepEqual([flavorId, availabilityZone], ["f", "az1"]);
    const usual = own((await build({ ingress: edge })).rows, "load-balancer").inputs;
    assert.ok(!("flavorId" in usual || "availabilityZone" in usual));
  });

  it("uses an existing floating IP", async () => {
    const { rows, cluster } = await build({ ingress: { ...edge, floatingIp: "203.0.113.9" } });
    const { inputs, retainOnDelete } = own(rows, "floating-ip-association");
    assert.deepEqual(inputs, { floatingIp: "203.0.113.9", portId: "vip-port" });
    assert.ok(retainOnDelete);
    assert.ok(!rows.some(({ name }) => name === "dev-ingress-floating-ip"));
    assert.equal((await value(cluster.ingress))?.address, "203.0.113.9");
  });

  it("is created after a port with a specified address", async () => {
    const endpoint = { kind: "virtual-ip", address: "10.0.0.100" } as const;
    const { rows } = await build({ ingress: edge, endpoint });
    const chosen = rows.find(({ inputs }) =>
      JSON.stringify(inputs["fixedIps"] ?? "").includes("10.0.0.100"),
    );
    assert.ok(chosen);
    assert.ok(reaches(rows, named(rows, "dev-ingress").urn, chosen.urn));
  });
});

describe("graph: an ingress controller behind a Service", () => {
  it("uses a load balancer of the cloud controller, and none of the program", async () => {
    const { rows, cluster } = await build({ ingress: { kind: "service" } });
    assert.ok(!rows.some(({ type }) => type.startsWith("openstack:loadbalancer/")));
    const { inputs } = named(rows, "dev-addons-ingress-service");
    assert.equal((inputs["spec"] as { type: string }).type, "LoadBalancer");
    assert.deepEqual(await value(cluster.ingress), { address: "203.0.113.8", public: true });
  });

  it("is created after cloud controller and workers, and deleted one by one", async () => {
    const { rows } = await build({ ingress: { kind: "service" } });
    const { urn } = named(rows, "dev-addons-ingress-service");
    for (const before of ["dev-addons-cloud-controller-daemon-set", "dev-workers-general-0-join"])
      assert.ok(reaches(rows, urn, named(rows, before).urn), before);
    assert.equal(named(rows, "dev-addons-ingress-service").deletedWith, "");
  });

  it("creates its load balancer in parallel with its pods, both after the workers", async () => {
    const { rows } = await build({ ingress: { kind: "service" } });
    const [service, deployment, join] = [
      ...["dev-addons-ingress-service", "dev-addons-ingress-deployment"],
      "dev-workers-general-0-join",
    ].map((name) => named(rows, name).urn) as [string, string, string];
    assert.ok(!reaches(rows, service, deployment));
    for (const urn of [service, deployment]) assert.ok(reaches(rows, urn, join));
  });
});

describe("graph: an ingress controller and the samples", () => {
  it("register the sample Ingress after the controller's Service and class", async () => {
    const { rows, cluster } = await build({ ingress: edge, samples: true });
    const { urn } = named(rows, "dev-addons-samples-web-ingress");
    for (const before of ["service", "class"])
      assert.ok(reaches(rows, urn, named(rows, `dev-addons-ingress-${before}`).urn), before);
    const samples = await value(cluster.samples);
    assert.equal(samples?.host, "web.stackadm-samples.internal");
  });

  it("omit the sample Ingress without an ingress controller", async () => {
    const { rows, cluster } = await build({ samples: true });
    assert.ok(!rows.some(({ name }) => name.includes("ingress")));
    assert.equal((await value(cluster.samples))?.host, undefined);
    assert.equal(await value(cluster.ingress), undefined);
  });

  it("register the same resources in a preview", async () => {
    const names = async (preview: boolean): Promise<readonly string[]> =>
      (await build({ ingress: edge, samples: true }, preview)).rows.map(({ urn }) => urn).sort();
    assert.deepEqual(await names(true), await names(false));
  });
});

interface BalancedService {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly type?: string; readonly loadBalancerSourceRanges?: readonly string[] };
}

/** Returns the Services of Traefik and of the samples that have a load balancer. */
async function balancedServices(
  over: Partial<ClusterArgs> = {},
): Promise<readonly BalancedService[]> {
  const { rows } = await build({ ingress: { kind: "service" }, samples: true, ...over });
  return rows
    .filter(({ type }) => type === "kubernetes:core/v1:Service")
    .map(({ inputs }) => inputs as unknown as BalancedService)
    .filter(({ spec }) => spec.type === "LoadBalancer");
}

describe("graph: Services with load balancers", () => {
  const allowed = async (over?: Partial<ClusterArgs>) =>
    (await balancedServices(over)).map(({ spec }) => spec.loadBalancerSourceRanges);

  it("allow the clients in `serviceCidrs` and the cluster's ranges", async () => {
    const of = (clients: string) => ["10.0.0.0/24", "10.244.0.0/16", clients];
    const usual = of("203.0.113.0/24");
    assert.deepEqual(await allowed(), [usual, usual, usual]);
    const serviceCidrs = ["198.51.100.0/24", "2001:db8::/32"];
    const others = of("198.51.100.0/24");
    assert.deepEqual(await allowed({ serviceCidrs }), [others, others, others]);
  });
});

describe("graph: the default TLS certificate of load balancers", () => {
  const loadBalancer = { defaultTlsContainerRef: "https://barbican.test/v1/secrets/1" };
  const certificate = "loadbalancer.openstack.org/default-tls-container-ref";
  const told = async (over: Partial<ClusterArgs>): Promise<unknown[]> =>
    (await balancedServices(over)).map(({ metadata }) => metadata.annotations?.[certificate]);

  it("is disabled for Traefik and the samples", async () => {
    assert.deepEqual(await told({}), [undefined, undefined, undefined]);
    assert.deepEqual(await told({ loadBalancer }), ["", "", ""]);
  });

  it("is replaced by the certificate in the annotations of the sample Services", async () => {
    const own = "https://barbican.test/v1/secrets/2";
    const sampleServices = { annotations: { [certificate]: own } };
    assert.deepEqual((await told({ loadBalancer, sampleServices })).sort(), ["", own, own]);
  });
});
