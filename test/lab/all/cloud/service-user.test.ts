import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import {
  compareInventories,
  listObjects,
  takeInventory,
} from "../../../../openstack/inventory/inventory.js";
import { encrypted, stateAsItIs } from "../../support/downloads/downloads.js";
import { until } from "../../support/cloud/foreign.js";
import { applied, claimAtOnce, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { changes } from "../../support/stack/lab-cluster.js";
import { Stack } from "../../support/stack/stack.js";
import { newUser, type LabUser } from "../../support/cloud/user.js";

const minutes = 60_000;

describe("a cluster whose controllers sign in as a cloud user, on the lab", function () {
  this.timeout(10 * minutes);
  const stack = new Stack("user");
  const undo: (() => Promise<void>)[] = [];
  const other = randomUUID();
  let user: LabUser;

  /** Settings of a small cluster. Its samples use a load balancer and a volume. */
  const changed = async (password: string) => ({
    topology: "single",
    workers: {},
    credential: { username: user.name, password: await encrypted(stack.cluster, password) },
  });
  const ask = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());
  const conf = async (): Promise<string> => {
    const line = "-n kube-system get secret cloud-config -o jsonpath='{.data.cloud\\.conf}'";
    return Buffer.from(await ask(line), "base64").toString();
  };

  before(async () => {
    await stack.open();
    undo.push(() => stack.cluster.close());
    user = await newUser(stack.cluster.cloud, "service", ["member", "load-balancer_member"]);
    undo.push(() => user.remove());
    // The preview creates the stack and the salt of its secrets, which `encrypted` needs.
    await stack.cluster.service.preview(stack.name, { settings: stack.cluster.settings() });
  });
  after(async () => {
    for (const step of undo.reverse()) await step();
  });

  it("is refused with a wrong password, before any object is created", async () => {
    await assert.rejects(
      stack.up(await changed("another")),
      /cluster\.credential\.username: the user '\S+' of the domain 'Default' cannot sign in to/,
    );
    const now = await takeInventory(stack.cluster.cloud);
    assert.deepEqual(compareInventories(stack.initially, now), { added: [], removed: [] });
  });

  it("starts with load balancers and volumes, without an application credential", async () => {
    await stack.up(await changed(user.password));
    await stack.prove(1);
    const text = await conf();
    assert.ok(text.includes(`username = "${user.name}"`));
    assert.doesNotMatch(text, /application-credential/);
    const initial = stack.initially.filter(({ kind }) => kind === "application credential");
    assert.deepEqual(await listObjects(stack.cluster.cloud, "application credential"), initial);
  });

  it("accepts a new password while it runs, and works with the new password", async () => {
    await user.change(other);
    const settings = await changed(other);
    await stack.up(settings);
    assert.deepEqual(Object.keys(changes(stack.cluster.seen.events)), ["update"]);
    assert.ok((await conf()).includes(`password = "${other}"`));
    await ask(applied(claimAtOnce));
    await until(async () => (await ask("get pvc data")).includes("Bound"));
    await stack.prove(1);
    await stack.again(settings);
  });

  it("shows neither password in state, events or output", async () => {
    const text = (await stateAsItIs(stack.cluster)) + JSON.stringify(stack.cluster.seen);
    for (const password of [user.password, other]) assert.ok(!text.includes(password));
  });

  it("is destroyed without leftovers, and keeps the user", async () => {
    await stack.destroyAndLookAround();
    assert.ok(await user.isThere());
  });
});
