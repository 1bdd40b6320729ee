import { strict as assert } from "node:assert";
import { parseClusterSpec } from "../../../../components/config/cluster-spec.js";
import {
  buildPatchesBlock,
  renderPatchFiles,
} from "../../../../components/kubeadm/static-pod-patches.js";
import { smallest } from "../../../support/config/spec.js";

type Patches = Parameters<typeof renderPatchFiles>[0];

const written = (patches: unknown): Patches => {
  const result = parseClusterSpec({ ...smallest, kubernetes: { patches } });
  assert.ok("spec" in result, JSON.stringify(result));
  return result.spec.kubernetes.patches;
};
const filesOf = (patches: unknown, timeoutFactor = 1): Record<string, unknown> =>
  Object.fromEntries(
    renderPatchFiles(written(patches), timeoutFactor)
      .split("\n")
      .map((line) => line.split(" "))
      .map(([name = "", data = ""]) => [name, JSON.parse(Buffer.from(data, "base64").toString())]),
  );

const annotated = (value: string): object => ({ metadata: { annotations: { a: value } } });

describe("kubeadm patches", () => {
  it("are empty by default, so that no script runs", () => {
    assert.equal(renderPatchFiles(written({}), 1), "");
    assert.deepEqual(buildPatchesBlock(written({}), 1), {});
  });

  it("are files whose names contain target and type, as kubeadm requires", () => {
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
    assert.deepEqual(buildPatchesBlock(written(patches), 1), {
      patches: { directory: "/etc/kubernetes/stackadm-patches" },
    });
  });

  it("are applied in the written order, even more than ten", () => {
    const many = Array.from({ length: 12 }, (_, index) => ({ patch: annotated(String(index)) }));
    const files = filesOf({ "kube-apiserver": many });
    const sorted = Object.keys(files).sort();
    assert.deepEqual(
      sorted.map((name) => files[name]),
      many.map(({ patch }) => patch),
    );
  });

  it("give components of slow machines more time before a restart, and are applied before the user's patches", () => {
    const patch = (name: string) => ({
      spec: { containers: [{ name, livenessProbe: { failureThreshold: 24 } }] },
    });
    const own = { "kube-apiserver": [{ patch: annotated("a") }] };
    const files = filesOf(own, 3);
    assert.deepEqual(files, {
      "kube-apiserver-slow+strategic.json": patch("kube-apiserver"),
      "kube-controller-manager-slow+strategic.json": patch("kube-controller-manager"),
      "kube-scheduler-slow+strategic.json": patch("kube-scheduler"),
      "kube-apiserver0000+strategic.json": annotated("a"),
    });
    const ofApi = Object.keys(files).filter((name) => name.startsWith("kube-apiserver"));
    assert.deepEqual(ofApi.sort().at(-1), "kube-apiserver0000+strategic.json");
    assert.notDeepEqual(buildPatchesBlock(written({}), 3), {});
  });
});
