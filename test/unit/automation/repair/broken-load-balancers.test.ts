import assert from "node:assert/strict";
import fc from "fast-check";
import {
  getBalancerCondition,
  waitForOctavia,
  findBalancersWithParts,
} from "../../../../automation/repair/broken-load-balancers.js";
import type { StateResource } from "../../../../automation/pulumi/stack-state.js";
import { getClusterTags } from "../../../../openstack/inventory/ownership.js";
import { object } from "../../../support/cloud/cloud-object.js";
import { projectOfEach } from "../../../support/cloud/empty-project.js";

const identity = "0123456789ab";
const type = (kind: string): string => `openstack:loadbalancer/${kind}`;
const one = (kind: string, id: string, inputs: Record<string, unknown> = {}): StateResource => ({
  urn: `urn::${kind}::${id}`,
  type: type(kind),
  custom: true,
  id,
  inputs,
});
const whole = (of: string): StateResource[] => [
  one("loadBalancer:LoadBalancer", of),
  one("listener:Listener", `${of}-listener`, { loadbalancerId: of }),
  one("pool:Pool", `${of}-pool`, { listenerId: `${of}-listener` }),
  one("monitor:Monitor", `${of}-monitor`, { poolId: `${of}-pool` }),
  one("member:Member", `${of}-member`, { poolId: `${of}-pool` }),
  one("l7Policy:L7Policy", `${of}-policy`, { listenerId: `${of}-listener` }),
  one("l7Rule:L7Rule", `${of}-rule`, { l7policyId: `${of}-policy` }),
];

describe("findBalancersWithParts", () => {
  const partsIn = (resources: StateResource[], ...ids: string[]): string[] =>
    [...findBalancersWithParts({ deployment: { resources } }, new Set(ids))]
      .map(({ id = "" }) => id)
      .sort();

  it("returns all parts of the balancer in any order of the state, and none of another balancer", () => {
    const all = fc.shuffledSubarray([...whole("a"), ...whole("b")], { minLength: 14 });
    const expected = whole("a").map(({ id = "" }) => id);
    fc.assert(
      fc.property(all, (resources) => {
        assert.deepEqual(partsIn(resources, "a"), expected.sort());
        assert.deepEqual(partsIn(resources), []);
      }),
    );
  });

  it("finds the parent in the outputs if the input is missing", () => {
    const pool = { ...one("pool:Pool", "pool"), outputs: { loadbalancerId: "a" } };
    assert.deepEqual(partsIn([pool], "a"), ["pool"]);
  });

  it("ignores other types with a property of the same name", () => {
    const others = {
      ...one("", "x", { loadbalancerId: "a" }),
      type: "openstack:networking/port:Port",
    };
    assert.deepEqual(partsIn([others], "a"), []);
  });
});

describe("getBalancerCondition", () => {
  const tags = getClusterTags({ name: "dev", identity });
  const balancer = (status: string, of = tags) =>
    object({ kind: "load balancer", id: "a", status, tags: of });
  const condition = (found: ReturnType<typeof balancer> | undefined, kept: object = {}): string =>
    getBalancerCondition(kept, found, new Set([identity]));

  it("maps Octavia's provisioning status", () => {
    assert.equal(condition(undefined), "gone");
    assert.equal(condition(balancer("ACTIVE")), "well");
    assert.equal(condition(balancer("PENDING_CREATE")), "busy");
    assert.equal(condition(balancer("PENDING_UPDATE")), "busy");
    assert.equal(condition(balancer("PENDING_DELETE")), "deleting");
    assert.equal(condition(balancer("ERROR")), "failed");
  });

  it("returns 'undeletable' without the stack's identity and for protected or retained balancers", () => {
    assert.equal(condition(balancer("ERROR", [])), "undeletable");
    const another = getClusterTags({ name: "dev", identity: "ba9876543210" });
    assert.equal(condition(balancer("ERROR", another)), "undeletable");
    assert.equal(condition(balancer("ERROR"), { protect: true }), "undeletable");
    assert.equal(condition(balancer("ERROR"), { retainOnDelete: true }), "undeletable");
  });
});

describe("waitForOctavia", () => {
  const cloud = projectOfEach();
  const path = "/load-balancer/lbaas/loadbalancers/a";
  const shown = { id: "a", what: "load balancer 'dev-api' (a)" };
  const answer = (status: string) => ({
    body: { loadbalancer: { id: "a", provisioning_status: status } },
  });

  it("waits until Octavia has finished or the balancer is gone, and reports the wait", async () => {
    for (const last of [answer("ACTIVE"), answer("DELETED"), { status: 404 }]) {
      const said: string[] = [];
      let looks = 0;
      cloud.on(`GET ${path}`, () => ((looks += 1) < 3 ? answer("PENDING_UPDATE") : last));
      const onWait = (text: string): void => void said.push(text);
      await waitForOctavia(await cloud.connect(), shown, { interval: 1, every: 0, onWait });
      assert.equal(looks, 3);
      const what = "Waiting for the load balancer 'dev-api' (a), 15 min at most: its status is";
      assert.deepEqual(said, Array(2).fill(`${what} PENDING_UPDATE.`));
    }
  });

  it("fails at the time limit with the balancer's status", async () => {
    cloud.on(`GET ${path}`, answer("PENDING_UPDATE"));
    await assert.rejects(
      async () => waitForOctavia(await cloud.connect(), shown, { interval: 1, timeout: 20 }),
      {
        code: "LOAD_BALANCER_ERROR",
        message: /^The load balancer 'dev-api' \(a\) is still in PENDING_UPDATE/,
      },
    );
  });

  it("stops waiting on cancellation", async () => {
    cloud.on(`GET ${path}`, answer("PENDING_UPDATE"));
    const signal = AbortSignal.timeout(50);
    await assert.rejects(async () => waitForOctavia(await cloud.connect(), shown, { signal }));
  });
});
