import assert from "node:assert/strict";
import { createOrphanService } from "../../../../automation/orphans/orphan-service.js";
import { getClusterMetadata, getClusterTags } from "../../../../openstack/inventory/ownership.js";
import {
  emptyProject,
  startFakeCloud,
  type FakeCloud,
} from "../../../support/cloud/fake-openstack.js";

const dev = { name: "dev", identity: "0123456789ab" };
const other = { name: "dev", identity: "ba9876543210" };

describe("createOrphanService", () => {
  let cloud: FakeCloud;
  let networks: { readonly id: string; readonly name: string; readonly tags: string[] }[];
  let volumes: object[];
  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
    networks = [
      { id: "n1", name: "dev", tags: getClusterTags(dev) },
      { id: "n2", name: "dev", tags: getClusterTags(other) },
      { id: "n3", name: "dev", tags: [] },
    ];
    volumes = [{ id: "v1", name: "dev-0-etcd", metadata: getClusterMetadata(dev) }];
    cloud.on("GET /network/networks", () => ({ body: { networks } }));
    cloud.on("GET /volumev3/volumes/detail", () => ({ body: { volumes } }));
    cloud.on("DELETE /network/networks/n1", () => {
      networks = networks.filter(({ id }) => id !== "n1");
      return { status: 204 };
    });
    cloud.on("DELETE /volumev3/volumes/v1", () => {
      volumes = [];
      return { status: 202 };
    });
  });
  afterEach(() => cloud.close());
  const service = () => createOrphanService({ env: cloud.environment() });
  const deleted = (): string[] =>
    cloud.seen.filter(({ method }) => method === "DELETE").map(({ path }) => path);
  const ids = (objects: readonly { readonly id: string }[]): string[] =>
    objects.map(({ id }) => id).toSorted();

  it("finds objects by name or identity without changing them, and signs in once", async () => {
    const orphans = service();
    assert.deepEqual(ids((await orphans.find({ cluster: "dev" })).found), ["n1", "n2", "v1"]);
    assert.deepEqual(ids((await orphans.find({ identity: dev.identity })).found), ["n1", "v1"]);
    assert.deepEqual(deleted(), []);
    const signIns = cloud.seen.filter(({ path }) => path.endsWith("/auth/tokens"));
    assert.equal(signIns.length, 1);
  });

  it("deletes the objects, except those that cannot be recreated", async () => {
    const orphans = service();
    const there = await orphans.find({ identity: dev.identity });
    const begun: string[] = [];
    const first = await orphans.delete(there, { onDelete: ({ id }) => begun.push(id) });
    assert.deepEqual([ids(first.deleted), ids(first.kept), begun], [["n1"], ["v1"], ["n1"]]);
    const rest = await orphans.delete({ ...there, found: first.kept }, { volumes: true });
    assert.deepEqual([ids(rest.deleted), rest.kept], [["v1"], []]);
    assert.deepEqual(deleted(), ["/network/networks/n1", "/volumev3/volumes/v1"]);
  });

  it("refuses to delete objects of several identities", async () => {
    const orphans = service();
    const there = await orphans.find({ cluster: "dev" });
    await assert.rejects(orphans.delete(there), /write the identity of the one to delete/);
    assert.deepEqual(deleted(), []);
  });

  it("refuses to delete if the network contains a foreign object", async () => {
    const port = { id: "p1", name: "theirs", network_id: "n1", device_owner: "compute:nova" };
    cloud.on("GET /network/ports", () => ({ body: { ports: [port] } }));
    const orphans = service();
    const there = await orphans.find({ identity: dev.identity });
    assert.deepEqual(ids(there.inTheWay), ["p1"]);
    await assert.rejects(orphans.delete(there), /port 'theirs' \(p1\), .*Nothing was deleted/);
    assert.deepEqual(deleted(), []);
  });

  it("reports a cancellation as such and keeps the objects", async () => {
    const orphans = service();
    const there = await orphans.find({ identity: dev.identity });
    await assert.rejects(orphans.delete(there, { signal: AbortSignal.abort() }), {
      code: "CANCELLED",
    });
    assert.deepEqual(deleted(), []);
  });
});
