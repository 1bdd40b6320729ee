import { strict as assert } from "node:assert";
import { createImageTable, type OwnImages } from "../../../base/versions/container-images.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { type Row } from "../../support/graph/graph.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest } from "../../support/config/spec.js";

const args: ClusterArgs = {
  ...smallest,
  samples: true,
  metricsServer: true,
  blockStorage: { snapshots: true },
};
const build = (images?: OwnImages, over: Partial<ClusterArgs> = {}): Promise<readonly Row[]> =>
  clusterRows({ ...args, ...over, ...(images && { kubernetes: { images } }) });
const stdin = (rows: readonly Row[], name: string): string =>
  renderSentScript(rows.find((row) => row.name === name)?.inputs ?? {});
/** Returns the names of the rows whose inputs differ. */
const changed = (before: readonly Row[], after: readonly Row[]): string[] => {
  const text = (row: Row | undefined): string => JSON.stringify(row?.inputs);
  assert.deepEqual(
    after.map(({ name }) => name),
    before.map(({ name }) => name),
    "no row comes or goes",
  );
  return after.filter((row, index) => text(row) !== text(before[index])).map(({ name }) => name);
};

describe("graph: replaced images", () => {
  let usual: readonly Row[];
  before(async () => {
    usual = await build();
  });

  it("change only the workloads that run the images", async () => {
    const rows = await build({
      metricsServer: "own.example/ms:1",
      csiSnapshotter: "own.example/snapshotter:2",
    });
    assert.deepEqual(changed(usual, rows).sort(), [
      "dev-addons-metrics-server-deployment",
      "dev-addons-storage-controller",
    ]);
    const controller = JSON.stringify(
      rows.find(({ name }) => name === "dev-addons-storage-controller")?.inputs,
    );
    assert.match(controller, /own\.example\/snapshotter:2/);
    assert.ok(controller.includes(createImageTable("1.36.3").csiProvisioner));
  });

  it("are pulled early only by machines that run the image", async () => {
    const rows = await build({ cloudControllerManager: "own.example/ccm:1" });
    assert.deepEqual(changed(usual, rows).sort(), [
      "dev-addons-cloud-controller-daemon-set",
      "dev-control-plane-0-prepare",
    ]);
    assert.match(stdin(rows, "dev-control-plane-0-prepare"), /own\.example\/ccm:1/);
  });

  it("configure etcd and CoreDNS in kubeadm init", async () => {
    const rows = await build({
      etcd: "own.example/k/etcd:3.6.8-0",
      coreDns: "own.example/coredns:v1",
    });
    const init = stdin(rows, "dev-control-plane-0-init");
    assert.match(
      init,
      /etcd:\n {2}local:\n {4}imageRepository: own\.example\/k\n {4}imageTag: 3\.6\.8-0\n/,
    );
    assert.match(init, /dns:\n {2}imageRepository: own\.example\n {2}imageTag: v1\n/);
    assert.match(init, /^kubernetes\.images\.etcd own\.example\/k\/etcd:3\.6\.8-0'?$/m);
  });

  it("configure etcd on separate etcd machines, not on control planes", async () => {
    const apart = { topology: "ha", etcd: { kind: "dedicated", flavor: "medium" } } as const;
    const rows = await build({ etcd: "own.example/k/etcd:3.6.8-0" }, apart);
    assert.match(
      stdin(rows, "dev-etcd-0-member"),
      /imageRepository: own\.example\/k\n {4}imageTag: 3\.6\.8-0\n/,
    );
    assert.doesNotMatch(stdin(rows, "dev-control-plane-0-init"), /imageTag/);
  });
});
