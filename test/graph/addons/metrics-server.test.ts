import assert from "node:assert/strict";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { smallest } from "../../support/config/spec.js";
import { named, objectsOf, reaches, run, sampleNames, systemNames } from "./addons-example.js";
import { nonEmpty } from "../../support/non-empty.js";

const added = async (change: Parameters<typeof run>[0]): Promise<readonly string[]> => {
  const { rows } = await run(change);
  const known = new Set([...systemNames, ...sampleNames]);
  return objectsOf(rows).flatMap(({ name }) => (known.has(name) ? [] : [name]));
};

describe("graph: metrics-server", () => {
  it("registers its objects if enabled, the API after the deployment", async () => {
    const change = { metricsServer: { signedKubelets: false } };
    const own = ["account", "api", "cluster-role", "cluster-role-binding", "deployment", "reader"];
    assert.deepEqual(
      [...(await added(change))].sort(),
      [...own, "role", "role-binding", "service"].map((name) => `addons-metrics-server-${name}`),
    );
    const { rows } = await run(change);
    const [api, server] = ["api", "deployment"].map(
      (name) => named(rows, `addons-metrics-server-${name}`).urn,
    );
    assert.ok(reaches(rows, api ?? "", server ?? ""));
  });
});

describe("graph: add-ons of a cluster without a pod network", () => {
  it("wait for no pods", async () => {
    const { rows } = await run({
      podNetwork: { kind: "none" },
      blockStorage: { snapshots: true },
      metricsServer: { signedKubelets: false },
      samples: false,
    });
    const waiting = objectsOf(rows)
      .filter(({ type }) => /:(Deployment|Service)$/.test(type))
      .filter(({ inputs }) => !JSON.stringify(inputs["metadata"]).includes("skipAwait"));
    assert.deepEqual(
      waiting.map(({ name }) => name),
      [],
    );
  });
});

describe("graph: DaemonSets", () => {
  it("have timeouts that grow by one minute per specified node", async () => {
    const workers = { general: { flavor: "small", count: 7 } };
    const rows = await clusterRows({
      ...smallest,
      workers,
      etcd: { kind: "dedicated", flavor: "small" },
    });
    const found = rows.filter(({ type }) => type.endsWith(":DaemonSet"));
    assert.deepEqual(
      found.map(({ timeouts }) => timeouts.update),
      ["13m", "13m", "13m"],
    );
  });
});

describe("graph: volume snapshots", () => {
  const change = { blockStorage: { snapshots: true } };
  const own = (...names: string[]) => names.map((name) => `addons-storage-snapshots-${name}`);

  it("add only their CRDs, controller and class", async () => {
    assert.deepEqual(
      [...(await added(change))].sort(),
      own(
        ...["account", "class", "cluster-role", "cluster-role-binding", "controller", "role"],
        ...["role-binding", "volumesnapshotclasses", "volumesnapshotcontents", "volumesnapshots"],
      ).sort(),
    );
  });

  it("register their CRDs before the controllers and the class", async () => {
    const { rows } = await run(change);
    const [kinds, users] = [
      own("volumesnapshotclasses", "volumesnapshotcontents", "volumesnapshots"),
      [...own("controller", "class"), "addons-storage-controller"],
    ];
    for (const user of nonEmpty(users))
      for (const kind of nonEmpty(kinds))
        assert.ok(reaches(rows, named(rows, user).urn, named(rows, kind).urn), `${user} ${kind}`);
  });

  it("are released before their volumes and before the deletion of the credential", async () => {
    const rows = await clusterRows({ ...smallest, ...change, samples: true });
    const teardown = named(rows, "dev-control-plane-snapshots-teardown");
    assert.ok(reaches(rows, teardown.urn, named(rows, "dev-control-plane-teardown").urn));
    assert.ok(reaches(rows, teardown.urn, named(rows, "dev-addons-cloud-config-secret").urn));
    const claim = named(rows, "dev-addons-samples-claim").urn;
    assert.ok(reaches(rows, claim, teardown.urn));
    const without = await clusterRows(smallest);
    assert.ok(!without.some(({ name }) => name.includes("snapshot")));
  });
});
