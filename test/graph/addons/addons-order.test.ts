import assert from "node:assert/strict";
import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { Addons, type AddonsArgs } from "../../../components/addons/addons.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { graph, type Row } from "../../support/graph/graph.js";
import { smallest } from "../../support/config/spec.js";
import { value } from "../../support/graph/output-value.js";
import {
  answers,
  example,
  Marker,
  named,
  objectsOf,
  reaches,
  roundsOf,
  run,
  sampleNames,
} from "./addons-example.js";
import { nonEmpty } from "../../support/non-empty.js";

/**
 * Returns the names of the resources that the teardown must outlive, and those on which the
 * samples' claim depends.
 */
async function keptBy(end?: () => Marker): Promise<Record<"names" | "claim", readonly string[]>> {
  let told: readonly pulumi.Resource[] = [];
  const rows = await graph(() => {
    const teardown: AddonsArgs["teardown"] = ({ provider, kept }) => {
      assert.ok(kubernetes.Provider.isInstance(provider));
      told = kept;
      return new Marker("teardown");
    };
    return new Addons("addons", {
      ...example(false),
      teardown,
      ...(end && { deletedWith: end() }),
    });
  }, answers);
  const urns = await Promise.all(told.map(({ urn }) => value(urn)));
  const { urn: claim } = named(rows, "addons-samples-claim");
  const namesOf = (which: (row: Row) => boolean) =>
    rows
      .filter(which)
      .map(({ name }) => name)
      .sort();
  return {
    names: namesOf(({ urn }) => urns.includes(urn)),
    claim: namesOf(({ urn }) => urn !== claim && reaches(rows, claim, urn)),
  };
}

describe("graph: the order of add-ons", () => {
  it("has no dependency between cloud controller, network and storage", async () => {
    const { rows } = await run();
    const of = (part: string) => rows.filter(({ name }) => name.startsWith(`addons-${part}-`));
    for (const part of ["cloud-controller", "network", "storage"]) {
      const others = ["cloud-controller", "network", "storage"].filter((other) => other !== part);
      const foreign = new Set(others.flatMap(of).map(({ urn }) => urn));
      for (const row of nonEmpty(of(part))) {
        assert.deepEqual(
          row.dependencies.filter((urn) => foreign.has(urn)),
          [],
          row.name,
        );
      }
    }
  });

  it("creates pods after their account, RBAC rules and configuration", async () => {
    const { rows } = await run();
    const dependencies = (name: string) =>
      named(rows, name)
        .dependencies.map((urn) => rows.find((row) => row.urn === urn)?.name ?? urn)
        .filter((dependency) => dependency.startsWith("addons-"))
        .sort();
    const own = (prefix: string, names: string[]) =>
      names.map((name) => `addons-${prefix}-${name}`);
    const rights = ["account", "cluster-role", "cluster-role-binding"];
    const more = ["role", "role-binding"];
    assert.deepEqual(dependencies("addons-cloud-controller-daemon-set"), [
      "addons-cloud-config-secret",
      ...own("cloud-controller", [...rights, ...more]),
    ]);
    assert.deepEqual(
      dependencies("addons-network-kube-router-daemon-set"),
      own("network-kube-router", [...rights, "cni"]),
    );
    assert.deepEqual(dependencies("addons-storage-controller"), [
      "addons-cloud-config-secret",
      ...own("storage", [...rights, "driver", ...more].sort()),
    ]);
    assert.deepEqual(
      dependencies("addons-storage-node"),
      own("storage", ["driver", "node-account"]),
    );
  });

  it("keeps controllers, pod network and storage class until the teardown has run", async () => {
    const { names, claim } = await keptBy();
    assert.deepEqual(names, [
      "addons-cloud-config-secret",
      "addons-cloud-controller-daemon-set",
      "addons-network-kube-router-daemon-set",
      "addons-storage-class-gold",
      "addons-storage-controller",
      "addons-storage-node",
    ]);
    assert.ok(names.every((name) => claim.includes(name)));
  });

  it("does not keep driver pods and pod network that are deleted with the cluster", async () => {
    const { names, claim } = await keptBy(() => new Marker("cluster"));
    assert.deepEqual(names, [
      "addons-cloud-config-secret",
      "addons-cloud-controller-daemon-set",
      "addons-storage-class-gold",
    ]);
    assert.ok(names.every((name) => claim.includes(name)));
    assert.deepEqual(
      claim.filter((name) => /^addons-(network-|storage-(controller|node)$)/.test(name)),
      [],
    );
  });

  it("creates samples after their namespace", async () => {
    const { rows } = await run();
    const namespace = named(rows, "addons-samples-namespace");
    for (const name of nonEmpty(sampleNames))
      assert.ok(reaches(rows, named(rows, name).urn, namespace.urn), name);
  });

  it("creates load balancers after the cloud controller only", async () => {
    const { rows } = await run();
    for (const reach of ["external", "internal"]) {
      const { urn } = named(rows, `addons-samples-web-${reach}`);
      const needed = rows.filter((row) => reaches(rows, urn, row.urn)).map(({ name }) => name);
      const of = (part: string) => needed.filter((name) => name.startsWith(`addons-${part}-`));
      assert.ok(of("cloud-controller").length > 0, needed.join());
      assert.deepEqual([...of("network"), ...of("storage")], []);
    }
  });

  it("creates load balancers in parallel with the pods behind them", async () => {
    const { rows } = await run();
    const { urn } = named(rows, "addons-samples-web");
    for (const reach of ["external", "internal"])
      assert.ok(!reaches(rows, named(rows, `addons-samples-web-${reach}`).urn, urn), reach);
  });

  it("deletes the writer before the claim that its pod uses", async () => {
    const { rows } = await run();
    const claim = named(rows, "addons-samples-claim").urn;
    assert.ok(named(rows, "addons-samples-writer").dependencies.includes(claim));
  });
});

describe("graph: the deletion of add-ons with the cluster", () => {
  it("deletes only samples with cloud resources one by one", async () => {
    let cluster: Marker | undefined;
    const rows = await graph(() => {
      cluster = new Marker("cluster");
      return new Addons("addons", { ...example(false), deletedWith: cluster });
    }, answers);
    assert.ok(cluster);
    const clusterUrn = await value(cluster.urn);
    const deleted = objectsOf(rows).filter(({ deletedWith }) => deletedWith === "");
    assert.deepEqual(deleted.map(({ name }) => name).sort(), [
      "addons-samples-claim",
      "addons-samples-web-external",
      "addons-samples-web-internal",
      "addons-samples-writer",
    ]);
    const rest = objectsOf(rows).filter(({ deletedWith }) => deletedWith !== "");
    assert.ok(rest.every(({ deletedWith }) => deletedWith === clusterUrn));
  });

  it("deletes every object one by one without deletedWith", async () => {
    const { rows } = await run();
    assert.ok(rows.every(({ deletedWith }) => deletedWith === ""));
  });

  it("deletes a storage class before its replacement is created", async () => {
    const { rows } = await run();
    assert.equal(named(rows, "addons-storage-class-gold").deleteBeforeReplace, true);
  });
});

describe("graph: the teardown of a cluster's workloads", () => {
  it("runs after the deletion of volumes, and before that of machines and credential", async () => {
    const rows = await clusterRows({ ...smallest, samples: true });
    const after = (name: string): string => named(rows, name).dependencies.join(" ");
    assert.match(after("dev-addons-samples-claim"), /dev-control-plane-teardown/);
    for (const kept of ["dev-credential-credential", "dev-workers-general-0-server"])
      assert.ok(
        reaches(rows, named(rows, "dev-control-plane-teardown").urn, named(rows, kept).urn),
        kept,
      );
  });

  it("does not wait for the storage driver, which is deleted with the machines", async () => {
    const rows = await clusterRows({ ...smallest, samples: true });
    const teardown = named(rows, "dev-control-plane-teardown").urn;
    for (const name of ["storage-controller", "storage-node"]) {
      const { urn, deletedWith } = named(rows, `dev-addons-${name}`);
      assert.match(deletedWith, /dev-control-plane-0-server$/);
      assert.ok(!reaches(rows, teardown, urn), name);
    }
  });

  for (const [what, more] of Object.entries({
    "with the samples only": { balanced: 2 },
    "with snapshots": { balanced: 2, blockStorage: { snapshots: true } },
    "with an ingress controller": { balanced: 3, ingress: { kind: "service" } },
    "with three control planes": { balanced: 2, controlPlane: { flavor: "medium", count: 3 } },
  } as const)) {
    const { balanced, ...args } = more;
    it(`runs in the deletion round of load balancers, after volumes, ${what}`, async () => {
      const rows = await clusterRows({ ...smallest, samples: true, ...args });
      const teardown = named(rows, "dev-control-plane-teardown").urn;
      const roundIn = (of: readonly Row[], urn: string): number => roundsOf(of).get(urn) ?? NaN;
      const services = rows.filter(
        ({ type, deletedWith }) => type === "kubernetes:core/v1:Service" && deletedWith === "",
      );
      assert.equal(services.length, balanced);
      for (const { urn, name } of services)
        assert.equal(roundIn(rows, urn), roundIn(rows, teardown), name);
      const claim = named(rows, "dev-addons-samples-claim").urn;
      assert.ok(roundIn(rows, claim) > roundIn(rows, teardown));
      // The DaemonSets cause this order. Without them, load balancers would be deleted before the
      // teardown runs.
      const nearer = rows.map((row) =>
        row.urn === teardown
          ? { ...row, dependencies: row.dependencies.filter((one) => !/-daemon-set$/.test(one)) }
          : row,
      );
      assert.ok(roundIn(nearer, teardown) < roundIn(rows, teardown));
    });
  }
});
