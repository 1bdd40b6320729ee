import { strict as assert } from "node:assert";
import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import {
  placeOutputs,
  resolvePlaceholders,
  type OutputRules,
} from "../../../components/pulumi/placeholders.js";
import type { EndpointArgs } from "../../../components/endpoint/endpoint.js";
import { ExistingEndpoint } from "../../../components/endpoint/unmanaged-endpoints.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { smallest } from "../../support/config/spec.js";
import { graph, type Fields, type GraphOptions, type Row } from "../../support/graph/graph.js";
import { value } from "../../support/graph/output-value.js";

const ids = {
  image: "00000000-0000-4000-8000-000000000001",
  flavor: "00000000-0000-4000-8000-000000000002",
  network: "00000000-0000-4000-8000-000000000003",
  subnet: "00000000-0000-4000-8000-000000000004",
  router: "00000000-0000-4000-8000-000000000005",
  external: "00000000-0000-4000-8000-000000000006",
  group: "00000000-0000-4000-8000-000000000007",
  services: "00000000-0000-4000-8000-000000000008",
} as const;
const key = "ssh-ed25519 AAAAPROGRAM";

/** Answers of a cloud in which every object has the ID that the request names. */
const options: GraphOptions = {
  ...cloudAnswers,
  lookups: {
    ...cloudAnswers.lookups,
    "openstack:networking/getNetwork:getNetwork": ({ networkId, name, external }) =>
      external === true
        ? { id: networkId ?? ids.external, name: "public" }
        : { id: networkId, name, mtu: 1450, subnets: [ids.subnet] },
    "openstack:networking/getRouter:getRouter": ({ routerId }) => ({
      id: routerId,
      externalNetworkId: ids.external,
      externalFixedIps: [{ ipAddress: "203.0.113.2" }],
    }),
    "openstack:compute/getFlavor:getFlavor": ({ flavorId, name }) => ({
      id: flavorId ?? `flavor-${String(name)}`,
    }),
    "openstack:networking/getSecGroup:getSecGroup": ({ secgroupId }) => ({ id: secgroupId }),
  },
  outputs: {
    ...cloudAnswers.outputs,
    "pulumi:pulumi:StackReference": () => ({ outputs: { ...ids, key }, secretOutputNames: [] }),
    "tls:index/privateKey:PrivateKey": () => ({ publicKeyOpenssh: `${key}\n` }),
    "openstack:networking/floatingIp:FloatingIp": (_inputs, name) => ({
      address: name === "mine" ? "203.0.113.50" : "203.0.113.7",
    }),
  },
  ids: (name) => ({ mine: "f", ...ids })[name] ?? `${name}-id`,
};

/** Key pair of Pulumi's package tls, reduced to the output that programs pass on. */
class PrivateKey extends pulumi.CustomResource {
  declare readonly publicKeyOpenssh: pulumi.Output<string>;
  constructor(name: string) {
    super("tls:index/privateKey:PrivateKey", name, { publicKeyOpenssh: undefined });
  }
}

/** Returns the arguments with each listed value as an output of another stack. */
const ofStack = (): Partial<ClusterArgs> => {
  const stack = new pulumi.StackReference("organization/network/prod");
  const of = (name: keyof typeof ids | "key") => stack.getOutput(name) as pulumi.Output<string>;
  return {
    image: of("image"),
    externalNetwork: of("external"),
    network: { existing: { network: of("network"), subnet: of("subnet"), router: of("router") } },
    controlPlane: { flavor: of("flavor"), securityGroups: [of("group")] },
    workers: { general: { flavor: "medium", count: 1, nodes: { 0: { flavor: of("flavor") } } } },
    ssh: { publicKey: of("key"), loginKeys: [of("key")] },
  };
};

const rowsOf = (
  args: () => Partial<ClusterArgs>,
  more: GraphOptions = {},
): Promise<readonly Row[]> =>
  graph(() => new Cluster("dev", { ...smallest, ...args() }), { ...options, ...more });

const find = (rows: readonly Row[], name: string): Row => {
  const found = rows.find((row) => row.name === name);
  assert.ok(found, name);
  return found;
};
const namesOf = (rows: readonly Row[]): string[] => rows.map(({ type, name }) => `${type} ${name}`);

describe("an output in the arguments of a cluster", () => {
  it("reaches the resources that use it, if another stack has it", async () => {
    const rows = await rowsOf(ofStack);
    const { inputs } = find(rows, "dev-control-plane-0-server");
    assert.equal(inputs["imageId"], ids.image);
    assert.equal(inputs["flavorId"], ids.flavor);
    assert.match(JSON.stringify(inputs["userData"]), /AAAAPROGRAM/);
    const port = find(rows, "dev-control-plane-0-port").inputs;
    assert.equal(port["networkId"], ids.network);
    assert.deepEqual(port["fixedIps"], [{ subnetId: ids.subnet }]);
    assert.ok((port["securityGroupIds"] as string[]).includes(ids.group));
    assert.equal(find(rows, "dev-workers-general-0-server").inputs["flavorId"], ids.flavor);
    const frozen = find(rows, "dev-frozen").inputs["environment"] as Fields;
    assert.equal(frozen["externalNetwork"], ids.external);
    assert.equal(frozen["network.existing.network"], ids.network);
    assert.equal(frozen["network.existing.router"], ids.router);
  });

  it("makes only the resources that use it depend on its resource", async () => {
    const rows = await rowsOf(() => ({
      image: new openstack.images.Image("image", { containerFormat: "bare", diskFormat: "raw" }).id,
    }));
    const on = (name: string): boolean =>
      find(rows, name).dependencies.some((urn) => urn.endsWith("::image"));
    assert.ok(on("dev-control-plane-0-server"));
    for (const name of ["dev-control-plane-0-port", "dev-frozen", "dev-endpoint-floating-ip"])
      assert.ok(!on(name), name);
  });

  const together = (): ClusterArgs => {
    const image = new openstack.images.Image("image", { containerFormat: "b", diskFormat: "raw" });
    const network = new openstack.networking.Network("network");
    const subnet = new openstack.networking.Subnet("subnet", {
      networkId: network.id,
      cidr: "10.0.0.0/24",
    });
    const router = new openstack.networking.Router("router", { externalNetworkId: ids.external });
    const { routerId } = new openstack.networking.RouterInterface("interface", {
      routerId: router.id,
      subnetId: subnet.id,
    });
    const { publicKeyOpenssh } = new PrivateKey("key");
    const group = new openstack.networking.SecGroup("group");
    const address = new openstack.networking.FloatingIp("mine", { pool: "public" });
    return {
      ...smallest,
      image: image.id,
      externalNetwork: ids.external,
      network: {
        existing: { network: network.id, subnet: subnet.id, router: routerId },
        securityGroups: [group.id],
      },
      endpoint: { kind: "floating-ip", floatingIp: address.address },
      allowedCidrs: ["203.0.113.0/24", pulumi.interpolate`${address.address}/32`],
      ssh: { publicKey: publicKeyOpenssh },
    };
  };

  it("may come from the same program, which previews and updates the same resources", async () => {
    const program = (): Cluster => new Cluster("dev", together());
    const [preview, update] = [
      await graph(program, { ...options, preview: true }),
      await graph(program, options),
    ];
    assert.deepEqual(namesOf(preview), namesOf(update));
    assert.ok(update.length > 60, String(update.length));
    const { floatingIp } = find(update, "dev-endpoint-floating-ip-association").inputs;
    assert.equal(floatingIp, "203.0.113.50");
    const rule = find(update, "dev-firewall-control-plane-api-from-output-allowedCidrs-1").inputs;
    assert.deepEqual([rule["remoteIpPrefix"], rule["ethertype"]], ["203.0.113.50/32", "IPv4"]);
    const userData = JSON.stringify(find(update, "dev-control-plane-0-server").inputs["userData"]);
    assert.match(userData, /- ssh-ed25519 AAAAPROGRAM\\n/);
  });

  const text = (value: string): pulumi.Output<string> => pulumi.output(value);
  const machine = () => ({
    flavor: text(ids.flavor),
    image: text(ids.image),
    securityGroups: [text(ids.group)],
    tags: [text("one")],
    metadata: { owner: text("team") },
    schedulerHints: { different_host: text("h") },
  });
  const ranges = () => [text("203.0.113.0/24"), text("2001:db8::/32")];
  const variants: Readonly<Record<string, () => Partial<ClusterArgs>>> = {
    "a created network behind a load balancer": () => ({
      topology: "ha",
      externalNetwork: text(ids.external),
      network: { dns: [text("10.0.0.53")], nodePorts: ranges(), proxy: { http: "http://p:1" } },
      endpoint: { kind: "load-balancer", floatingIp: text("203.0.113.8"), flavorId: text("size") },
      ssh: {
        publicKey: text(key),
        floatingIp: text("203.0.113.9"),
        loginKeys: [text("ssh-ed25519 AAAALOGIN2")],
        revokedKeys: ["ssh-ed25519 AAAAOLD"],
      },
      access: "bastion",
      bastion: machine(),
      etcd: { kind: "dedicated", ...machine() },
      controlPlane: machine(),
      workers: { general: { ...machine(), count: 2, nodes: { 1: { image: text(ids.image) } } } },
      loadBalancer: { network: { externalNetwork: text(ids.services) } },
      ingress: {
        kind: "workers",
        pool: "general",
        floatingIp: text("203.0.113.10"),
        flavorId: text("size"),
      },
      samples: true,
      sampleServices: { address: text("203.0.113.11") },
    }),
    "an existing network with second interfaces": () => ({
      network: {
        nodes: "10.1.0.0/24",
        admin: { network: text(ids.network), subnet: text(ids.subnet), allowedCidrs: ranges() },
        proxy: { https: "http://p:1" },
      },
      endpoint: { kind: "existing", host: text("198.51.100.7") },
      access: "admin",
      ingress: { kind: "service", address: text("203.0.113.12") },
      loadBalancer: { provider: "ovn" },
    }),
  };
  for (const [name, over] of Object.entries(variants))
    it(`leaves no placeholder in any resource: ${name}`, async () => {
      const args = (): Partial<ClusterArgs> => ({
        image: text(ids.image),
        allowedCidrs: ranges(),
        sshCidrs: ranges(),
        serviceCidrs: ranges(),
        ...over(),
      });
      const rows = await rowsOf(args);
      const left = rows.filter(({ inputs }) =>
        JSON.stringify(decoded(inputs)).includes("<output "),
      );
      assert.deepEqual(
        left.map((row) => row.name),
        [],
      );
      assert.deepEqual(namesOf(await rowsOf(args, { preview: true })), namesOf(rows));
    });
});

/** Returns the inputs with the text of base64 words, such as the files of the proxy. */
const decoded = (inputs: Fields): readonly string[] => {
  const text = JSON.stringify(inputs);
  const words = text.match(/[A-Za-z0-9+/]{40,}=*/g) ?? [];
  return [text, ...words.map((word) => Buffer.from(word, "base64").toString())];
};

describe("an output that a cluster cannot use", () => {
  const refused = async (args: object, message: RegExp): Promise<void> => {
    await assert.rejects(
      rowsOf(() => args),
      (error: Error) => {
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /Calling \[toJSON\]|<output /);
        return true;
      },
    );
  };

  it("is refused with its path and the reason, together with all other problems", async () => {
    const args = {
      workers: { general: { flavor: "medium", count: pulumi.output(2) } },
      podNetwork: pulumi.output("flannel"),
      allowedCidrs: pulumi.output(["203.0.113.0/24"]),
      zones: 7,
    };
    await refused(
      args,
      /cluster\.allowedCidrs: .*length must be known.*\n {2}cluster\.workers\.general\.count: is an Output.*decides which resources exist; write a plain value\n {2}cluster\.podNetwork: .*\n {2}cluster\.zones: 7 is not a list/s,
    );
  });

  it("is refused if it is a whole resource", async () => {
    const image = (): openstack.images.Image =>
      new openstack.images.Image("image", { containerFormat: "bare", diskFormat: "raw" });
    await assert.rejects(
      rowsOf(() => ({ image: image() as unknown as string })),
      /cluster\.image: is a resource; write its property `id`/,
    );
  });

  /** Returns the value of an output after `placeOutputs`. Rejects if the value is refused. */
  const known = (image: unknown): Promise<unknown> => {
    const rules: OutputRules = { useOf: () => "placeholder", refusalOf: () => "" };
    const { placed } = placeOutputs({ image }, rules);
    return value(pulumi.output(resolvePlaceholders(placed as { image: string })));
  };

  it("is refused if it has no value or is no text", async () => {
    await assert.rejects(
      known(pulumi.output(undefined)),
      /cluster\.image: the Output has no value/,
    );
    await assert.rejects(known(pulumi.output("")), /cluster\.image: the Output has no value/);
    await assert.rejects(known(Promise.resolve({})), /the Output has a value that is no text/);
    assert.deepEqual(await known(Promise.resolve(" i\n")), { image: "i" });
  });

  it("is refused if it is a DNS name of the API, which machines must know earlier", async () => {
    const rules: OutputRules = { useOf: () => "placeholder", refusalOf: () => "" };
    const addresses = async (host: string): Promise<readonly string[]> => {
      let endpoint: ExistingEndpoint | undefined;
      const { placed } = placeOutputs({ kind: "existing", host: pulumi.output(host) }, rules);
      await graph(() => {
        endpoint = new ExistingEndpoint("api", { spec: placed } as EndpointArgs<"existing">);
      });
      assert.ok(endpoint);
      return value(endpoint.getInternalAddresses());
    };
    assert.deepEqual(await addresses("198.51.100.7"), ["198.51.100.7"]);
    await assert.rejects(
      addresses("api.example.org"),
      /cluster\.endpoint\.host: the Output is the DNS name api\.example\.org; write a DNS name/,
    );
  });

  it("is refused if the cloud has no such object", async () => {
    const details = "1 error occurred:\n\t* Your query returned no results";
    const nothing = (): never => {
      throw Object.assign(new Error(details), { code: 2, details });
    };
    const lookups = { ...options.lookups, "openstack:compute/getFlavor:getFlavor": nothing };
    await assert.rejects(
      rowsOf(() => ({ controlPlane: { flavor: pulumi.output("huge") } }), { lookups }),
      /NOT_FOUND.*lacks what the cluster needs:\n {2}the flavor "(huge|medium)" does not exist/,
    );
  });
});
