import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  compareVersions,
  kubernetesMinors,
  getMinorVersion,
} from "../../../../base/versions/pinned-versions.js";
import {
  findUpgradeProblems,
  type ClusterBeforeUpgrade,
} from "../../../../components/plan/upgrades.js";
import type { ClusterArgs } from "../../../../components/config/cluster-spec.js";
import { smallest, specOf } from "../../../support/config/spec.js";

const said = (
  version: string,
  before: Partial<ClusterBeforeUpgrade>,
  over: ClusterArgs | object = {},
): string[] =>
  findUpgradeProblems(specOf({ kubernetes: { version }, ...over }), {
    written: before.reached,
    reached: undefined,
    existing: new Map(),
    ...before,
  }).map(({ path, message }) => `${path}: ${message}`);

/** Versions of all supported minor versions. */
const versions = fc
  .tuple(fc.constantFrom(...Object.keys(kubernetesMinors)), fc.nat(40))
  .map(([minor, patch]) => `${minor}.${String(patch)}`);

describe("upgrade of Kubernetes", () => {
  it("allows the same or a later version of the same or the next minor", () => {
    fc.assert(
      fc.property(versions, versions, (version, reached) => {
        const [wanted, had] = [version, reached].map((one) =>
          Number(getMinorVersion(one).split(".")[1]),
        );
        assert.ok(wanted !== undefined && had !== undefined);
        const possible = compareVersions(version, reached) >= 0 && wanted - had <= 1;
        assert.equal(said(version, { reached }).length, possible ? 0 : 1);
      }),
    );
  });

  it("compares versions numerically and consistently", () => {
    assert.ok(compareVersions("1.36.10", "1.36.9") > 0);
    fc.assert(
      fc.property(versions, versions, (one, other) => {
        const [there, back] = [compareVersions(one, other), compareVersions(other, one)];
        assert.equal(Math.sign(there) + Math.sign(back), 0);
        assert.equal(there === 0, one === other);
      }),
    );
  });

  it("reports which version to write instead", () => {
    const path = "cluster.kubernetes.version";
    assert.deepEqual(said("1.36.2", { reached: "1.36.3" }), [
      `${path}: 1.36.2 is earlier than 1.36.3, and a downgrade is not possible; write 1.36.3, or a later release`,
    ]);
    assert.deepEqual(said("1.35.9", { reached: "1.36.3" }), [
      `${path}: 1.35.9 is earlier than 1.36.3, and a downgrade is not possible; write 1.36.3, or a later release`,
    ]);
    assert.deepEqual(said("1.36.3", { reached: "1.34.2" }), [
      `${path}: 1.36.3 is more than one minor after 1.34.2, and no minor can be skipped; write a release of 1.35 before`,
    ]);
  });

  it("is refused for a cluster without a completed run, unless the version is unchanged or unknown", () => {
    assert.deepEqual(said("1.36.3", { written: "1.36.2" }), [
      "cluster.kubernetes.version: 1.36.3 is not possible until an `up` of this release has finished for this cluster; write 1.36.2 again, run `up`, and change it afterwards",
    ]);
    assert.deepEqual(said("1.36.3", { written: "1.36.3" }), []);
    assert.deepEqual(said("1.36.3", { written: undefined }), []);
  });

  it("may be corrected to any version that is not earlier than the machines' version", () => {
    const before = { written: "1.36.33", reached: "1.36.2" };
    assert.deepEqual(said("1.36.3", before), []);
    assert.deepEqual(said("1.36.2", before), []);
    assert.equal(said("1.36.1", before).length, 1);
  });

  describe("requires a separate run", () => {
    const three = { controlPlane: { ...smallest.controlPlane, count: 3 } };
    const servers = (...names: readonly string[]): ClusterBeforeUpgrade["existing"] =>
      new Map(names.map((name) => [`dev-${name}`, "0"]));
    const all = [0, 1, 2].map((position) => `control-plane-${String(position)}`);
    const reached = "1.36.2";

    it("without replacements of control planes or etcd's machines", () => {
      const raised = { controlPlane: { ...three.controlPlane, generation: 1 } };
      assert.deepEqual(said("1.36.3", { reached, existing: servers(...all) }, raised), [
        "cluster.kubernetes.version: cannot be installed while dev-control-plane-0, dev-control-plane-1, dev-control-plane-2 would be replaced; write the generation again in which they were made, run `up`, and raise it afterwards",
      ]);
      const etcd = { kind: "dedicated", flavor: "medium", generation: 1 } as const;
      const existing = servers("control-plane-0", "etcd-0", "etcd-1", "etcd-2");
      assert.match(
        said("1.36.3", { reached, existing }, { etcd })[0] ?? "",
        /dev-etcd-0, .* replaced/,
      );
      // Also refused while an upgrade is unfinished, although the version does not change.
      const written = "1.36.3";
      const before = { written, reached, existing: servers(...all) };
      assert.equal(said(written, before, raised).length, 1);
      assert.equal(said(written, { ...before, reached: written }, raised).length, 0);
    });

    it("without leaving control planes, and without missing ones that precede existing ones", () => {
      assert.match(
        said("1.36.3", { reached, existing: servers(...all) })[0] ?? "",
        /while dev-control-plane-1, dev-control-plane-2 would be removed; write the former count again/,
      );
      const [, ...others] = all;
      assert.match(
        said("1.36.3", { reached, existing: servers(...others) }, three)[0] ?? "",
        /while there is no dev-control-plane-0; write the former version again, run `up --refresh`/,
      );
      const begun = { written: "1.36.3", reached, existing: servers(...others) };
      assert.deepEqual(said("1.36.3", begun, three), [], "it comes back with the new version");
    });

    it("but not without changes of workers or additional control planes", () => {
      const existing = new Map([...servers("control-plane-0"), ["dev-general-0", "0"]]);
      const workers = { general: { flavor: "medium", count: 3, generation: 1 } };
      assert.deepEqual(said("1.36.3", { reached, existing }, { ...three, workers }), []);
    });
  });
});
