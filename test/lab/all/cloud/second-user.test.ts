import assert from "node:assert/strict";
import { dirname } from "node:path";
import {
  createListeningService,
  type ListeningService,
} from "../../../support/engine/listening-service.js";
import { connectCloud, type CloudClient } from "../../../../openstack/client/cloud-client.js";
import {
  compareInventories,
  listObjects,
  takeInventory,
} from "../../../../openstack/inventory/inventory.js";
import { changes } from "../../support/stack/lab-cluster.js";
import { Stack } from "../../support/stack/stack.js";
import { newUser } from "../../support/cloud/user.js";

const minutes = 60_000;
const single = { topology: "single", workers: {} };
const rotated = { ...single, credential: { generation: 1 } };

/**
 * Creates a user who has only the role `member` in the project. Returns the user's environment
 * variables.
 */
async function secondUser(cloud: CloudClient) {
  const { name, password, remove } = await newUser(cloud, "second", ["member"]);
  return {
    env: {
      OS_CLOUD: undefined,
      OS_CLIENT_CONFIG_FILE: undefined,
      OS_AUTH_URL: cloud.authUrl,
      OS_REGION_NAME: cloud.region,
      OS_PROJECT_NAME: cloud.projectName,
      OS_USERNAME: name,
      OS_PASSWORD: password,
      OS_USER_DOMAIN_NAME: "Default",
      OS_PROJECT_DOMAIN_NAME: "Default",
    },
    remove,
  };
}

describe("a cluster with two operators and separate cloud users, on the lab", function () {
  this.timeout(10 * minutes);
  const stack = new Stack("second");
  const undo: (() => Promise<void>)[] = [];
  let second: CloudClient;
  let service: ListeningService;

  before(async () => {
    await stack.open();
    const { cloud, environment, stackFile } = stack.cluster;
    undo.push(() => stack.cluster.close());
    const user = await secondUser(cloud);
    undo.push(user.remove);
    const env = { ...environment.env, ...user.env };
    second = await connectCloud({ env });
    const [backend, projectDirectory] = [environment.backend, dirname(stackFile)];
    service = createListeningService({ env, backend, projectDirectory });
  });
  after(async () => {
    for (const step of undo.reverse()) await step();
  });

  /** Runs `up` as the second user. Returns the engine's changes and the output. */
  const up = async (changed: object, refresh = false) => {
    const { cluster, name } = stack;
    cluster.seen.events.length = 0;
    cluster.seen.lines.length = 0;
    const settings = cluster.settings({ ...changed });
    await service.up(name, { settings, refresh, ...cluster.recording() });
    return { changed: changes(cluster.seen.events), said: cluster.seen.lines.join("\n") };
  };
  /** Returns the IDs of the cluster's application credentials that belong to the client's user. */
  const credentials = async (client: CloudClient): Promise<string[]> => {
    const initial = new Set(stack.initially.map(({ id }) => id));
    const all = await listObjects(client, "application credential");
    return all.map(({ id }) => id).filter((id) => !initial.has(id));
  };

  it("stays unchanged when the second user reads, refreshes and updates it", async () => {
    await stack.up(single);
    const [first = ""] = await credentials(stack.cluster.cloud);
    const { problem } = await service.status(stack.name);
    assert.equal(problem, undefined);
    await service.refresh(stack.name);
    const { changed, said } = await up(single, true);
    assert.deepEqual(changed, {});
    assert.ok(said.includes(`(${first}) belongs to another user`), said);
  });

  it("gets a new credential of the second user, and keeps the first user's credential", async () => {
    const before = await credentials(stack.cluster.cloud);
    const { said } = await up(rotated);
    assert.match(said, /belongs to another user/);
    assert.deepEqual(await credentials(stack.cluster.cloud), before);
    assert.equal((await credentials(second)).length, 1);
    const again = await up(rotated);
    assert.deepEqual(again.changed, {});
    assert.doesNotMatch(again.said, /is another user's/);
    await stack.prove(1);
  });

  it("is destroyed by the first user, and only the second user's credential remains and is reported", async () => {
    const [theirs] = await credentials(second);
    const { others = [] } = await stack.cluster.service.destroy(stack.name);
    assert.deepEqual(
      others.map(({ id }) => id),
      [theirs],
    );
    assert.deepEqual(await credentials(second), [theirs]);
    const now = await takeInventory(stack.cluster.cloud);
    assert.deepEqual(compareInventories(stack.initially, now), { added: [], removed: [] });
  });
});
