import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import {
  createListeningService,
  type ListeningService,
} from "../../support/engine/listening-service.js";
import {
  emptyProject,
  startFakeCloud,
  type FakeCloud,
} from "../../support/cloud/fake-openstack.js";
import { fails } from "../../support/engine/embedder.js";
import { ServiceProject } from "../support/service-project.js";

const modules = resolve(__dirname, "..", "..", "..", "node_modules");
const description = "Part of cluster dev-0123456789ab";
/** Returns a program with a cluster that creates `made` after its identity. */
const programOf = (made: string): string => `
const pulumi = require(${JSON.stringify(join(modules, "@pulumi/pulumi"))});
const command = require(${JSON.stringify(join(modules, "@pulumi/command"))});
const openstack = require(${JSON.stringify(join(modules, "@pulumi/openstack"))});
module.exports = async () => {
  const cluster = new pulumi.ComponentResource("stackadm:index:Cluster", "dev");
  const identity = new command.local.Command("dev-identity", { create: "printf 0123456789ab" }, { parent: cluster });
  const options = { parent: cluster, dependsOn: [identity], deleteBeforeReplace: true, replacementTrigger: process.env.GENERATION ?? "1" };
  const made = ${made};
  return { made: made.id };
};
`;
const network = `new openstack.networking.Network("dev", {
    name: "dev", description: ${JSON.stringify(description)},
  }, options)`;
const floatingIp = `new openstack.networking.FloatingIp("dev", {
    pool: "public", portId: "port-of-the-api", description: "Kubernetes API. ${description}",
    tags: ["stackadm-cluster=dev", "stackadm-identity=0123456789ab"],
  }, options)`;
const bare = { preflight: false, verify: false };

const environmentOf = (cloud: FakeCloud): NodeJS.ProcessEnv => ({
  ...cloud.environment({ OS_AUTH_URL: `${cloud.authUrl}/v3`, OS_DOMAIN_NAME: "Default" }),
  OS_CLOUD: undefined,
});

interface Network {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

describe("the repair of an unconfirmed create", function () {
  this.timeout(240_000);
  let project: ServiceProject;
  let cloud: FakeCloud;
  let service: ListeningService;
  let networks: Network[];
  /** Result of the next create request. */
  let next: "answered" | "lost" | "refused";

  const answerNetworks = (): void => {
    const shown = (one: Network): object => ({ ...one, status: "ACTIVE", tags: [], subnets: [] });
    cloud.on("GET /network/networks", () => ({ body: { networks: networks.map(shown) } }));
    cloud.on("POST /network/v2.0/networks", ({ body }) => {
      if (next === "refused")
        return { status: 403, body: { NeutronError: { message: "not yours" } } };
      const id = `made-${networks.length.toString()}-${next}`;
      const network = { ...(body as { network: Omit<Network, "id"> }).network, id };
      networks.push(network);
      cloud.on(`GET /network/v2.0/networks/${id}`, () => ({ body: { network: shown(network) } }));
      for (const version of ["", "/v2.0"])
        cloud.on(`DELETE /network${version}/networks/${id}`, () => {
          networks = networks.filter((one) => one.id !== id);
          cloud.on(`GET /network/v2.0/networks/${id}`, { status: 404 });
          return { status: 204 };
        });
      return next === "lost"
        ? { status: "reset" }
        : { status: 201, body: { network: shown(network) } };
    });
  };

  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
    networks = [];
    answerNetworks();
    project = new ServiceProject("reply", programOf(network), environmentOf(cloud));
    service = createListeningService(project.service);
  });
  afterEach(async () => {
    await cloud.close();
    project.remove();
  });

  it("deletes the created network at once, and keeps the network of another cluster", async () => {
    const foreign = { id: "foreign", name: "dev", description: "Part of cluster dev-ba9876543210" };
    networks = [foreign];
    next = "lost";
    const notes: string[] = [];
    await assert.rejects(service.up("dev", { ...bare, onNote: (text) => notes.push(text) }));
    assert.deepEqual(networks, [foreign], notes.join("\n"));
    next = "answered";
    const { outputs } = await service.up("dev", bare);
    assert.equal(networks.length, 2);
    assert.equal(outputs["made"]?.value, networks[1]?.id);
    await service.destroy("dev");
    assert.deepEqual(networks, [foreign]);
  });

  it("deletes the created network of a replacement at once", async () => {
    next = "answered";
    await service.up("dev", bare);
    const env = { ...project.service.env, GENERATION: "2" };
    const again = createListeningService({ ...project.service, env });
    next = "lost";
    await assert.rejects(again.up("dev", bare));
    assert.deepEqual(networks, []);
    next = "answered";
    const { outputs } = await again.up("dev", bare);
    const ids = networks.map(({ id }) => id);
    assert.deepEqual(ids, [outputs["made"]?.value]);
  });

  it("sends no lookup if the cloud refused the create", async () => {
    next = "refused";
    await assert.rejects(service.up("dev", bare));
    assert.ok(
      !cloud.seen.some(
        ({ method, path }) => method === "GET" && path.startsWith("/network/networks"),
      ),
    );
  });

  it("refuses a destroy in another region with WRONG_PROJECT", async () => {
    next = "answered";
    await service.up("dev", bare);
    const env = { ...project.service.env, OS_REGION_NAME: "elsewhere" };
    const other = createListeningService({ ...project.service, env });
    await fails(other.destroy("dev"), "WRONG_PROJECT");
    assert.equal(networks.length, 1);
  });
});

interface Address {
  readonly id: string;
  readonly description: string;
  readonly port_id: string;
}

describe("the repair of a floating IP's unconfirmed create", function () {
  this.timeout(240_000);
  let project: ServiceProject;
  let cloud: FakeCloud;
  let service: ListeningService;
  const foreign: Address = {
    id: "foreign",
    port_id: "theirs",
    description: "Kubernetes API. Part of cluster dev-ba9876543210",
  };
  let addresses: Address[];
  /**
   * Result of the next request. With `unheard`, the address is created, but all later reads of the
   * address's status fail.
   */
  let next: "answered" | "lost" | "unheard";
  let made: number;

  const shown = (one: Address): object => ({
    ...one,
    status: "ACTIVE",
    tags: [],
    floating_network_id: "external",
    floating_ip_address: "203.0.113.7",
  });
  const answerFor = (address: Address): void => {
    const path = `/network/v2.0/floatingips/${address.id}`;
    const forbidden = { status: 403, body: { NeutronError: { message: "not now" } } };
    const found = { body: { floatingip: shown(address) } };
    cloud.on(`GET ${path}`, next === "unheard" ? forbidden : found);
    cloud.on(`PUT ${path}/tags`, ({ body }) => ({ body }));
    for (const version of ["", "/v2.0"])
      cloud.on(`DELETE /network${version}/floatingips/${address.id}`, () => {
        addresses = addresses.filter(({ id }) => id !== address.id);
        cloud.on(`GET ${path}`, { status: 404 });
        return { status: 204 };
      });
  };
  const answerAddresses = (): void => {
    const pool = { id: "external", name: "public", status: "ACTIVE", subnets: [] };
    cloud.on("GET /network/v2.0/networks", { body: { networks: [pool] } });
    cloud.on("GET /network/floatingips", () => ({ body: { floatingips: addresses.map(shown) } }));
    cloud.on("POST /network/v2.0/floatingips", ({ body }) => {
      const { floatingip: asked } = body as { floatingip: Omit<Address, "id"> };
      if (addresses.some((one) => one.port_id === asked.port_id))
        return { status: 409, body: { NeutronError: { message: "the port has one" } } };
      const address = { ...asked, id: `made-${String((made += 1))}` };
      addresses.push(address);
      answerFor(address);
      return next === "lost"
        ? { status: "reset" }
        : { status: 201, body: { floatingip: shown(address) } };
    });
  };

  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
    [addresses, made] = [[foreign], 0];
    answerAddresses();
    project = new ServiceProject("address", programOf(floatingIp), environmentOf(cloud));
    service = createListeningService(project.service);
  });
  afterEach(async () => {
    await cloud.close();
    project.remove();
  });

  for (const fate of ["lost", "unheard"] as const)
    it(`deletes the untagged floating IP at once: ${fate}`, async () => {
      next = fate;
      const notes: string[] = [];
      await assert.rejects(service.up("dev", { ...bare, onNote: (text) => notes.push(text) }));
      assert.deepEqual(addresses, [foreign], notes.join("\n"));
      next = "answered";
      const { outputs } = await service.up("dev", bare);
      assert.deepEqual(
        addresses.map(({ id }) => id),
        ["foreign", outputs["made"]?.value],
      );
    });

  it("deletes a floating IP that an earlier run left on the port", async () => {
    next = "answered";
    const left = { id: "left", port_id: "port-of-the-api" };
    addresses = [foreign, { ...left, description: `Kubernetes API. ${description}` }];
    answerFor({ ...left, description });
    await assert.rejects(service.up("dev", bare));
    assert.deepEqual(addresses, [foreign]);
    await service.up("dev", bare);
    assert.equal(addresses.length, 2);
  });
});
