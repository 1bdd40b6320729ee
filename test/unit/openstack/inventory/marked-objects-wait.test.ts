import assert from "node:assert/strict";
import { CloudError } from "../../../../openstack/http/cloud-error.js";
import { deleteObject, deleteOrphans } from "../../../../openstack/inventory/marked-objects.js";
import { object } from "../../../support/cloud/cloud-object.js";
import { projectOfEach } from "../../../support/cloud/empty-project.js";

const fast = { interval: 1, timeout: 10_000 };

describe("deletion of an object", () => {
  const cloud = projectOfEach();

  it("waits until the service no longer lists the object", async () => {
    let looks = 0;
    cloud.on("DELETE /volumev3/volumes/v", { status: 202 });
    cloud.on("GET /volumev3/volumes/detail", () => ({
      body: { volumes: (looks += 1) < 3 ? [{ id: "v", status: "deleting" }] : [] },
    }));
    await deleteObject(await cloud.connect(), object({ kind: "volume", id: "v" }), fast);
    assert.equal(looks, 3);
  });

  it("waits up to the limit of the object's kind, and reports the reason", async () => {
    const said: string[] = [];
    const notes = { interval: 1, every: 0, onWait: (text: string): void => void said.push(text) };
    let tries = 0;
    // Octavia refuses the deletion while an amphora boots.
    const body = { faultstring: "Load Balancer l is immutable and cannot be updated." };
    cloud.on("DELETE /load-balancer/lbaas/loadbalancers/l", () =>
      (tries += 1) < 2 ? { status: 409, body } : { status: 204 },
    );
    let status: string | undefined = "PENDING_DELETE";
    cloud.on("GET /load-balancer/lbaas/loadbalancers", () => {
      const loadbalancers = status === undefined ? [] : [{ id: "l", provisioning_status: status }];
      status = undefined;
      return { body: { loadbalancers } };
    });
    const balancer = object({ kind: "load balancer", id: "l", name: "dev-api" });
    await deleteObject(await cloud.connect(), balancer, notes);
    const what = "Waiting for the load balancer 'dev-api' (l), 15 min at most:";
    assert.match(said[0] ?? "", /: DELETE .* is immutable and cannot be updated\.$/);
    assert.deepEqual(
      [said[0]?.startsWith(what), said[1]],
      [true, `${what} it was deleted, and its status is PENDING_DELETE.`],
    );
    for (const [kind, path, minutes] of [
      ["server", "compute/servers", 10],
      ["volume", "volumev3/volumes", 10],
      ["port", "network/ports", 3],
    ] as const) {
      said.length = 0;
      let refused = false;
      cloud.on(`DELETE /${path}/x`, () => {
        const answer = { status: refused ? 204 : 409, body: {} };
        refused = true;
        return answer;
      });
      await deleteObject(await cloud.connect(), object({ kind, id: "x" }), notes);
      assert.match(
        said[0] ?? "",
        new RegExp(`^Waiting for the ${kind} .*, ${minutes} min at most`),
      );
    }
  });

  it("fails at once if the service tried and failed", async () => {
    const statuses = ["ERROR", "PENDING_DELETE", "ERROR"];
    cloud.on("DELETE /load-balancer/lbaas/loadbalancers/l", { status: 204 });
    cloud.on("GET /load-balancer/lbaas/loadbalancers", () => ({
      body: { loadbalancers: [{ id: "l", provisioning_status: statuses.shift() }] },
    }));
    const balancer = object({ kind: "load balancer", id: "l", name: "dev-api" });
    await assert.rejects(
      async () => deleteObject(await cloud.connect(), balancer, fast),
      /The load balancer 'dev-api' \(l\) could not be deleted: its status is ERROR after the attempt\./,
    );
    assert.deepEqual(statuses, []);
  });

  it("reports an object that is not deleted in time", async () => {
    cloud.on("DELETE /compute/servers/s", { status: 204 });
    cloud.on("GET /compute/servers/detail", { body: { servers: [{ id: "s", status: "ERROR" }] } });
    const soon = { ...fast, timeout: 50 };
    await assert.rejects(
      async () => deleteObject(await cloud.connect(), object({ id: "s", name: "stuck" }), soon),
      (error: unknown) => error instanceof CloudError && /server 'stuck' \(s\)/.test(error.message),
    );
  });

  it("runs for at most 20 of hundreds of objects at once, so that each has its own time limit", async () => {
    const volumes = Array.from({ length: 200 }, (_, index) =>
      object({ kind: "volume", id: `v${String(index)}` }),
    );
    const left = new Set(volumes.map(({ id }) => id));
    const [deleting, seen] = [new Set<string>(), new Set<string>()];
    for (const { id } of volumes)
      cloud.on(`DELETE /volumev3/volumes/${id}`, () => {
        deleting.add(id);
        return { status: 202 };
      });
    // A deleted volume is still listed once.
    cloud.on("GET /volumev3/volumes/detail", () => {
      for (const id of seen) for (const all of [deleting, left, seen]) all.delete(id);
      for (const id of deleting) seen.add(id);
      return { body: { volumes: [...left].map((id) => ({ id, status: "deleting" })) } };
    });
    let [begun, most] = [0, 0];
    const onDelete = (): void => {
      begun += 1;
      most = Math.max(most, begun - (volumes.length - left.size));
    };
    await deleteOrphans(await cloud.connect(), volumes, { ...fast, timeout: 60_000, onDelete });
    assert.equal(left.size, 0);
    assert.ok(most > 1 && most <= 20, String(most));
  });
});
