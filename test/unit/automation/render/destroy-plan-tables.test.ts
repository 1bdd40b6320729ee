import assert from "node:assert/strict";
import type {
  ClaimedVolume,
  DestroyPlan,
  ServiceFloatingIp,
} from "../../../../automation/engine/operation-options.js";
import {
  renderDestroyPlanLine,
  renderDestroyPlanTables,
} from "../../../../automation/render/destroy-plan-tables.js";
import { object as cloudObject } from "../../../support/cloud/cloud-object.js";
import { golden } from "../../../support/golden.js";

const volume = (fate: ClaimedVolume["fate"], claim = ""): ClaimedVolume => ({
  id: `id-${fate}`,
  name: `pvc-${fate}`,
  gigabytes: 8,
  claim,
  fate,
});

const address = (fate: ServiceFloatingIp["fate"], service = ""): ServiceFloatingIp => ({
  id: `fip-${fate}`,
  address: "203.0.113.9",
  service,
  fate,
});

const place = { cloud: "prod", region: "one", project: { id: "p", name: "demo" } };

const plan = (fields: Partial<DestroyPlan> = {}): DestroyPlan => ({
  cluster: "shop",
  clusters: ["shop"],
  identities: ["0123456789ab"],
  backend: "s3://states",
  held: true,
  place,
  goes: [],
  volumes: [],
  floatingIps: [],
  snapshots: [],
  ...fields,
});
const machines = ["shop-control-plane-0", "shop-general-0", "shop-general-1", "shop-general-2"];
const goes = [
  ...machines.map((name) => cloudObject({ kind: "server", name })),
  cloudObject({ kind: "network", name: "shop" }),
  cloudObject({ kind: "load balancer", name: "kube_service_shop-0123456789ab_shop_web" }),
  cloudObject({ kind: "floating IP", id: "nameless", name: "" }),
];

describe("plan of a destroy", () => {
  it("matches the reviewed tables and line", () => {
    const sure = plan({
      goes,
      volumes: [volume("goes", "shop/db"), volume("stays", "shop/keep")],
      snapshots: [
        { id: "snap-1", snapshot: "shop/nightly", volume: "id-stays", fate: "goes" },
        { id: "", snapshot: "shop/brought", volume: "", fate: "stays" },
      ],
      floatingIps: [address("goes", "shop/web"), address("stays", "shop/kept")],
    });
    const unsure = plan({
      identities: [],
      volumes: [volume("unknown")],
      floatingIps: [address("unknown")],
      problem: "it answers 401",
    });
    const parts = [sure, unsure, plan()].flatMap((one) => [
      renderDestroyPlanTables(one),
      renderDestroyPlanLine(one),
    ]);
    golden("destroy-plan.txt", `${parts.join("\n\n----\n\n")}\n`);
  });

  it("names every cluster", () => {
    const two = plan({ clusters: ["shop", "test"], identities: ["0123456789ab", "ba9876543210"] });
    assert.match(
      renderDestroyPlanLine(two),
      /^Destroying the clusters 'shop', 'test' \(identity 0123456789ab, ba9876543210; cloud/,
    );
  });

  it("reports objects that stay because another user created them", () => {
    const others = [{ id: "theirs", name: "shop-0123456789ab", urn: "urn" }];
    const one = plan({ goes, others });
    assert.match(
      renderDestroyPlanTables(one),
      /another user owns it: .* credential shop-0123456789ab\.$/m,
    );
    assert.match(renderDestroyPlanLine(one), /; kept: 1 application credential of another user\.$/);
  });

  it("reports the kinds that the cloud does not show", () => {
    const one = plan({ goes, hidden: ["load balancer", "volume"] });
    const unseen = /Not checked, .* to this user: load balancers, volumes\. A user with a role /;
    assert.match(renderDestroyPlanTables(one), unseen);
    assert.match(renderDestroyPlanLine(one), unseen);
  });

  it("reports objects that stay because they are retained or may be a copy", () => {
    const stays = [
      { ...cloudObject({ kind: "network", name: "own" }), retained: true as const },
      cloudObject({ kind: "volume", name: "shop-0-etcd" }),
    ];
    const one = plan({ goes, stays });
    assert.match(renderDestroyPlanTables(one), /\(retainOnDelete\): network own\.$/m);
    assert.match(renderDestroyPlanTables(one), /may be copies: volume shop-0-etcd\.$/m);
    assert.match(renderDestroyPlanLine(one), /; kept: network own, volume shop-0-etcd\.$/);
  });

  it("counts the objects that the tables omit", () => {
    assert.match(
      renderDestroyPlanTables(plan({ goes })),
      /^server +4 +\S+, \S+, shop-general-1 and 1 more$/m,
    );
    assert.match(
      renderDestroyPlanTables(plan({ goes: goes.slice(1) })),
      /^server +3 +\S+, \S+, \S+$/m,
    );
  });
});
