import assert from "node:assert/strict";
import { deleteObject } from "../../../../openstack/inventory/marked-objects.js";
import { object } from "../../../support/cloud/cloud-object.js";
import { projectOfEach } from "../../../support/cloud/empty-project.js";

describe("deletion of a router", () => {
  const cloud = projectOfEach();
  const remove = async (): Promise<void> =>
    deleteObject(await cloud.connect(), object({ kind: "router", id: "r" }), {
      interval: 1,
      timeout: 200,
    });
  const ports = (owners: readonly string[]) =>
    owners.map((owner) => ({ id: owner, device_owner: `network:${owner}` }));

  it("detaches every subnet of any kind first; other ports are deleted by Neutron", async () => {
    cloud.on("GET /network/ports", ({ path }) =>
      path.includes("marker=1")
        ? { body: { ports: ports(["ha_router_replicated_interface"]) } }
        : {
            body: {
              ports: ports([
                ...["router_gateway", "router_centralized_snat", "router_ha_interface"],
                ...["router_interface", "router_interface_distributed"],
              ]),
              ports_links: [{ rel: "next", href: "http://x/ports?marker=1" }],
            },
          },
    );
    const left: string[] = [];
    cloud.on("PUT /network/routers/r/remove_router_interface", ({ body }) => {
      left.push((body as { port_id: string }).port_id);
      return { body: {} };
    });
    cloud.on("DELETE /network/routers/r", () => ({ status: left.length === 3 ? 204 : 409 }));
    await remove();
    assert.deepEqual(left, [
      ...["router_interface", "router_interface_distributed", "ha_router_replicated_interface"],
    ]);
  });

  it("waits for a floating IP that is being deleted", async () => {
    cloud.on("GET /network/ports", { body: { ports: ports(["router_interface"]) } });
    let tries = 0;
    cloud.on("PUT /network/routers/r/remove_router_interface", () =>
      (tries += 1) < 3 ? { status: 409, body: {} } : { body: {} },
    );
    cloud.on("DELETE /network/routers/r", { status: 204 });
    await remove();
    assert.equal(tries, 3);
  });
});
