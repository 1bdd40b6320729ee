import assert from "node:assert/strict";
import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { Addons } from "../../components/addons/addons.js";
import { graph } from "../support/graph.js";
import { value } from "../support/value.js";
import {
  answers,
  example,
  Marker,
  named,
  objectsOf,
  reaches,
  run,
  sampleNames,
} from "./addons-example.js";

describe("graph: order of the add-ons", () => {
  it("lets no add-on wait for another, so that no circle can form", async () => {
    const { rows } = await run();
    const of = (part: string) => rows.filter(({ name }) => name.startsWith(`addons-${part}-`));
    for (const part of ["cloud-controller", "network", "storage"]) {
      const others = ["cloud-controller", "network", "storage"].filter((other) => other !== part);
      const foreign = new Set(others.flatMap(of).map(({ urn }) => urn));
      for (const row of of(part)) {
        assert.deepEqual(
          row.dependencies.filter((urn) => foreign.has(urn)),
          [],
          row.name,
        );
      }
    }
  });

  it("makes pods after their account, rights and configuration", async () => {
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

  it("has the teardown between the sample's volume and what releases load balancers and volumes", async () => {
    let told: readonly pulumi.Resource[] = [];
    const { rows, addons } = await run({
      teardown: ({ provider, workloads }) => {
        assert.ok(kubernetes.Provider.isInstance(provider));
        told = workloads;
        return new Marker("teardown");
      },
    });
    const urns = await Promise.all(told.map(({ urn }) => value(urn)));
    const names = urns.map((urn) => rows.find((row) => row.urn === urn)?.name);
    assert.deepEqual(names.sort(), [
      "addons-cloud-controller-daemon-set",
      "addons-network-kube-router-daemon-set",
      "addons-storage-class-gold",
      "addons-storage-controller",
      "addons-storage-node",
    ]);
    const claim = named(rows, "addons-samples-claim");
    assert.ok(urns.every((urn) => claim.dependencies.includes(urn)));
    assert.ok(addons.samples);
    const namespace = named(rows, "addons-samples-namespace");
    for (const name of sampleNames) {
      assert.ok(reaches(rows, named(rows, name).urn, namespace.urn), name);
    }
  });

  it("has load balancers wait for machines, and not for volumes", async () => {
    const { rows } = await run();
    const [controller, network, storage] = [
      "cloud-controller-",
      "network-kube-router-",
      "storage-",
    ];
    for (const reach of ["external", "internal"]) {
      const { urn } = named(rows, `addons-samples-web-${reach}`);
      const needed = rows.filter((row) => reaches(rows, urn, row.urn)).map(({ name }) => name);
      const of = (part = "") => needed.filter((name) => name.startsWith(`addons-${part}`));
      assert.ok(of(controller).length > 0 && of(network).length > 0, needed.join());
      assert.deepEqual(of(storage), []);
    }
  });

  it("has load balancers begin while the pods behind them start", async () => {
    const { rows } = await run();
    const { urn } = named(rows, "addons-samples-web");
    for (const reach of ["external", "internal"])
      assert.ok(!reaches(rows, named(rows, `addons-samples-web-${reach}`).urn, urn), reach);
  });

  it("deletes the writer before the claim that its pod keeps in use", async () => {
    const { rows } = await run();
    const claim = named(rows, "addons-samples-claim").urn;
    assert.ok(named(rows, "addons-samples-writer").dependencies.includes(claim));
  });
});

describe("graph: what goes with the cluster", () => {
  it("deletes what owns something in the cloud, and nothing else, one by one", async () => {
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

  it("deletes everything one by one when nothing ends the cluster", async () => {
    const { rows } = await run();
    assert.ok(rows.every(({ deletedWith }) => deletedWith === ""));
  });

  it("replaces a class by removing the old one first: two cannot have one name", async () => {
    const { rows } = await run();
    assert.equal(named(rows, "addons-storage-class-gold").deleteBeforeReplace, true);
  });
});
