import { strict as assert } from "node:assert";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { localContextOf } from "../../../components/lookup/local-context.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { fakeProject, startFakeCloud, type FakeCloud } from "../../support/cloud/fake-openstack.js";
import { graph, type Fields, type Row } from "../../support/graph/graph.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest } from "../../support/config/spec.js";

const authScope = "openstack:identity/getAuthScope:getAuthScope";
const noted = ["openstack:compute/instance:Instance", "command:remote:Command"];
const members = [0, 1, 2].map((position) => `dev-etcd-${String(position)}`);
const of = (
  generation: string,
  names: readonly string[] = members,
): Readonly<Record<string, string>> => Object.fromEntries(names.map((name) => [name, generation]));

describe("Rollout for etcd machines", () => {
  let cloud: FakeCloud;
  let made: string[];
  before(async () => {
    cloud = await startFakeCloud();
  });
  after(async () => {
    await cloud.close();
  });

  /**
   * Registers the cluster while these servers exist, and records the order in which the engine
   * receives servers and scripts.
   */
  const build = async (
    existing: Readonly<Record<string, string>>,
    { generation = 1, over = {} }: { generation?: number; over?: Partial<ClusterArgs> } = {},
  ): Promise<readonly Row[]> => {
    made = [];
    const servers = Object.entries(existing).map(([name, mark]) => ({
      id: name,
      name,
      metadata: { "stackadm-cluster": "dev", "stackadm-generation": mark },
    }));
    cloud.on("GET /compute/servers/detail", { body: { servers } });
    const note =
      (type: string) =>
      (inputs: Fields, name: string): Fields => {
        made.push(name);
        return cloudAnswers.outputs?.[type]?.(inputs, name) ?? {};
      };
    const { [authScope]: scope, ...lookups } = cloudAnswers.lookups ?? {};
    const etcd = { kind: "dedicated", flavor: "medium", generation } as const;
    const operator = localContextOf(cloud.environment());
    return graph(() => new Cluster("dev", { ...smallest, etcd, ...over, operator }), {
      ...cloudAnswers,
      outputs: { ...cloudAnswers.outputs, ...Object.fromEntries(noted.map((t) => [t, note(t)])) },
      lookups: {
        ...lookups,
        [authScope]: (inputs) => ({ ...scope?.(inputs), projectId: fakeProject }),
      },
    });
  };
  const precedes = (one: string, other: string): boolean => {
    assert.ok(made.includes(one) && made.includes(other), made.join(" "));
    return made.indexOf(one) < made.indexOf(other);
  };
  const named = (rows: readonly Row[], name: string): Row => {
    const found = rows.find((row) => row.name === name);
    assert.ok(found, name);
    return found;
  };

  it("replaces each machine after the previous member has joined", async () => {
    const rows = await build(of("0"));
    assert.ok(precedes("dev-etcd-0-member", "dev-etcd-1-server"));
    assert.ok(precedes("dev-etcd-1-member", "dev-etcd-2-server"));
    const triggers = members.map((name) => named(rows, `${name}-server`).replacementTrigger);
    assert.deepEqual(triggers, [1, 1, 1]);
  });

  it("keeps the host keys of all machines", async () => {
    const keys = async (generation: number): Promise<string[]> => {
      const rows = await build({}, { generation });
      return members.flatMap((name) =>
        renderSentScript(named(rows, `${name}-member`).inputs).match(/ssh-ed25519 AAAA\S+/g),
      ) as string[];
    };
    assert.deepEqual(await keys(1), await keys(0));
  });

  it("replaces all etcd machines before workers and before kubeadm init", async () => {
    const workers = { general: { flavor: "medium", count: 1, generation: 1 } };
    await build({ ...of("0"), "dev-general-0": "0" }, { over: { workers } });
    assert.ok(precedes("dev-etcd-2-member", "dev-workers-general-0-server"));
    assert.ok(precedes("dev-etcd-2-member", "dev-control-plane-0-init"));
    assert.ok(
      precedes("dev-control-plane-0-server", "dev-etcd-0-member"),
      "no control plane waits",
    );
  });

  it("creates new machines in parallel, and replaces others after a missing one", async () => {
    await build({});
    assert.ok(precedes("dev-etcd-2-server", "dev-etcd-0-member"));
    await build(of("0", members.slice(1)));
    assert.ok(precedes("dev-etcd-0-member", "dev-etcd-1-server"));
  });

  it("runs the first leave script on the second machine, and others on the first", async () => {
    const rows = await build({});
    const survivors = members.map((name) => {
      const { deletedWith, replaceWith } = named(rows, `${name}-leave`);
      assert.deepEqual(replaceWith, [named(rows, `${name}-server`).urn]);
      return /etcd-\d/.exec(deletedWith)?.[0];
    });
    assert.deepEqual(survivors, ["etcd-1", "etcd-0", "etcd-0"]);
  });

  it("registers the first leave script after the script that starts etcd", async () => {
    const rows = await build({});
    const [first, ...others] = members.map((name) => named(rows, `${name}-leave`).dependencies);
    assert.ok(first?.some((urn) => urn.endsWith("::dev-etcd-0-member")));
    assert.ok(others.flat().every((urn) => !urn.endsWith("-member")));
  });

  it("refuses to replace etcd machines and control planes in the same run", async () => {
    const controlPlane = { flavor: "medium", count: 3, generation: 1 };
    const planes = [0, 1, 2].map((position) => `dev-control-plane-${String(position)}`);
    await assert.rejects(
      build({ ...of("0"), ...of("0", planes) }, { over: { controlPlane } }),
      /INVALID_CONFIG.*\n.*etcd\.generation: 1 would replace dev-etcd-0, while dev-control-plane-0, /,
    );
  });
});
