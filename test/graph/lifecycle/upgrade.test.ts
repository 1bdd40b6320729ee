import { strict as assert } from "node:assert";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { localContextOf } from "../../../components/lookup/local-context.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { fakeProject, startFakeCloud, type FakeCloud } from "../../support/cloud/fake-openstack.js";
import { graph, type Fields, type GraphOptions, type Row } from "../../support/graph/graph.js";
import { smallest } from "../../support/config/spec.js";

const authScope = "openstack:identity/getAuthScope:getAuthScope";
const noted = [
  "openstack:compute/instance:Instance",
  "command:remote:Command",
  "pulumi:providers:kubernetes",
];

describe("the upgrade of Kubernetes", () => {
  let cloud: FakeCloud;
  const made: string[] = [];
  before(async () => {
    cloud = await startFakeCloud();
  });
  after(async () => {
    await cloud.close();
  });
  beforeEach(() => {
    made.length = 0;
  });

  const identity = "0123456789ab";
  const serversOf = (of: string, names: readonly string[]) =>
    names.map((name) => ({
      id: `${of}-${name}`,
      name: `dev-${name}`,
      metadata: {
        "stackadm-cluster": "dev",
        "stackadm-generation": "0",
        "stackadm-identity": of,
      },
    }));
  const exist = (servers: readonly object[]): void => {
    cloud.on("GET /compute/servers/detail", { body: { servers } });
  };
  const exists = (...names: readonly string[]): void => {
    exist(serversOf(identity, names));
  };
  /** Registers the cluster, with a reached version in the state, and records the order. */
  const build = async (
    reached: string | undefined,
    over: Partial<ClusterArgs> = {},
    more: GraphOptions = {},
    written?: string,
  ): Promise<readonly Row[]> => {
    const note =
      (type: string) =>
      (inputs: Fields, name: string): Fields => {
        made.push(name.replace(/^dev-(workers-)?/, ""));
        return cloudAnswers.outputs?.[type]?.(inputs, name) ?? {};
      };
    const { [authScope]: scope, ...lookups } = cloudAnswers.lookups ?? {};
    const state = {
      "urn::dev": { type: Cluster.type, outputs: { kubernetesVersion: reached } },
      "urn::dev-frozen": {
        type: "command:local:Command",
        outputs: { environment: { "kubernetes.version": written } },
      },
      "urn::dev-identity": { type: "command:local:Command", outputs: { stdout: identity } },
      "urn::other": { type: Cluster.type, outputs: { kubernetesVersion: "1.1.1" } },
    };
    const operator = localContextOf(cloud.environment());
    return graph(() => new Cluster("dev", { ...smallest, ...shape, ...over, operator }), {
      ...cloudAnswers,
      ...more,
      outputs: {
        ...cloudAnswers.outputs,
        ...Object.fromEntries(noted.map((type) => [type, note(type)])),
      },
      lookups: {
        ...lookups,
        "pulumi:pulumi:readStackResourceOutputs": () => ({ outputs: state }),
        [authScope]: (inputs) => ({ ...scope?.(inputs), projectId: fakeProject }),
      },
    });
  };
  const shape = {
    controlPlane: { flavor: "medium", count: 3 },
    workers: { general: { flavor: "medium", count: 3 } },
  };
  const controlPlanes = [0, 1, 2].map((position) => `control-plane-${String(position)}`);
  const last = "control-plane-2-join";
  const precedes = (one: string, other: string): boolean => {
    assert.ok(made.includes(one) && made.includes(other), made.join(" "));
    return made.indexOf(one) < made.indexOf(other);
  };

  it("covers all control planes before workers, and existing workers in turn", async () => {
    exists(...controlPlanes, "general-0", "general-1");
    await build("1.35.4");
    assert.ok(precedes("control-plane-0-init", "control-plane-1-join"));
    assert.ok(precedes(last, "general-0-join"));
    assert.ok(precedes("general-0-join", "general-1-join"));
    assert.ok(precedes(last, "general-2-join"));
    assert.ok(precedes("general-2-join", "general-1-join"));
    assert.ok(precedes("general-2-prepare", "control-plane-0-init"), "prepared at once");
  });

  it("is complete on all control planes before the Kubernetes provider is registered", async () => {
    exists(...controlPlanes, "general-0");
    const rows = await build("1.35.4");
    assert.ok(precedes(last, "addons-provider"));
    const { dependencies = [] } = rows.find(({ name }) => name === "dev-addons-provider") ?? {};
    assert.ok(!dependencies.some((urn) => urn.endsWith(last)), "not when all goes");
  });

  it("does not delay workers in a preview or if the version is reached or unknown", async () => {
    exists(...controlPlanes, "general-0", "general-1");
    for (const [reached, preview] of [
      ["1.36.3", false],
      [undefined, false],
      ["1.35.4", true],
    ] as const) {
      made.length = 0;
      await build(reached, {}, { preview });
      assert.ok(precedes("general-1-join", last), String(reached));
    }
  });

  it("registers the same resources as a run without an upgrade", async () => {
    exists(...controlPlanes, "general-0");
    const [upgraded, not] = [await build("1.35.4"), await build("1.36.3")].map((rows) =>
      rows.map(({ name, type }) => `${type} ${name}`).sort(),
    );
    assert.deepEqual(upgraded, not);
  });

  it("is complete on all other nodes before a worker is replaced", async () => {
    exists(...controlPlanes, "general-0", "general-1");
    const nodes = { "0": { generation: 1 } };
    await build("1.35.4", { workers: { general: { ...shape.workers.general, nodes } } });
    assert.ok(precedes(last, "general-0-server"));
    assert.ok(precedes("general-1-join", "general-0-server"));
  });

  it("is refused if a control plane is missing, unless the upgrade has begun", async () => {
    exists(...controlPlanes.slice(1));
    await assert.rejects(
      build("1.35.4", {}, {}, "1.35.4"),
      /cluster\.kubernetes\.version: cannot be installed while there is no dev-control-plane-0; write/,
    );
    assert.ok(!made.some((name) => name.endsWith("-init")));
    await build("1.35.4", {}, {}, "1.36.3");
    assert.ok(precedes("control-plane-0-init", last));
  });

  it("ignores servers of another cluster with the same name", async () => {
    const theirs = serversOf("ba9876543210", controlPlanes);
    exist([...serversOf(identity, ["control-plane-0", "general-0"]), ...theirs]);
    const alone = { controlPlane: { ...shape.controlPlane, count: 1 } };
    await build("1.35.4", alone, {}, "1.35.4");
    assert.ok(precedes("control-plane-0-init", "general-0-join"));
    exist(theirs);
    await build("1.35.4", { controlPlane: { ...alone.controlPlane, generation: 1 } }, {}, "1.36.3");
    assert.ok(made.includes("control-plane-0-init"), "theirs is not one to replace");
  });

  it("is refused while control planes are to be replaced", async () => {
    exists(...controlPlanes);
    await assert.rejects(
      build("1.35.4", { controlPlane: { ...shape.controlPlane, generation: 1 } }),
      /cluster\.kubernetes\.version: cannot be installed while dev-control-plane-0, .* would be replaced/,
    );
    assert.deepEqual(
      made.filter((name) => name.endsWith("-init")),
      [],
    );
  });
});
