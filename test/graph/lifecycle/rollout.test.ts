import { strict as assert } from "node:assert";
import { Cluster } from "../../../components/cluster.js";
import { WorkerPool } from "../../../components/worker-pool.js";
import { parseClusterSpec, type ClusterArgs } from "../../../components/config/cluster-spec.js";
import { localContextOf } from "../../../components/lookup/local-context.js";
import { getContainerdChecksum } from "../../../components/machine/containerd-values.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { fakeProject, startFakeCloud, type FakeCloud } from "../../support/cloud/fake-openstack.js";
import { graph, type Fields, type GraphOptions, type Row } from "../../support/graph/graph.js";
import { readSentScript } from "../../support/graph/sent.js";
import { smallest } from "../../support/config/spec.js";

const authScope = "openstack:identity/getAuthScope:getAuthScope";
const instance = "openstack:compute/instance:Instance";
const script = "command:remote:Command";
const member = "openstack:loadbalancer/member:Member";
const provider = "pulumi:providers:kubernetes";
const local = "command:local:Command";
const identity = "0123456789ab";

interface BuildOptions extends GraphOptions {
  /** ID of the project of the provider's credential. */
  readonly project?: string;
  /** If true, the program has no client for the cloud. */
  readonly alone?: boolean;
  /** Pools that the program adds to the cluster. */
  readonly added?: NonNullable<ClusterArgs["workers"]>;
  /** Arguments other than the pools. */
  readonly over?: Partial<ClusterArgs>;
  /** Outputs of the cluster in the state. */
  readonly recorded?: Fields;
}

describe("Rollout", () => {
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

  const exists = (...servers: readonly { name: string; generation?: string }[]): void => {
    cloud.on("GET /compute/servers/detail", {
      body: {
        servers: servers.map(({ name, generation }) => ({
          id: name,
          name,
          metadata: {
            "stackadm-cluster": "dev",
            "stackadm-identity": identity,
            ...(generation !== undefined && { "stackadm-generation": generation }),
          },
        })),
      },
    });
  };
  /**
   * Registers the cluster, and records the order in which the engine receives servers and joins.
   */
  const build = async (
    workers: ClusterArgs["workers"],
    { project = fakeProject, alone = false, over = {}, ...others }: BuildOptions = {},
  ): Promise<readonly Row[]> => {
    const { recorded, added = {}, ...more } = others;
    const operator = alone ? undefined : localContextOf(cloud.environment());
    const note =
      (type: string) =>
      (inputs: Fields, name: string): Fields => {
        made.push(name.replace(/^dev-workers-/, ""));
        return cloudAnswers.outputs?.[type]?.(inputs, name) ?? {};
      };
    const { [authScope]: scope, ...lookups } = cloudAnswers.lookups ?? {};
    return graph(
      () => {
        const args = { ...smallest, workers, samples: true, ...over, operator };
        const cluster = new Cluster("dev", args);
        for (const [name, pool] of Object.entries(added))
          new WorkerPool(name, { ...pool, cluster });
        return cluster;
      },
      {
        ...cloudAnswers,
        ...more,
        outputs: {
          ...cloudAnswers.outputs,
          ...Object.fromEntries(
            [instance, script, member, provider].map((type) => [type, note(type)]),
          ),
        },
        lookups: {
          ...lookups,
          [authScope]: (inputs) => ({ ...scope?.(inputs), projectId: project }),
          ...(recorded && {
            "pulumi:pulumi:readStackResourceOutputs": () => ({
              outputs: {
                "urn::dev": { type: Cluster.type, outputs: recorded },
                "urn::dev-identity": { type: local, outputs: { stdout: identity } },
              },
            }),
          }),
        },
      },
    );
  };
  const precedes = (one: string, other: string): boolean => {
    assert.ok(made.includes(one) && made.includes(other), made.join(" "));
    return made.indexOf(one) < made.indexOf(other);
  };
  const raised = { general: { flavor: "medium", count: 3, generation: 1 } };
  const general = [0, 1, 2].map((position) => `dev-general-${String(position)}`);

  it("replaces each machine after the previous machine has joined", async () => {
    exists(...general.map((name) => ({ name, generation: "0" })));
    await build(raised);
    assert.ok(precedes("general-0-join", "general-1-server"));
    assert.ok(precedes("general-1-join", "general-2-server"));
  });

  it("replaces each machine after the previous machine is in the load balancer of the ingress again", async () => {
    // The second machine has no server, so its turn comes first.
    exists(...[0, 2].map((one) => ({ name: `dev-general-${String(one)}`, generation: "0" })));
    await build(raised, { over: { ingress: { kind: "workers", pool: "general" } } });
    for (const name of ["http", "https"]) {
      const added = (position: number): string => `dev-ingress-member-${name}-${String(position)}`;
      assert.ok(precedes("general-1-join", added(1)));
      assert.ok(precedes(added(1), "general-0-server"));
      assert.ok(precedes(added(0), "general-2-server"));
    }
  });

  it("adds no dependencies between machines", async () => {
    exists(...general.map((name) => ({ name, generation: "0" })));
    const rows = await build(raised);
    const server = rows.find(({ name }) => name === "dev-workers-general-1-server");
    assert.ok(server);
    assert.deepEqual(
      server.dependencies.filter((urn) => urn.includes("general-0")),
      [],
    );
    assert.equal(server.replacementTrigger, 1);
    assert.equal((server.inputs["metadata"] as Fields)["stackadm-generation"], "1");
  });

  it("replaces the machines of a pool after those of the previous pool", async () => {
    exists({ name: "dev-a-0", generation: "0" }, { name: "dev-b-0", generation: "1" });
    const pool = { flavor: "medium", count: 1 };
    await build({ a: { ...pool, generation: 1 }, b: { ...pool, generation: 2 } });
    assert.ok(precedes("a-0-join", "b-0-server"));
  });

  it("replaces the machines of a pool that the program adds in the same order", async () => {
    exists(...["dev-a-0", "dev-b-0", "dev-b-1"].map((name) => ({ name, generation: "0" })));
    const pool = { flavor: "medium", count: 1, generation: 1 };
    await build({ a: pool }, { added: { b: { ...pool, count: 2 } } });
    assert.ok(precedes("a-0-join", "b-0-server"));
    assert.ok(precedes("b-0-join", "b-1-server"));
  });

  it("creates a missing machine of an added pool before the replacement of others", async () => {
    exists({ name: "dev-a-0", generation: "0" });
    const pool = { flavor: "medium", count: 1 };
    await build({ a: { ...pool, generation: 1 } }, { added: { b: pool } });
    assert.ok(precedes("b-0-join", "a-0-server"));
  });

  it("creates new machines in parallel", async () => {
    exists();
    await build(raised);
    assert.ok(precedes("general-2-server", "general-0-join"));
  });

  it("continues an interrupted rollout, and treats unmarked servers as older", async () => {
    exists(
      { name: "dev-general-0", generation: "1" },
      { name: "dev-general-1" },
      { name: "dev-general-2" },
    );
    await build(raised);
    assert.ok(precedes("general-0-join", "general-1-server"));
    assert.ok(precedes("general-1-join", "general-2-server"));
  });

  it("creates a missing machine before the replacement of others", async () => {
    exists({ name: "dev-general-0", generation: "0" }, { name: "dev-general-1", generation: "0" });
    await build(raised);
    assert.ok(precedes("general-2-join", "general-0-server"));
    assert.ok(precedes("general-0-join", "general-1-server"));
  });

  it("replaces machines in turn if the credential belongs to another project", async () => {
    exists();
    await build(raised, { project: "another" });
    assert.ok(precedes("general-0-join", "general-1-server"));
  });

  it("replaces machines in turn without a client for the cloud", async () => {
    exists();
    const asked = cloud.seen.length;
    await build(raised, { alone: true });
    assert.ok(precedes("general-0-join", "general-1-server"));
    assert.equal(cloud.seen.length, asked);
  });

  it("does not wait in a preview and shows each replacement", async () => {
    exists(...general.map((name) => ({ name, generation: "0" })));
    const rows = await build(raised, { preview: true });
    const servers = rows.filter(({ name }) => /general-\d-server$/.test(name));
    assert.deepEqual(
      servers.map(({ replacementTrigger }) => replacementTrigger),
      [1, 1, 1],
    );
  });

  it("replaces machines in turn when the user lowers the generation", async () => {
    exists(...general.map((name) => ({ name, generation: "1" })));
    await build({ general: { flavor: "medium", count: 3 } });
    assert.ok(precedes("general-0-join", "general-1-server"));
  });

  describe("for control planes", () => {
    const three = { flavor: "medium", count: 3, generation: 1 };
    const controlPlanes = [0, 1, 2].map((position) => `dev-control-plane-${String(position)}`);
    const of = (
      generation: string,
      names = controlPlanes,
    ): { name: string; generation: string }[] => names.map((name) => ({ name, generation }));
    const step = (position: number, what: string): string =>
      `dev-control-plane-${String(position)}-${what}`;
    const none = { general: { flavor: "medium", count: 1 } };

    it("replaces control planes in order, each after the previous ones have joined", async () => {
      exists(...of("0"), { name: "dev-general-0", generation: "0" });
      const rows = await build(none, { over: { controlPlane: three } });
      assert.ok(precedes(step(0, "init"), step(1, "server")));
      assert.ok(precedes(step(1, "join"), step(2, "server")));
      const triggers = controlPlanes.map(
        (name) => rows.find((row) => row.name === `${name}-server`)?.replacementTrigger,
      );
      assert.deepEqual(triggers, [1, 1, 1]);
    });

    it("replaces all control planes before the workers", async () => {
      exists(...of("0"), ...of("0", general));
      await build(raised, { over: { controlPlane: three } });
      assert.ok(precedes(step(2, "join"), "general-0-server"));
    });

    it("delays workers only if control planes and workers are replaced together", async () => {
      exists(...of("0"), ...of("0", general));
      await build(raised, { over: { controlPlane: { ...three, generation: 0 } } });
      assert.ok(precedes("general-0-server", step(2, "join")));
      made.length = 0;
      exists(...of("0"), ...of("1", general));
      await build(raised, { over: { controlPlane: three } });
      assert.ok(precedes("general-0-server", step(1, "server")));
    });

    it("creates a missing first control plane before the replacement of others", async () => {
      exists(...of("0", controlPlanes.slice(1)));
      await build(none, { over: { controlPlane: three } });
      assert.ok(precedes(step(0, "init"), step(1, "server")));
      assert.ok(precedes(step(1, "join"), step(2, "server")));
    });

    it("does not wait for new control planes or in a preview", async () => {
      exists();
      await build(none, { over: { controlPlane: three } });
      assert.ok(precedes(step(2, "server"), step(1, "join")));
      exists(...of("0"));
      made.length = 0;
      await build(none, { over: { controlPlane: three }, preview: true });
      assert.ok(precedes(step(2, "server"), step(0, "init")));
    });

    it("replaces all control planes before the Kubernetes provider is registered", async () => {
      exists(...of("0"));
      const rows = await build(none, { over: { controlPlane: three } });
      assert.ok(precedes(step(2, "join"), "dev-addons-provider"));
      const { dependencies = [] } = rows.find(({ type }) => type === provider) ?? {};
      assert.ok(!dependencies.some((urn) => urn.endsWith(step(2, "join"))), "not when all goes");
    });

    it("refuses to replace control planes if a later one is missing", async () => {
      exists(...of("0", controlPlanes.slice(0, 2)));
      await assert.rejects(
        build(none, { over: { controlPlane: three } }),
        /INVALID_CONFIG.*\n.*controlPlane\.generation: 1 would replace dev-control-plane-0, while there is no dev-control-plane-2; write 0 again/,
      );
      assert.deepEqual(
        made.filter((name) => name.endsWith("-server")),
        [],
      );
    });
  });

  describe("for kubelet fields", () => {
    const over = {
      controlPlane: { flavor: "medium", count: 3 },
      kubernetes: { kubelet: { maxPods: 50 } },
    } as const;
    const workers = { general: { flavor: "medium", count: 2 } };
    const last = "dev-control-plane-2-join";

    it("applies the fields to all control planes before existing workers", async () => {
      exists({ name: "dev-general-0", generation: "0" });
      await build(workers, { over });
      assert.ok(precedes(last, "general-0-join"));
      assert.ok(precedes("general-1-join", last), "one that does not exist yet does not wait");
    });

    it("does not delay workers without a kubelet field", async () => {
      exists({ name: "dev-general-0", generation: "0" });
      await build(workers, { over: { controlPlane: over.controlPlane } });
      assert.ok(precedes("general-0-join", last));
    });

    it("applies the fields to kept machines before the replacement of others", async () => {
      exists({ name: "dev-a-0", generation: "0" }, { name: "dev-b-0", generation: "0" });
      const pool = { flavor: "medium", count: 1 };
      const { kubernetes } = over;
      await build({ a: { ...pool, generation: 1 }, b: pool }, { over: { kubernetes } });
      assert.ok(precedes("b-0-join", "a-0-server"));
    });
  });

  describe("for containerd", () => {
    const controlPlane = { flavor: "medium", count: 3 };
    const workers = { general: { flavor: "medium", count: 3 } };
    const last = "dev-control-plane-2-join";
    const prepared = (machine: string): string => `${machine}-prepare`;
    const checksumOf = (kubernetes: ClusterArgs["kubernetes"]): string => {
      const result = parseClusterSpec({ ...smallest, controlPlane, workers, kubernetes });
      assert.ok("spec" in result);
      return getContainerdChecksum(result.spec);
    };
    const changed = { images: { pause: "registry.example/pause:3.10.9" } };
    const existing = ["dev-control-plane-0", "dev-control-plane-1", "dev-control-plane-2"];
    beforeEach(() => {
      exists(...[...existing, ...general.slice(0, 2)].map((name) => ({ name, generation: "0" })));
    });

    it("changes the configuration on one machine after the other, control planes first", async () => {
      const recorded = { containerdChecksum: checksumOf({}) };
      await build(workers, { over: { controlPlane, kubernetes: changed }, recorded });
      assert.ok(precedes("dev-control-plane-0-init", prepared("dev-control-plane-1")));
      assert.ok(precedes("dev-control-plane-1-join", prepared("dev-control-plane-2")));
      assert.ok(precedes(last, prepared("general-0")));
      assert.ok(precedes("general-0-join", prepared("general-1")));
      assert.ok(precedes(prepared("general-2"), last), "a new machine does not wait");
    });

    it("prepares machines together if the configuration is recorded or unknown, and in a preview", async () => {
      const former = { containerdChecksum: checksumOf({}) };
      const over = { controlPlane, kubernetes: changed };
      for (const options of [
        { recorded: { containerdChecksum: checksumOf(changed) } },
        { recorded: {} },
        { recorded: former, preview: true },
      ]) {
        made.length = 0;
        await build(workers, { over, ...options });
        assert.ok(precedes(prepared("general-1"), "dev-control-plane-0-init"));
      }
    });

    it("fetches packages of another generation on all machines before any machine changes", async () => {
      const kubernetes = { packages: { containerd: { generation: 1 } } };
      const recorded = { containerdChecksum: checksumOf({}) };
      const rows = await build(workers, { over: { controlPlane, kubernetes }, recorded });
      assert.ok(precedes(prepared("general-1"), "dev-control-plane-0-init"));
      assert.ok(precedes(last, "general-0-join"));
      assert.ok(precedes("general-0-join", "general-1-join"));
      const sent = rows
        .filter(({ name }) => /-(prepare|init|join)$/.test(name))
        .map(({ inputs }) => readSentScript(inputs).values["CONTAINERD_GENERATION"]);
      assert.deepEqual(sent, Array(12).fill("1"));
    });
  });
});
