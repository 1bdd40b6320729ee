import assert from "node:assert/strict";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import type { ClusterRequirements } from "../../../../openstack/checks/cluster-requirements.js";
import { getClusterTags } from "../../../../openstack/inventory/ownership.js";
import {
  listNamedObjects,
  checkObjectNames,
} from "../../../../openstack/checks/preflight-checks.js";
import {
  emptyProject,
  fakeProject,
  startFakeCloud,
  type FakeCloud,
} from "../../../support/cloud/fake-openstack.js";

const identity = "0123456789ab";

describe("name checks", () => {
  let cloud: FakeCloud;
  let going: Set<string>;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
    going = new Set();
    const tags = getClusterTags({ name: "dev", identity });
    cloud.on(`GET /network/networks?project_id=${fakeProject}`, {
      body: { networks: [{ id: "n", name: "dev", tags }] },
    });
  });
  afterEach(async () => {
    await cloud.close();
  });
  const ask = async (names: ClusterRequirements["names"], ...identities: readonly string[]) => {
    const client = await connectCloud({ env: cloud.environment() });
    const needs = { names } as ClusterRequirements;
    const held = { owned: new Set<string>(), identities: new Set(identities), going };
    const found = checkObjectNames(await listNamedObjects(client, needs), needs, held);
    return found.map(({ text }) => text);
  };

  it("report another cluster's object with the command that lists it, and no command that deletes", async () => {
    const [text = ""] = await ask([{ kind: "network", name: "dev" }]);
    assert.match(text, /`stackadm orphans --identity 0123456789ab`, which lists/);
    assert.doesNotMatch(text, /--delete/);
  });

  it("report an object of this cluster that is missing in the state, without a command", async () => {
    assert.deepEqual(await ask([{ kind: "network", name: "dev" }], identity), [
      "network: the name 'dev' is taken by n, which belongs to this cluster but is not in the state, and no failed run explains that: the state may be outdated; restore the newer state, or delete this network in the cloud, then run the same command again",
    ]);
  });

  it("ignore exactly the objects that are deleted before the first create", async () => {
    going = new Set(["n"]);
    assert.deepEqual(await ask([{ kind: "network", name: "dev" }], identity), []);
    going = new Set(["other"]);
    assert.equal((await ask([{ kind: "network", name: "dev" }], identity)).length, 1);
  });

  it("query only the services that have the names", async () => {
    cloud.on("GET /compute/servers/detail", { status: 403, body: {} });
    cloud.on("GET /volumev3/volumes/detail", { status: 403, body: {} });
    assert.deepEqual(await ask([{ kind: "network", name: "other" }]), []);
  });
});
