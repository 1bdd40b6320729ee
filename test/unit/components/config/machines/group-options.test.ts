import { strict as assert } from "node:assert";
import { parseClusterSpec } from "../../../../../components/config/cluster-spec.js";
import { golden } from "../../../../support/golden.js";
import { smallest } from "../../../../support/config/spec.js";

const parse = (pool: object, first: object = {}) =>
  parseClusterSpec({
    ...smallest,
    controlPlane: { flavor: "medium", ...first },
    workers: { gpu: { flavor: "medium", count: 2, ...pool } },
  });

const taint = { key: "example.org/gpu", effect: "NoSchedule" };
const accepted = {
  image: "debian-13",
  zones: ["zone-b"],
  spread: "hard",
  tags: ["gpu"],
  labels: { "example.org/gpu": "a100", "node-role.kubernetes.io/gpu": "" },
  taints: [taint, { ...taint, effect: "NoExecute", value: "yes" }],
  cloudInit: ["#cloud-config\n"],
  steps: { beforeKubeadm: "exit 0" },
  metadata: { owner: "me" },
  schedulerHints: { different_host: "0b1c2d3e" },
  nodes: { "1": { flavor: "huge", image: "other", zone: "zone-c", generation: 1 } },
};

/** Wrong values with the path that the error must name, one per row. */
const mistakes: readonly (readonly [string, object])[] = [
  ["image", { image: "" }],
  ["zones.0", { zones: [""] }],
  ["labels", { labels: ["gpu"] }],
  ["labels.-gpu", { labels: { "-gpu": "yes" } }],
  ["labels.kubernetes.io/hostname", { labels: { "kubernetes.io/hostname": "x" } }],
  ["labels.gpu", { labels: { gpu: "a,b" } }],
  ["taints", { taints: [taint, { ...taint, value: "other" }] }],
  ["taints.0.key", { taints: [{ ...taint, key: "stackadm.io/x" }] }],
  ["taints.0.effect", { taints: [{ ...taint, effect: "Never" }] }],
  ["tags.0", { tags: ["a,b"] }],
  ["metadata.stackadm-identity", { metadata: { "stackadm-identity": "x" } }],
  ["metadata.size", { metadata: { size: 1 } }],
  ["schedulerHints.group", { schedulerHints: { group: "x" } }],
  ["spread", { spread: "wide" }],
  ["rootVolume.size", { rootVolume: { size: 1 } }],
  ["runtimeVolume.size", { runtimeVolume: {} }],
  ["runtimeVolume.type", { runtimeVolume: { size: 25, type: "" } }],
  ["cloudInit.0", { cloudInit: ["packages: [htop]"] }],
  ["cloudInit.0", { cloudInit: ["#!/bin/sh\n--==stackadm==--\n"] }],
  ["cloudInit", { cloudInit: [`#!/bin/sh\n${"x".repeat(40_000)}`] }],
  // 19,900 characters of two bytes each.
  ["cloudInit", { cloudInit: [`#!/bin/sh\n${"\u03b1".repeat(19_900)}`] }],
  ["cloudInit.0", { cloudInit: ["#cloud-config-archive\n- {}\n"] }],
  ["cloudInit.0", { cloudInit: ["#cloud-config\npackages: [htop\n"] }],
  ["steps", { steps: { afterInit: "exit 0" } }],
  ["steps.afterKubeadm", { steps: { afterKubeadm: ["exit 0"] } }],
  ["nodes.first", { nodes: { first: { flavor: "huge" } } }],
  ["nodes.2", { nodes: { "2": { flavor: "huge" } } }],
  ["nodes.0", { nodes: { "0": { count: 3 } } }],
  ["nodes.0", { nodes: { "0": { etcdVolume: { size: 5 } } } }],
  ["nodes.0.rootVolume.size", { nodes: { "0": { rootVolume: { size: 1 } } } }],
];

describe("group options", () => {
  it("are empty by default", () => {
    const result = parse({});
    assert.ok("spec" in result);
    const { labels, taints, tags, metadata, schedulerHints, nodes, spread, image, zones } =
      result.spec.workers["gpu"] ?? assert.fail();
    assert.deepEqual(
      { labels, metadata, schedulerHints, nodes },
      {
        labels: {},
        metadata: {},
        schedulerHints: {},
        nodes: {},
      },
    );
    assert.deepEqual([taints, tags, spread, image, zones], [[], [], "soft", undefined, undefined]);
  });

  it("are accepted for workers and control planes, including a single machine's generation", () => {
    assert.ok("spec" in parse(accepted));
    assert.ok("spec" in parse({}, { ...accepted, count: 3 }));
  });

  it("are accepted for etcd's machines except node options, and for a bastion except options of several machines", () => {
    const { labels, taints, ...group } = accepted;
    const { spread, zones, steps, nodes, ...machine } = group;
    const disk = { size: 8, type: "fast" };
    const of = (etcd: object, bastion: object) =>
      parseClusterSpec({
        ...smallest,
        access: "bastion",
        bastion: { flavor: "tiny", ...bastion },
        etcd: { kind: "dedicated", flavor: "medium", ...etcd },
      });
    const volumes = { rootVolume: disk, runtimeVolume: disk, etcdVolume: disk };
    const one = { "1": { ...nodes["1"], ...volumes } };
    const result = of({ ...group, ...volumes, nodes: one }, { ...machine, rootVolume: disk });
    assert.ok("spec" in result, JSON.stringify(result));
    const problems = (some: ReturnType<typeof of>): string[] =>
      "problems" in some ? some.problems.map(({ path, message }) => `${path}: ${message}`) : [];
    const refused = problems(of({ labels, taints }, { spread, zones, steps }));
    assert.equal(refused.length, 2);
    assert.match(refused[1] ?? "", /^cluster\.etcd: does not know \["labels","taints"\]/);
    assert.match(refused[0] ?? "", /^cluster\.bastion: does not know \["spread","zones","steps"\]/);
    assert.deepEqual(problems(of({ nodes: { "3": {} } }, {})), [
      "cluster.etcd.nodes.3: is not one of the 3 machines, which count from 0; raise count, or leave it out",
    ]);
    const outside = problems(of({ nodes: { "0": { address: "192.0.2.1" } } }, {}));
    assert.match(
      outside[0] ?? "",
      /^cluster\.etcd\.nodes\.0\.address: 192\.0\.2\.1 is no machine's/,
    );
  });

  describe("with {zone} in a volume's zone", () => {
    const disk = { size: 8, zone: "store-{zone}" };
    const paths = (over: object): string[] => {
      const result = parseClusterSpec({ ...smallest, ...over });
      return "problems" in result ? result.problems.map(({ path }) => path) : [];
    };
    const pool = (over: object, count = 2) => ({
      workers: { gpu: { flavor: "medium", count, runtimeVolume: disk, ...over } },
    });

    it("take the machine's zone from any level", () => {
      assert.deepEqual(paths({ ...pool({}), zones: ["a"] }), []);
      assert.deepEqual(paths(pool({ zones: ["a"] })), []);
      assert.deepEqual(paths(pool({ nodes: { 0: { zone: "a" }, 1: { zone: "b" } } })), []);
      assert.deepEqual(paths(pool({}, 0)), [], "no machine, no volume");
    });

    it("report a machine without a zone once per group, or for the single machine", () => {
      const group = "cluster.workers.gpu.runtimeVolume.zone";
      assert.deepEqual(paths(pool({})), [group]);
      assert.deepEqual(paths({ ...pool({ zones: [] }), zones: ["a"] }), [group], "Nova chooses");
      assert.deepEqual(paths(pool({ nodes: { 1: { zone: "b" } } })), [group]);
      const one = { nodes: { 1: { rootVolume: disk, runtimeVolume: { size: 4 } } } };
      assert.deepEqual(paths(pool({ ...one, runtimeVolume: undefined })), [
        "cluster.workers.gpu.nodes.1.rootVolume.zone",
      ]);
    });

    it("take the bastion's own zone, or the first of the cluster", () => {
      const behind = (over: object, zones: readonly string[]) =>
        paths({
          access: "bastion",
          zones,
          bastion: { flavor: "tiny", rootVolume: disk, ...over },
        });
      assert.deepEqual(behind({}, ["a"]), []);
      assert.deepEqual(behind({ zone: "b" }, []), []);
      assert.deepEqual(behind({}, []), ["cluster.bastion.rootVolume.zone"]);
    });
  });

  it("count the control planes of a topology without a written count", () => {
    const first = { nodes: { "2": { flavor: "huge" } } };
    assert.ok("problems" in parse({}, first));
    const three = parseClusterSpec({
      ...smallest,
      topology: "ha",
      controlPlane: { flavor: "medium", ...first },
    });
    assert.ok("spec" in three);
  });

  for (const [path, over] of mistakes) {
    it(`refuse ${JSON.stringify(over)}`, () => {
      const result = parse(over);
      assert.ok("problems" in result);
      const paths = result.problems.map((problem) => problem.path);
      assert.deepEqual(paths, [`cluster.workers.gpu.${path}`]);
    });
  }

  it("produce error messages that say what to write", () => {
    const sentences = mistakes.flatMap(([, over]) => {
      const result = parse(over);
      return "problems" in result
        ? result.problems.map(({ path, message }) => `${path}: ${message}`)
        : [];
    });
    golden("spec-errors-of-groups.txt", `${sentences.join("\n")}\n`);
    for (const sentence of sentences)
      assert.match(sentence, /; .*(write|use|choose|it has|leave|put|raise|begin)/);
  });
});
