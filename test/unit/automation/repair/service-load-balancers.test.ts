import assert from "node:assert/strict";
import {
  findForeignBalancers,
  findBalancersWithoutService,
} from "../../../../automation/repair/service-load-balancers.js";
import type { CloudObject } from "../../../../openstack/inventory/inventory.js";
import { object } from "../../../support/cloud/cloud-object.js";

describe("load balancers without a Service", () => {
  const [ours, theirs] = ["0123456789ab", "ba9876543210"] as const;
  const identities = new Set<string>([ours]);
  const nameOf = (service: string, identity: string = ours): string =>
    `kube_service_dev-${identity}_shop_${service}`;
  const balancer = (fields: Partial<CloudObject>): CloudObject =>
    object({ kind: "load balancer", id: "one", network: "net", ...fields });
  const found = (one: CloudObject): boolean =>
    findBalancersWithoutService([one], identities, new Set(["shop/web", "other/cart"])).length > 0;

  it("are the cluster's own balancers that no Service uses or shares", () => {
    assert.equal(found(balancer({ name: nameOf("cart") })), true);
    assert.equal(found(balancer({ name: nameOf("web") })), false);
    assert.equal(found(balancer({ name: nameOf("cart"), tags: [nameOf("cart")] })), true);
    assert.equal(found(balancer({ name: nameOf("cart"), tags: [nameOf("web")] })), false);
  });

  it("exclude balancers of other clusters and of no cluster", () => {
    assert.equal(found(balancer({ name: nameOf("cart", theirs) })), false);
    assert.equal(found(balancer({ name: "cart" })), false);
    assert.equal(found(balancer({ name: "kube_service_dev_shop_cart" })), false);
  });

  it("are distinguished from foreign balancers in the cluster's network", () => {
    const sets = { networks: new Set(["net"]), ours: new Set(["api"]), identities };
    const foreign = (fields: Partial<CloudObject>): boolean =>
      findForeignBalancers([balancer(fields)], sets).length > 0;
    assert.equal(foreign({ name: "theirs" }), true);
    assert.equal(foreign({ name: nameOf("web", theirs) }), true);
    assert.equal(foreign({ name: nameOf("web") }), false);
    assert.equal(
      foreign({ name: "kube_service_dev_shop_web" }),
      false,
      "perhaps of an old release",
    );
    assert.equal(foreign({ name: "dev-api", id: "api" }), false);
    assert.equal(foreign({ name: "theirs", network: "another" }), false);
    assert.equal(foreign({ name: "theirs", kind: "port" }), false);
  });
});
