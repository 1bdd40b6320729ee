import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import {
  emptyProject,
  startFakeCloud,
  type FakeAnswer,
  type FakeCloud,
} from "../../support/cloud/fake-openstack.js";
import { Project, succeeded } from "../support/project.js";

const check = join(resolve(__dirname, "../../../components"), "lookup/forgotten-subnet.ts");

/** Program with the network and the subnet of a cluster, as in network.ts. */
const program = `
import * as openstack from "@pulumi/openstack";
import { requireNoForgottenSubnet } from ${JSON.stringify(check)};

const tags = ["stackadm-cluster=dev", "stackadm-identity=0123456789ab"];
export = async () => {
  await requireNoForgottenSubnet("dev", {});
  const network = new openstack.networking.Network("dev-network-network", { name: "dev", tags });
  const args = { name: "dev", networkId: network.id, cidr: "10.0.0.0/24", tags };
  new openstack.networking.Subnet("dev-network-subnet", args, { deletedWith: network });
};
`;

interface Body {
  readonly network?: object;
  readonly subnet?: object;
}

describe("the subnet of a network, after plain `pulumi destroy` failed", function () {
  this.timeout(600_000);
  let cloud: FakeCloud;
  let project: Project;
  const subnets = new Map<string, object>();
  /** Whether a port of another owner is in the network. */
  let occupied = false;

  /** Answers for a network that Neutron deletes together with its subnets. */
  const serveNeutron = (): void => {
    const on: FakeCloud["on"] = (route, answer) => {
      cloud.on(route, answer);
    };
    const missing: FakeAnswer = { status: 404 };
    let network: object | undefined;
    const root = "/network/v2.0";
    on(`POST ${root}/networks`, ({ body }) => {
      network = { ...(body as Body).network, id: "n", status: "ACTIVE", subnets: [] };
      return { status: 201, body: { network } };
    });
    on(`GET ${root}/networks/n`, () => (network ? { body: { network } } : missing));
    on(`PUT ${root}/networks/n/tags`, ({ body }) => {
      network = { ...network, ...(body as object) };
      return { body: body };
    });
    on(`DELETE ${root}/networks/n`, () => {
      if (occupied) return { status: 409, body: { NeutronError: { message: "ports in use" } } };
      network = undefined;
      subnets.clear();
      return { status: 204 };
    });
    on(`GET ${root}/subnets`, () => ({ body: { subnets: [...subnets.values()] } }));
    on(`POST ${root}/subnets`, ({ body }) => {
      const id = `s${String(subnets.size)}`;
      const subnet = { ...(body as Body).subnet, id, allocation_pools: [], host_routes: [] };
      subnets.set(id, subnet);
      on(`GET ${root}/subnets/${id}`, () =>
        subnets.has(id) ? { body: { subnet: subnets.get(id) } } : missing,
      );
      on(`PUT ${root}/subnets/${id}/tags`, ({ body: tags }) => {
        subnets.set(id, { ...subnet, ...(tags as object) });
        return { body: tags };
      });
      return { status: 201, body: { subnet } };
    });
  };

  before(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
    serveNeutron();
    const place = { OS_AUTH_URL: `${cloud.authUrl}/v3`, OS_DOMAIN_NAME: "Default" };
    const environment = Object.entries(cloud.environment(place)).filter(
      (entry): entry is [string, string] => entry[0].startsWith("OS_") && entry[0] !== "OS_CLOUD",
    );
    project = await Project.create({
      program,
      file: "index.ts",
      environment: Object.fromEntries(environment),
    });
    succeeded(await project.up());
    assert.equal(subnets.size, 1);
    occupied = true;
    assert.notEqual((await project.destroy()).code, 0);
  });
  after(async () => {
    await cloud.close();
    project.remove();
  });

  it("is named by the next `pulumi up`, before it creates anything", async () => {
    const { code, output } = await project.up();
    assert.notEqual(code, 0);
    assert.match(output, /\[FAILED\] The network of dev-network-network contains a subnet/);
    assert.equal(subnets.size, 1);
  });

  it("is deleted by the next `pulumi destroy`", async () => {
    occupied = false;
    succeeded(await project.destroy());
    assert.equal(subnets.size, 0);
    assert.deepEqual(await project.resources(), []);
  });
});
