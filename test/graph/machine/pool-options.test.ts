import { strict as assert } from "node:assert";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { type Row } from "../../support/graph/graph.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest } from "../../support/config/spec.js";
import { nonEmpty } from "../../support/non-empty.js";

const build = (over: Partial<ClusterArgs>): Promise<readonly Row[]> =>
  clusterRows({ ...smallest, ...over });
const row = (rows: readonly Row[], name: string): Row => {
  const found = rows.find((one) => one.name === name);
  assert.ok(found, name);
  return found;
};
const server = (rows: readonly Row[], machine: string): Row["inputs"] =>
  row(rows, `dev-${machine}-server`).inputs;
const stdin = (rows: readonly Row[], name: string): string =>
  renderSentScript(row(rows, name).inputs);

const gpu = {
  flavor: "large",
  count: 2,
  image: "debian-13",
  zones: ["zone-c"],
  spread: "hard" as const,
  tags: ["gpu"],
  metadata: { owner: "me" },
  schedulerHints: { query: "[]" },
  labels: { "node-role.kubernetes.io/gpu": "" },
  taints: [{ key: "gpu", effect: "NoSchedule" as const }],
  nodes: { "1": { flavor: "huge", zone: "zone-d", image: "debian-14", generation: 7 } },
};
const general = { flavor: "medium", count: 1 };

describe("a pool with machine options", () => {
  let rows: readonly Row[];
  let usual: readonly Row[];
  before(async () => {
    rows = await build({ workers: { general, gpu } });
    usual = await build({ workers: { general } });
  });

  it("applies image, flavor and zone of the pool and of single machines", () => {
    const of = ({ imageId, flavorId, availabilityZone }: Row["inputs"]) => [
      ...[imageId, flavorId, availabilityZone],
    ];
    assert.deepEqual(
      ["workers-gpu-0", "workers-gpu-1", "workers-general-0"].map((one) => of(server(rows, one))),
      [
        ["image-debian-13", "flavor-large", "zone-c"],
        ["image-debian-14", "flavor-huge", "zone-d"],
        ["image-id", "flavor-medium", undefined],
      ],
    );
  });

  it("passes tags, metadata and scheduler hints to Nova", () => {
    const { tags, metadata, schedulerHints } = server(rows, "workers-gpu-1");
    assert.deepEqual(tags, ["gpu"]);
    assert.deepEqual(metadata, {
      owner: "me",
      "stackadm-cluster": "dev",
      "stackadm-identity": "0123456789ab",
      "stackadm-generation": "7",
    });
    assert.deepEqual(schedulerHints, [
      { group: "dev-workers-gpu-server-group-id", additionalProperties: { query: "[]" } },
    ]);
    const group = row(rows, "dev-workers-gpu-server-group");
    assert.equal(group.inputs["policies"], "anti-affinity");
  });

  it("replaces only the machine whose generation is raised", () => {
    const trigger = (name: string) => row(rows, `dev-${name}-server`).replacementTrigger;
    assert.deepEqual(["workers-gpu-0", "workers-gpu-1"].map(trigger), [0, 7]);
  });

  it("passes labels to the control plane and taints to the registration of nodes", () => {
    assert.match(
      stdin(rows, "dev-control-plane-0-init"),
      /^NODE_MARKS='dev-gpu node-role\.kubernetes\.io\/gpu= gpu=:NoSchedule'$/m,
    );
    assert.match(stdin(rows, "dev-workers-gpu-0-prepare"), /^REGISTER_TAINTS='gpu=:NoSchedule'$/m);
    assert.match(stdin(rows, "dev-workers-general-0-prepare"), /^REGISTER_TAINTS=''$/m);
  });

  it("does not change the machines of other groups", () => {
    const others = (some: readonly Row[]): readonly Row[] =>
      some.filter(({ name }) => /-(server|port|prepare|join|leave|server-group)$/.test(name));
    const names = new Set(others(usual).map(({ name }) => name));
    assert.deepEqual(
      others(rows).filter(({ name }) => names.has(name)),
      others(usual),
    );
  });

  it("changes no script of existing machines when a machine is added", async () => {
    const more = await build({ workers: { general, gpu: { ...gpu, count: 3 } } });
    const prepared = rows.filter(({ name }) => /-(prepare|init)$/.test(name));
    for (const { name, inputs } of nonEmpty(prepared))
      assert.deepEqual(row(more, name).inputs, inputs, name);
  });

  it("has no server group with spread none", async () => {
    const free = await build({ workers: { general: { ...general, spread: "none" } } });
    assert.ok(!free.some(({ name }) => name === "dev-workers-general-server-group"));
    assert.deepEqual(server(free, "workers-general-0")["schedulerHints"], []);
  });
});

describe("a machine with volumes", () => {
  let rows: readonly Row[];
  const disk = { size: 20, type: "fast", zone: "store" };
  before(async () => {
    rows = await build({
      controlPlane: { flavor: "medium", rootVolume: disk, etcdVolume: { size: 5 } },
      workers: { general: { ...general, runtimeVolume: { size: 25 } } },
    });
  });
  const device = (name: string, bootIndex: number) => ({
    uuid: `dev-${name}-volume-id`,
    sourceType: "volume",
    destinationType: "volume",
    bootIndex,
    deleteOnTermination: false,
  });

  it("boots from its root volume and has the other volumes from the first boot on", () => {
    const root = row(rows, "dev-control-plane-0-root-volume");
    const { imageId, size, volumeType, availabilityZone, metadata, name } = root.inputs;
    assert.deepEqual(
      [imageId, size, volumeType, availabilityZone, name],
      ["image-id", 20, "fast", "store", "dev-control-plane-0-root"],
    );
    assert.deepEqual(metadata, {
      "stackadm-cluster": "dev",
      "stackadm-identity": "0123456789ab",
    });
    const first = server(rows, "control-plane-0");
    assert.equal(first["imageId"], undefined);
    assert.deepEqual(first["blockDevices"], [
      device("control-plane-0-root", 0),
      device("control-plane-0-etcd", -1),
    ]);
  });

  it("boots from a local disk without a root volume", () => {
    const worker = server(rows, "workers-general-0");
    assert.equal(worker["imageId"], "image-id");
    assert.deepEqual(worker["blockDevices"], [
      {
        uuid: "image-id",
        sourceType: "image",
        destinationType: "local",
        bootIndex: 0,
        deleteOnTermination: true,
      },
      device("workers-general-0-runtime", -1),
    ]);
  });

  it("replaces volumes only with a raised generation", async () => {
    const name = "dev-workers-general-0";
    const volume = row(rows, `${name}-runtime-volume`);
    assert.equal(volume.replacementTrigger, 0);
    assert.deepEqual(volume.ignoreChanges, [
      "imageId",
      "metadata",
      "availabilityZone",
      "size",
      "volumeType",
    ]);
    assert.ok(!volume.deleteBeforeReplace, "the new one is there before the server goes");
    assert.ok(row(rows, `${name}-server`).ignoreChanges.includes("blockDevices"));
    const raised = await build({
      workers: { general: { ...general, generation: 1, runtimeVolume: { size: 25 } } },
    });
    assert.equal(row(raised, `${name}-runtime-volume`).replacementTrigger, 1);
  });

  it("creates volumes in the configured zone", async () => {
    const etcdVolume = { size: 5, zone: "{zone}" };
    const apart = await build({
      topology: "ha",
      zones: ["a", "b"],
      workers: { general: { ...general, count: 2 } },
      controlPlane: { flavor: "medium", etcdVolume },
    });
    const zoneOf = (position: number): unknown =>
      row(apart, `dev-control-plane-${String(position)}-etcd-volume`).inputs["availabilityZone"];
    assert.deepEqual([0, 1, 2].map(zoneOf), ["a", "b", "a"]);
  });

  it("receives the ID and mount point of each volume", () => {
    const id = (name: string): string => `dev-${name}-volume-id`;
    assert.ok(
      stdin(rows, "dev-control-plane-0-prepare").includes(
        `VOLUMES='root ${id("control-plane-0-root")}\netcd ${id("control-plane-0-etcd")} /var/lib/etcd 0700 kubelet'\n`,
      ),
    );
    assert.match(
      stdin(rows, "dev-workers-general-0-prepare"),
      /^VOLUMES='runtime .* containerd'$/m,
    );
  });
});
