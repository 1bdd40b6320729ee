import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import {
  createClusterService,
  type ClusterService,
} from "../../automation/cluster/cluster-service.js";
import { emptyProject, startFakeCloud, type FakeCloud } from "../support/fake-openstack.js";
import { fails } from "../support/embedder.js";
import { ServiceProject } from "./support/service-project.js";

const modules = resolve(__dirname, "..", "..", "node_modules");
const description = "Part of cluster dev-0123456789ab";
const program = `
const pulumi = require(${JSON.stringify(join(modules, "@pulumi/pulumi"))});
const command = require(${JSON.stringify(join(modules, "@pulumi/command"))});
const openstack = require(${JSON.stringify(join(modules, "@pulumi/openstack"))});
module.exports = async () => {
  const cluster = new pulumi.ComponentResource("stackadm:index:Cluster", "dev");
  const identity = new command.local.Command("dev-identity", { create: "printf 0123456789ab" }, { parent: cluster });
  const network = new openstack.networking.Network("dev", {
    name: "dev", description: ${JSON.stringify(description)},
  }, { parent: cluster, dependsOn: [identity], deleteBeforeReplace: true, replacementTrigger: process.env.GENERATION ?? "1" });
  return { network: network.id };
};
`;

interface Network {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

describe("a create whose reply is lost", function () {
  this.timeout(240_000);
  let project: ServiceProject;
  let cloud: FakeCloud;
  let service: ClusterService;
  let networks: Network[];
  /** What becomes of the next create. */
  let next: "answered" | "lost" | "refused";
  const bare = { preflight: false, verify: false };

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
          cloud.on(`GET /network/v2.0/networks/${id}`, { status: 404, body: {} });
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
    const place = { OS_AUTH_URL: `${cloud.authUrl}/v3`, OS_DOMAIN_NAME: "Default" };
    const environment = { ...cloud.environment(place), OS_CLOUD: undefined };
    project = new ServiceProject("reply", program, environment);
    service = createClusterService(project.service);
  });
  afterEach(async () => {
    await cloud.close();
    project.remove();
  });

  it("is undone at once where the cloud did it, and nobody else's is touched", async () => {
    const foreign = { id: "foreign", name: "dev", description: "Part of cluster dev-ba9876543210" };
    networks = [foreign];
    next = "lost";
    const notes: string[] = [];
    await assert.rejects(service.up("dev", { ...bare, onNote: (text) => notes.push(text) }));
    assert.deepEqual(networks, [foreign], notes.join("\n"));
    next = "answered";
    const { outputs } = await service.up("dev", bare);
    assert.equal(networks.length, 2);
    assert.equal(outputs["network"]?.value, networks[1]?.id);
    await service.destroy("dev");
    assert.deepEqual(networks, [foreign]);
  });

  it("is undone, too, where it was to replace another", async () => {
    next = "answered";
    await service.up("dev", bare);
    const env = { ...project.service.env, GENERATION: "2" };
    const again = createClusterService({ ...project.service, env });
    next = "lost";
    await assert.rejects(again.up("dev", bare));
    assert.deepEqual(networks, []);
    next = "answered";
    const { outputs } = await again.up("dev", bare);
    const ids = networks.map(({ id }) => id);
    assert.deepEqual(ids, [outputs["network"]?.value]);
  });

  it("costs nothing where the cloud refused it", async () => {
    next = "refused";
    await assert.rejects(service.up("dev", bare));
    assert.ok(
      !cloud.seen.some(
        ({ method, path }) => method === "GET" && path.startsWith("/network/networks"),
      ),
    );
  });

  it("leaves whose it is as the cloud said: who is signed in elsewhere destroys nothing", async () => {
    next = "answered";
    await service.up("dev", bare);
    const env = { ...project.service.env, OS_REGION_NAME: "elsewhere" };
    const other = createClusterService({ ...project.service, env });
    await fails(other.destroy("dev"), "WRONG_PROJECT");
    assert.equal(networks.length, 1);
  });
});
