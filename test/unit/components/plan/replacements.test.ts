import { strict as assert } from "node:assert";
import { parseClusterSpec, type ClusterArgs } from "../../../../components/config/cluster-spec.js";
import { findReplacementProblems } from "../../../../components/plan/replacements.js";
import { smallest } from "../../../support/config/spec.js";

type Group = Partial<ClusterArgs["controlPlane"]>;

/**
 * Returns the messages about control planes, for existing servers of these generations; undefined:
 * no server.
 */
const said = (
  controlPlane: Group,
  made: readonly (string | undefined)[],
  over: Partial<ClusterArgs> = {},
  others: Readonly<Record<string, string>> = {},
): string[] => {
  const result = parseClusterSpec({
    ...smallest,
    name: "dev",
    workers: { general: { flavor: "medium", count: 2 } },
    ...over,
    controlPlane: { ...smallest.controlPlane, ...controlPlane },
  });
  assert.ok("spec" in result, JSON.stringify(result));
  const servers = made.flatMap((generation, position): [string, string][] =>
    generation === undefined ? [] : [[`dev-control-plane-${String(position)}`, generation]],
  );
  const existing = new Map([...servers, ...Object.entries(others)]);
  return findReplacementProblems(result.spec, existing).map(
    ({ path, message }) => `${path}: ${message}`,
  );
};
const path = "cluster.controlPlane.generation";

describe("replacement of control planes", () => {
  it("is allowed for three or five control planes, all or some", () => {
    assert.deepEqual(said({ count: 3, generation: 1 }, ["0", "0", "0"]), []);
    assert.deepEqual(said({ count: 5, generation: 1 }, ["0", "0", "0", "0", "0"]), []);
    assert.deepEqual(said({ count: 3, generation: 0 }, ["1", "1", "0"]), [], "back again");
    const one = { count: 3, nodes: { "1": { generation: 4 } } };
    assert.deepEqual(said(one, ["0", "0", "0"]), []);
  });

  it("is not checked if no control plane is replaced: created, added, removed or restored", () => {
    assert.deepEqual(said({ count: 1, generation: 1 }, []), []);
    assert.deepEqual(said({ count: 3, generation: 1 }, ["1"]), []);
    assert.deepEqual(said({ count: 1, generation: 1 }, ["1", "1", "1"]), []);
    assert.deepEqual(said({ count: 1, generation: 1 }, ["1", "0", "0"]), []);
    assert.deepEqual(said({ count: 3, generation: 1 }, ["1", undefined, "1"]), []);
  });

  it("is refused for the only control plane, because the cluster would be lost", () => {
    assert.deepEqual(said({ generation: 1 }, ["0"]), [
      `${path}: 1 would replace dev-control-plane-0, the only control plane, and the cluster would be lost with it; write 0 again, scale to 3 control planes first, or destroy the cluster and create it again`,
    ]);
    assert.deepEqual(said({}, ["2"]).length, 1);
    const one = { nodes: { "0": { generation: 1 } } };
    assert.match(said(one, ["0"])[0] ?? "", /^cluster\.controlPlane\.nodes\.0\.generation: 1 /);
  });

  it("is refused while control planes would be removed in the same run or an earlier roll is unfinished", () => {
    const sentence = `${path}: 1 would replace dev-control-plane-0, while dev-control-plane-1, dev-control-plane-2 would be removed; write 0 again, or 3 as controlPlane.count until all are replaced`;
    assert.deepEqual(said({ generation: 1 }, ["0", "0", "0"]), [sentence]);
    const broken = said({ count: 3, generation: 1 }, ["1", "0", "0", "0", "0"]);
    assert.deepEqual(
      broken.map((one) => one.split(": ")[0]),
      [1, 2].map((position) => `cluster.controlPlane.nodes.${String(position)}.generation`),
    );
    assert.ok(broken[0]?.endsWith("or 5 as controlPlane.count until all are replaced"));
  });

  it("is refused while control planes would join in the same run", () => {
    assert.deepEqual(said({ count: 3, generation: 1 }, ["0"]), [
      `${path}: 1 would replace dev-control-plane-0, while there is no dev-control-plane-1, dev-control-plane-2; write 0 again, run \`up --refresh\`, and raise it again afterwards`,
    ]);
  });

  it("is allowed if a missing control plane comes earlier in the order, and refused if it comes later", () => {
    assert.deepEqual(said({ count: 3, generation: 1 }, [undefined, "0", "0"]), []);
    assert.deepEqual(said({ count: 3, generation: 1 }, ["1", undefined, "0"]), []);
    const [found, ...more] = said({ count: 3, generation: 1 }, ["1", "0", undefined]);
    assert.deepEqual(more, []);
    // With that generation in the settings, only this machine is not replaced.
    assert.match(found ?? "", /^cluster\.controlPlane\.nodes\.1\.generation: 1 .* write 0 again/);
    const held = { count: 3, generation: 1, nodes: { "1": { generation: 0 } } };
    assert.deepEqual(said(held, ["1", "0", undefined]), []);
  });

  it("is allowed if the recorded generation is unknown", () => {
    assert.deepEqual(said({ generation: 1 }, [""]), []);
  });
});

describe("replacement of etcd's machines", () => {
  type Nodes = NonNullable<ClusterArgs["etcd"]>["nodes"];
  const etcd = (generation: number, count = 3, nodes: Nodes = {}): Partial<ClusterArgs> => ({
    etcd: { kind: "dedicated", flavor: "medium", count, generation, nodes },
  });
  const members = (...made: readonly (string | undefined)[]): Record<string, string> =>
    Object.fromEntries(
      made.flatMap((one, position) =>
        one === undefined ? [] : [[`dev-etcd-${String(position)}`, one]],
      ),
    );
  const three = members("0", "0", "0");

  it("is allowed for three or five machines, also together with workers", () => {
    assert.deepEqual(said({}, ["0"], etcd(1), three), []);
    assert.deepEqual(said({}, ["0"], etcd(1, 5), members("0", "0", "0", "0", "1")), []);
    const raised = { general: { flavor: "medium", count: 1, generation: 1 } };
    const old = { ...three, "dev-general-0": "0" };
    assert.deepEqual(said({}, ["0"], { ...etcd(1), workers: raised }, old), []);
  });

  it("is allowed for a single machine, and refused for it if a later one is missing", () => {
    const one = etcd(0, 3, { "1": { generation: 1 } });
    assert.deepEqual(said({}, ["0"], one, three), []);
    const [found, ...more] = said({}, ["0"], one, members("0", "0", undefined));
    assert.match(found ?? "", /^cluster\.etcd\.nodes\.1\.generation: 1 would replace dev-etcd-1, /);
    assert.deepEqual(more, []);
    const held = etcd(1, 3, { "1": { generation: 0 } });
    assert.deepEqual(said({}, ["0"], held, members("1", "0", undefined)), []);
  });

  it("is refused for the only machine, because the data would be lost", () => {
    assert.deepEqual(said({}, ["0"], etcd(1, 1), members("0")), [
      "cluster.etcd.generation: 1 would replace dev-etcd-0, the only machine of etcd, and the cluster's data would be lost with it; write 0 again",
    ]);
  });

  it("is refused together with control planes, which need etcd and may be its SSH route", () => {
    assert.deepEqual(said({ count: 3, generation: 1 }, ["0", "0", "0"], etcd(1), three), [
      "cluster.etcd.generation: 1 would replace dev-etcd-0, while dev-control-plane-0, dev-control-plane-1, dev-control-plane-2 would be replaced in the same run; write 0 again, run `up`, and raise it in a separate run",
    ]);
  });

  it("is refused while a later machine is missing, and allowed if a missing machine comes earlier", () => {
    assert.deepEqual(said({}, ["0"], etcd(1), members("1", "0", undefined)), [
      "cluster.etcd.nodes.1.generation: 1 would replace dev-etcd-1, while there is no dev-etcd-2; write 0 again, run `up --refresh`, and raise it again afterwards",
    ]);
    assert.deepEqual(said({}, ["0"], etcd(1), members(undefined, "0", "0")), []);
  });
});

describe("replacement of a bastion", () => {
  const bastion = (generation: number): Partial<ClusterArgs> => ({
    access: "bastion",
    bastion: { flavor: "tiny", generation },
  });
  const old = { "dev-bastion-0": "0", "dev-general-0": "0", "dev-general-1": "0" };

  it("is allowed in a separate run", () => {
    assert.deepEqual(said({}, ["0"], bastion(1), old), []);
  });

  it("is refused while other machines leave or are replaced through the bastion", () => {
    const raised = { general: { flavor: "medium", count: 2, generation: 1 } };
    assert.deepEqual(said({}, ["0"], { ...bastion(1), workers: raised }, old), [
      "cluster.bastion.generation: 1 would replace the bastion, through which SSH reaches dev-general-0, dev-general-1, and these would be replaced or removed in the same run; write 0 again, run `up`, and raise it in a separate run",
    ]);
    assert.equal(said({}, ["0"], bastion(1), { ...old, "dev-general-2": "0" }).length, 1);
    assert.equal(said({ count: 3, generation: 1 }, ["0", "0", "0"], bastion(1), old).length, 1);
  });

  it("does not block other replacements if the bastion stays, is new or has an unknown generation", () => {
    const raised = { general: { flavor: "medium", count: 2, generation: 1 } };
    for (const generation of ["1", ""])
      assert.deepEqual(
        said(
          {},
          ["0"],
          { ...bastion(1), workers: raised },
          { ...old, "dev-bastion-0": generation },
        ),
        [],
      );
    const before = { "dev-general-0": "0", "dev-general-1": "0" };
    assert.deepEqual(said({}, ["0"], { ...bastion(1), workers: raised }, before), []);
  });
});
