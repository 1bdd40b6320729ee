import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  addNeededEntries,
  excluding,
  findFieldProblems,
  findFlagProblem,
  free,
  including,
  listKeptFields,
  only,
  refuse,
  secondsOf,
  type Decisions,
} from "../../../../../../components/config/kubernetes/flags/decision.js";
import { apiServerDecisions } from "../../../../../../components/config/kubernetes/flags/kube-apiserver.js";
import { controllerManagerDecisions } from "../../../../../../components/config/kubernetes/flags/kube-controller-manager.js";
import { kubeProxyDecisions } from "../../../../../../components/config/kubernetes/flags/kube-proxy.js";
import { schedulerDecisions } from "../../../../../../components/config/kubernetes/flags/kube-scheduler.js";
import { kubeletDecisions } from "../../../../../../components/config/kubernetes/flags/kubelet.js";

const fixtures = join(__dirname, "../../../../../fixtures/flags");

/** Returns the names in a list of flags or fields of Kubernetes. */
const namesIn = (file: string): string[] =>
  readFileSync(join(fixtures, file), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

const tables: Readonly<Record<string, Decisions>> = {
  "kube-apiserver-1.36.txt": apiServerDecisions,
  "kube-controller-manager-1.36.txt": controllerManagerDecisions,
  "kube-scheduler-1.36.txt": schedulerDecisions,
  "KubeletConfiguration-1.36.txt": kubeletDecisions,
  "KubeProxyConfiguration-1.36.txt": kubeProxyDecisions,
};

describe("decisions about flags and fields", () => {
  for (const [file, decisions] of Object.entries(tables))
    it(`contain one row for each name in ${file}, and no other row`, () => {
      const names = namesIn(file);
      assert.ok(names.length > 50);
      assert.equal(new Set(names).size, names.length);
      assert.deepEqual(Object.keys(decisions).sort(), names.sort());
    });

  it("freeze the fields that running pods depend on", () => {
    assert.deepEqual(listKeptFields(kubeletDecisions), {
      cgroupDriver: "systemd",
      clusterDNS: "nothing",
      cpuManagerPolicy: "nothing",
      memoryManagerPolicy: "nothing",
    });
    assert.deepEqual(listKeptFields(kubeProxyDecisions), {
      clusterCIDR: "nothing",
      mode: "iptables",
    });
  });
});

describe("findFlagProblem", () => {
  const decisions = { any: free, none: refuse("is kubeadm's"), yes: only([true], "is wrong") };
  const find = (flag: string, value: unknown) => findFlagProblem("etcd", decisions, flag, value);

  it("accepts every value of a free flag, and refuses every value of a refused one", () => {
    assert.equal(find("any", "x"), undefined);
    assert.equal(find("none", "x"), "is kubeadm's");
  });

  it("accepts the allowed values as text, too, and names a refused value", () => {
    for (const value of [true, "true", [true]]) assert.equal(find("yes", value), undefined);
    assert.equal(find("yes", false), "false is wrong");
    assert.equal(find("yes", ["true", "false"]), '["true","false"] is wrong');
  });

  it("refuses unknown flags, also names that every object has", () => {
    for (const flag of ["anny", "constructor"])
      assert.equal(
        find(flag, "x"),
        "is not a flag of etcd that this release knows; correct its name or leave it out",
      );
    assert.match(find("--any", "x") ?? "", /write it without dashes before it/);
  });
});

describe("the limits of pods of a node", () => {
  const find = (fields: Readonly<Record<string, unknown>>): string[] =>
    findFieldProblems("KubeletConfiguration", kubeletDecisions, fields).map(
      ({ message }) => message,
    );

  it("leave room for the pods of a control plane, because kubelet ends static pods, too", () => {
    assert.deepEqual(find({ maxPods: 15, podsPerCore: 8 }), []);
    assert.deepEqual(find({ maxPods: 110, podsPerCore: 0 }), []);
    assert.match(find({ maxPods: 11 }).join(), /^11 is less than .*; write at least 15$/);
    assert.match(find({ podsPerCore: 1 }).join(), /^1 allows fewer pods .*; write at least 8$/);
  });
});

describe("findFieldProblems", () => {
  const decisions = { any: free, "a.b.c": only([true], "is wrong") };
  const find = (fields: Readonly<Record<string, unknown>>): string[] =>
    findFieldProblems("Kind", decisions, fields).map(
      ({ path, message }) => `${path.join(".")}: ${message}`,
    );

  it("checks fields inside objects, and reports all problems", () => {
    assert.deepEqual(find({ any: { x: 1 }, a: { b: { c: true } } }), []);
    assert.deepEqual(find({ a: { b: { c: false, d: 1 } }, e: 2 }), [
      "a.b.c: false is wrong",
      "a.b.d: is not a field of Kind that this release knows; correct its name or leave it out",
      "e: is not a field of Kind that this release knows; correct its name or leave it out",
    ]);
  });

  it("refuses a value in the place of an object", () => {
    assert.deepEqual(find({ a: "x" }), ['a: "x" is not an object; write its fields']);
  });
});

describe("lists in flags", () => {
  it("may be texts with commas, and must include or exclude entries", () => {
    const needs = including("b", "lacks b");
    for (const value of ["a,b", ["a", "b"], ["x", "a,b"]])
      assert.equal(needs.findProblem(value), undefined);
    assert.equal(needs.findProblem("a"), '"a" lacks b');
    const without = excluding(["b"], (entry) => `has ${entry}`);
    assert.equal(without.findProblem("a"), undefined);
    assert.equal(without.findProblem("a,b"), '"a,b" has b');
  });

  it("have no empty entries", () => {
    const decisions = { list: { ...free, merge: ["one"] } };
    assert.deepEqual(addNeededEntries(decisions, { list: "" }), { list: "one" });
    assert.deepEqual(addNeededEntries(decisions, { list: "mine," }), { list: "mine,one" });
  });

  it("get the entries that the program needs, once", () => {
    const decisions = { list: { ...free, merge: ["one", "two"] }, other: free };
    assert.deepEqual(addNeededEntries(decisions, { list: "mine", other: 3 }), {
      list: "mine,one,two",
      other: 3,
    });
    assert.deepEqual(addNeededEntries(decisions, { list: ["two", "one"] }), {
      list: ["two", "one"],
    });
    assert.deepEqual(addNeededEntries(decisions, {}), {});
  });
});

describe("secondsOf", () => {
  it("reads durations of Go, and nothing else", () => {
    assert.deepEqual(
      ["1m30s", "2h", "500ms", "1.5h", "0s"].map(secondsOf),
      [90, 7200, 0.5, 5400, 0],
    );
    assert.deepEqual(["", "5", "m", "5x"].map(secondsOf), [
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
