import { strict as assert } from "node:assert";
import { parseClusterSpec } from "../../../../components/spec/cluster-spec.js";
import { patchesBlock, patchFiles } from "../../../../components/kubeadm/patches.js";
import { smallest } from "../../../support/spec.js";

type Patches = Parameters<typeof patchFiles>[0];

const written = (patches: unknown): Patches => {
  const result = parseClusterSpec({ ...smallest, kubernetes: { patches } });
  assert.ok("spec" in result, JSON.stringify(result));
  return result.spec.kubernetes.patches;
};
const filesOf = (patches: unknown): Record<string, unknown> =>
  Object.fromEntries(
    patchFiles(written(patches))
      .split("\n")
      .map((line) => line.split(" "))
      .map(([name = "", data = ""]) => [name, JSON.parse(Buffer.from(data, "base64").toString())]),
  );

const annotated = (value: string): object => ({ metadata: { annotations: { a: value } } });

describe("kubeadm's patches", () => {
  it("are nothing where none is written, so that nothing runs for them", () => {
    assert.equal(patchFiles(written({})), "");
    assert.deepEqual(patchesBlock(written({})), {});
  });

  it("are files whose names say target and type, as kubeadm reads them", () => {
    const operations = [{ op: "remove", path: "/spec/priorityClassName" }];
    const patches = {
      etcd: [{ type: "merge", patch: annotated("e") }],
      "kube-scheduler": [{ patch: annotated("s\n---\n") }, { type: "json", patch: operations }],
    };
    assert.deepEqual(filesOf(patches), {
      "kube-scheduler0000+strategic.json": annotated("s\n---\n"),
      "kube-scheduler0001+json.json": operations,
      "etcd0000+merge.json": annotated("e"),
    });
    assert.deepEqual(patchesBlock(written(patches)), {
      patches: { directory: "/etc/kubernetes/stackadm-patches" },
    });
  });

  it("are applied in the order in which they are written, also the eleventh", () => {
    const many = Array.from({ length: 12 }, (_, index) => ({ patch: annotated(String(index)) }));
    const files = filesOf({ "kube-apiserver": many });
    const sorted = Object.keys(files).sort();
    assert.deepEqual(
      sorted.map((name) => files[name]),
      many.map(({ patch }) => patch),
    );
  });
});
