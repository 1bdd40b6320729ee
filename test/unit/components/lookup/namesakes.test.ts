import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import {
  findReplacementProblems,
  type ExistingGenerations,
} from "../../../../components/plan/replacements.js";
import { findUpgradeProblems } from "../../../../components/plan/upgrades.js";
import type { ClusterArgs } from "../../../../components/config/cluster-spec.js";
import { findServers } from "../../../../components/lookup/existing-servers.js";
import { localContextOf } from "../../../../components/lookup/local-context.js";
import type { ExistingServers } from "../../../../components/lookup/server-metadata.js";
import {
  fakeProject,
  startFakeCloud,
  type FakeCloud,
} from "../../../support/cloud/fake-openstack.js";
import { smallest, specOf } from "../../../support/config/spec.js";

const [own, another] = ["0123456789ab", "ba9876543210"];

interface Server {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Returns a server in Nova. Without an identity, it is of a release that had none. */
const server = (
  id: string,
  machine: string,
  identity?: string,
  marks: Readonly<Record<string, string>> = {},
): Server => ({
  id,
  name: `dev-${machine}`,
  status: "ACTIVE",
  metadata: {
    "stackadm-cluster": "dev",
    "stackadm-generation": "0",
    ...(identity !== undefined && { "stackadm-identity": identity }),
    ...marks,
  },
});

/** Returns the control planes of a cluster at these positions. */
const controlPlanes = (identity: string, ...positions: readonly number[]): Server[] =>
  positions.map((position) => {
    const machine = `control-plane-${String(position)}`;
    return server(`${identity}-${machine}`, machine, identity);
  });
const never = (id: string) => ({ "stackadm-never-answered": id });

describe("servers of another cluster of the same name", () => {
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
  });
  afterEach(async () => {
    await cloud.close();
    await pulumi.runtime.setMocks({ newResource: () => assert.fail(), call: () => ({}) });
  });

  const urn = (type: string, name: string): string =>
    `urn:pulumi:dev::stackadm::stackadm:index:Cluster$${type}::${name}`;
  const recorded = (type: string, name: string, outputs: object) => ({
    [urn(type, name)]: { type, outputs },
  });
  /** Returns a state with the identity of its cluster and these servers. */
  const state = (servers: readonly Server[], identity: string = own): object =>
    Object.assign(
      recorded("command:local:Command", "dev-identity", { stdout: identity }),
      ...servers.map(({ id, name }) =>
        recorded("openstack:compute/instance:Instance", `${name}-server`, { id }),
      ),
    ) as object;
  /**
   * Returns what a run knows of its servers, for these servers in Nova and this state; undefined:
   * the state is not available.
   */
  const found = async (
    held: object | undefined,
    ...servers: readonly Server[]
  ): Promise<ExistingServers> => {
    const call = () => {
      if (!held) throw new Error("no backend client is available");
      return { outputs: held };
    };
    const newResource = () => assert.fail();
    await pulumi.runtime.setMocks({ newResource, call }, "stackadm", "dev", false, "organization");
    cloud.on("GET /compute/servers/detail", { body: { servers } });
    const asked = () => cloud.seen.filter(({ path }) => path.includes("/compute/")).length;
    const before = asked();
    const marks = await findServers("dev", fakeProject, localContextOf(cloud.environment()));
    assert.ok(marks);
    assert.equal(asked() - before, 1, "nothing more is asked of the cloud");
    return marks;
  };
  const existing = (servers: ExistingServers): ExistingGenerations =>
    new Map(Object.entries(servers).map(([name, { generation }]) => [name, generation]));
  const specWith = (count: number, generation = 0, over: Partial<ClusterArgs> = {}) =>
    specOf({ controlPlane: { ...smallest.controlPlane, count, generation }, ...over });

  it("do not count as leaving control planes in an upgrade", async () => {
    const mine = controlPlanes(own, 0);
    const servers = await found(state(mine), ...mine, ...controlPlanes(another, 0, 1, 2));
    assert.deepEqual(Object.keys(servers), ["dev-control-plane-0"]);
    const before = { written: "1.36.2", reached: "1.36.2", existing: existing(servers) };
    const wanted = { ...specWith(1), kubernetes: { ...specWith(1).kubernetes, version: "1.36.3" } };
    assert.deepEqual(findUpgradeProblems(wanted, before), []);
  });

  it("do not count as leaving machines when control planes and a bastion get another generation", async () => {
    const mine = [...controlPlanes(own, 0, 1, 2), server("b", "bastion-0", own)];
    const all = [...mine, ...controlPlanes(another, 0, 1, 2, 3, 4)];
    const servers = existing(await found(state(mine), ...all));
    assert.deepEqual(findReplacementProblems(specWith(3, 1), servers), []);
    const bastion = { access: "bastion", bastion: { flavor: "tiny", generation: 1 } } as const;
    assert.deepEqual(findReplacementProblems(specWith(3, 0, bastion), servers), []);
  });

  it("do not hide that the cluster's own machine never answered", async () => {
    const mine = server("a", "general-0", own, never("a"));
    for (const theirs of [
      server("b", "general-0", another),
      server("b", "general-0", another, never("b")),
      server("b", "general-0"),
    ])
      for (const all of [
        [mine, theirs],
        [theirs, mine],
      ])
        assert.deepEqual(await found(state([mine]), ...all), {
          "dev-general-0": { id: "a", generation: "0", failed: true },
        });
  });

  it("do not hide that a control plane or a machine of etcd is missing", async () => {
    const mine = controlPlanes(own, 0, 1);
    const together = await found(state(mine), ...mine, ...controlPlanes(another, 0, 1, 2));
    const [problem] = findReplacementProblems(specWith(3, 1), existing(together));
    assert.match(problem?.message ?? "", /while there is no dev-control-plane-2; write 0 again/);
    const etcd = (identity: string, ...positions: readonly number[]) =>
      positions.map((n) => server(`${identity}-${String(n)}`, `etcd-${String(n)}`, identity));
    const members = [...controlPlanes(own, 0), ...etcd(own, 0, 1)];
    const servers = await found(state(members), ...members, ...etcd(another, 0, 1, 2));
    const dedicated = { etcd: { kind: "dedicated", flavor: "medium", generation: 1 } } as const;
    const [missing] = findReplacementProblems(specWith(1, 0, dedicated), existing(servers));
    assert.match(missing?.message ?? "", /while there is no dev-etcd-2; write 0 again/);
  });

  it("are ignored by a new cluster whose state is empty", async () => {
    assert.deepEqual(await found({}, ...controlPlanes(another, 0, 1, 2)), {});
  });

  it("are distinguished from servers that an interrupted first run left, by the identity in the state", async () => {
    const left = server("a", "control-plane-0", own);
    assert.deepEqual(await found(state([]), left, ...controlPlanes(another, 0, 1)), {
      "dev-control-plane-0": { id: "a", generation: "0", failed: false },
    });
    const begun = state([], "");
    assert.deepEqual(await found(begun, ...controlPlanes(another, 0, 1)), {});
  });

  it("are distinguished from servers in the state, even if those have another identity", async () => {
    const mine = server("a", "control-plane-0", "00000000000a", never("a"));
    const servers = await found(state([mine]), ...controlPlanes(another, 0, 1), mine);
    assert.deepEqual(servers, {
      "dev-control-plane-0": { id: "a", generation: "0", failed: true },
    });
  });

  it("are matched by name if the state cannot be queried", async () => {
    const names = ["dev-control-plane-0", "dev-control-plane-1"];
    const theirs = controlPlanes(another, 0, 1);
    assert.deepEqual(Object.keys(await found(undefined, ...theirs)), names);
  });
});
