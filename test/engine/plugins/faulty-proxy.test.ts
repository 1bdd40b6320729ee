import assert from "node:assert/strict";
import { FaultyProxy } from "../../lab/support/faults/faulty-proxy.js";
import type { CallFault } from "../../lab/support/faults/seed.js";
import { startFakeCloud, type FakeCloud } from "../../support/cloud/fake-openstack.js";
import { Project, succeeded } from "../support/project.js";

const program = `
const openstack = require("@pulumi/openstack");
new openstack.networking.Network("network", { name: "made" });
`;

describe("the OpenStack provider behind FaultyProxy", function () {
  this.timeout(240_000);
  const address = "127.0.0.1";
  let cloud: FakeCloud;
  let proxy: FaultyProxy;
  let project: Project;
  let made: string[];

  before(async () => {
    cloud = await startFakeCloud();
    const { origin } = new URL(cloud.authUrl);
    proxy = await FaultyProxy.start({ upstreams: [origin], address });
    const signIn = { OS_AUTH_URL: `${cloud.authUrl}/v3`, OS_DOMAIN_NAME: "Default" };
    const variables = Object.entries(cloud.environment(signIn));
    project = await Project.create({
      program,
      environment: Object.fromEntries(
        variables.map(([name, value]) => [name, proxy.rewrite(value ?? "")]),
      ),
    });
    made = [];
    const network = (id: string) => ({ network: { id, name: "made", status: "ACTIVE", tags: [] } });
    cloud.on("POST /network/v2.0/networks", () => {
      const id = `id-${made.length}`;
      made.push(id);
      for (const method of ["GET", "PUT"])
        cloud.on(`${method} /network/v2.0/networks/${id}`, { body: network(id) });
      return { status: 201, body: network(id) };
    });
  });
  beforeEach(() => {
    proxy.failed.length = 0;
  });
  after(async () => {
    project.remove();
    await proxy.close();
    await cloud.close();
  });

  const first = (fault: CallFault): void => {
    proxy.fail(({ write }) => (write === 1 ? fault : undefined));
  };

  it("fails on a 503 reply without a created network", async () => {
    first(503);
    const { code, output } = await project.up();
    assert.notEqual(code, 0);
    assert.match(output, /but got 503 instead/);
    assert.deepEqual(made, []);
    assert.deepEqual(proxy.failed, ["POST /network/v9/v2.0/networks: 503"]);
  });

  it("fails on a lost reply and does not record the created network", async () => {
    first("lost");
    const { code, output } = await project.up();
    assert.notEqual(code, 0);
    assert.match(output, /EOF|reset/);
    assert.equal(made.length, 1);
    assert.ok(!(await project.resources()).some(({ id }) => id === made[0]));
  });

  it("succeeds when the proxy injects no faults", async () => {
    proxy.calm();
    succeeded(await project.up());
    assert.equal(made.length, 2);
    const hosts = new Set(cloud.seen.map(({ headers }) => headers.host));
    assert.deepEqual([...hosts], [new URL(proxy.rewrite(cloud.authUrl)).host]);
  });
});
