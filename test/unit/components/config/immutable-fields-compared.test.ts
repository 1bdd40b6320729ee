import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  findFrozenValueChanges,
  renderFrozenValues,
  collectFrozenValues,
} from "../../../../components/config/immutable-fields.js";
import { smallest, specOf } from "../../../support/config/spec.js";

describe("findFrozenValueChanges", () => {
  const kept = { "network.pods": "10.244.0.0/16", podNetwork: "kube-router" };

  it("reports every difference with both values and what to write", () => {
    const now = { "network.pods": "10.250.0.0/16", podNetwork: "flannel" };
    assert.deepEqual(findFrozenValueChanges(kept, now), [
      {
        path: "cluster.network.pods",
        message:
          "10.244.0.0/16 cannot become 10.250.0.0/16 while the cluster exists; write 10.244.0.0/16 again, or destroy the cluster and create it again",
      },
      {
        path: "cluster.podNetwork",
        message:
          "kube-router cannot become flannel while the cluster exists; write kube-router again, or destroy the cluster and create it again",
      },
    ]);
  });

  it("reports that etcd moves to or from its own machines, or gets another number of them", () => {
    const stacked = collectFrozenValues(specOf());
    const three = collectFrozenValues(specOf({ etcd: { kind: "dedicated", flavor: "medium" } }));
    const five = collectFrozenValues(
      specOf({ etcd: { kind: "dedicated", flavor: "medium", count: 5 } }),
    );
    const paths = [
      findFrozenValueChanges(stacked, three),
      findFrozenValueChanges(three, stacked),
    ].map((found) => found.map(({ path }) => path));
    assert.deepEqual(paths, [["cluster.etcd.kind"], ["cluster.etcd.kind"]]);
    assert.deepEqual(
      findFrozenValueChanges(three, five).map(({ path }) => path),
      ["cluster.etcd.count"],
    );
  });

  it("reports another login user only if an earlier run recorded the user", () => {
    const now = collectFrozenValues(specOf({ ssh: { ...smallest.ssh, user: "ubuntu" } }));
    const { "ssh.user": before, ...earlier } = collectFrozenValues(specOf());
    assert.equal(before, "debian");
    assert.deepEqual(findFrozenValueChanges(earlier, now), []);
    const [other] = findFrozenValueChanges(collectFrozenValues(specOf()), now);
    assert.equal(other?.path, "cluster.ssh.user");
    assert.match(other.message, /^debian cannot become ubuntu .*; write debian again, or/);
    assert.equal(
      renderFrozenValues(now),
      renderFrozenValues(earlier),
      "no script runs again for it",
    );
  });

  it("ignores keys that only one side has", () => {
    const values = fc.dictionary(fc.string(), fc.string());
    fc.assert(
      fc.property(values, values, (before, others) => {
        const unknown = Object.entries(others).filter(([key]) => !Object.hasOwn(before, key));
        const more = { ...before, ...Object.fromEntries(unknown) };
        assert.deepEqual(findFrozenValueChanges(before, more), []);
        assert.deepEqual(findFrozenValueChanges(more, before), []);
      }),
    );
  });
});
