import { strict as assert } from "node:assert";
import { Cluster } from "../../components/cluster.js";
import type { ClusterArgs } from "../../components/config/cluster-spec.js";
import { clusterRows } from "../support/graph/cluster-rows.js";
import { canaryCredential, canarySeed, cloudAnswers } from "../support/cloud/cloud-answers.js";
import { golden } from "../support/golden.js";
import { graph, type Row } from "../support/graph/graph.js";
import { clear, isSecret, plain } from "../support/graph/secrets.js";
import { renderSentScript } from "../support/graph/sent.js";
import { smallest } from "../support/config/spec.js";
import { nonEmpty } from "../support/non-empty.js";

const args: ClusterArgs = { ...smallest, zones: ["zone-a", "zone-b"], samples: true };
const build = (over: Partial<ClusterArgs> = {}): Promise<readonly Row[]> =>
  clusterRows({ ...args, ...over });
const short = (urn: string): string =>
  urn.split("::").slice(-2).join("::").split("$").at(-1) ?? urn;
const named = (rows: readonly Row[], name: string, type = ""): Row => {
  const found = rows.find((row) => row.name === name && row.type.includes(type));
  assert.ok(found, name);
  return found;
};
const ofType = (rows: readonly Row[], type: string): readonly Row[] =>
  rows.filter((row) => row.type.includes(type));
const instance = "openstack:compute/instance:Instance";

/** Returns one line per registration, without random values. */
const line = (row: Row): string => {
  const options = [
    row.dependencies.length > 0 && `after: ${row.dependencies.map(short).join(", ")}`,
    row.deletedWith && `deletedWith: ${short(row.deletedWith)}`,
    row.ignoreChanges.length > 0 && `ignoreChanges: ${row.ignoreChanges.join(", ")}`,
    row.replaceOnChanges.length > 0 && `replaceOnChanges: ${row.replaceOnChanges.join(", ")}`,
    row.replaceWith.length > 0 && `replaceWith: ${row.replaceWith.map(short).join(", ")}`,
    row.deleteBeforeReplace && "deleteBeforeReplace",
    row.hooks.length > 0 && `hooks: ${row.hooks.join(", ")}`,
  ].filter(Boolean);
  const inputs = Object.keys(row.inputs).sort().join(", ");
  return [
    `${row.type} ${row.name}`,
    `  parent: ${short(row.parent)}`,
    ...(inputs ? [`  inputs: ${inputs}`] : []),
    ...options.map((option) => `  ${String(option)}`),
  ].join("\n");
};

describe("the graph of a cluster", () => {
  let rows: readonly Row[];
  before(async () => {
    rows = await build();
  });

  it("matches the golden file", () => {
    golden("graph/dev.txt", `${rows.map(line).join("\n\n")}\n`);
  });

  it("is the same in a preview of an empty stack", async () => {
    const preview = await clusterRows(args, { preview: true });
    const keys = (some: readonly Row[]): string[] =>
      some.map(({ urn, custom, ignoreChanges, deletedWith, hooks }) =>
        [urn, custom, ignoreChanges, deletedWith, hooks].map(String).join(" "),
      );
    assert.deepEqual(keys(preview), keys(rows));
  });

  it("gives every resource a component as its parent", () => {
    for (const row of nonEmpty(
      rows.filter(({ type }) => !/^(pulumi:pulumi:Stack|stackadm:index)/.test(type)),
    ))
      assert.match(row.parent, /stackadm:\w+:\w+::[^:]+$/, row.name);
  });

  it("names every child after its parent", () => {
    for (const row of nonEmpty(rows)) {
      const parent = row.parent.split("::").at(-1) ?? "";
      if (!row.parent.includes("pulumi:pulumi:Stack") && row.parent !== "")
        assert.ok(row.name.startsWith(`${parent}-`), `${row.name} below ${parent}`);
    }
  });

  describe("machines", () => {
    it("alternate between the zones in each group", () => {
      const servers = ofType(rows, "compute/instance").map(({ inputs }) => [
        inputs["name"],
        inputs["availabilityZone"],
      ]);
      assert.deepEqual(servers, [
        ["dev-control-plane-0", "zone-a"],
        ["dev-general-0", "zone-a"],
        ["dev-general-1", "zone-b"],
      ]);
    });

    it("have security groups and routed ranges on the port, not on the server", () => {
      for (const { name, inputs } of nonEmpty(ofType(rows, "networking/port"))) {
        assert.deepEqual(inputs["allowedAddressPairs"], [
          { ipAddress: "10.244.0.0/16" },
          { ipAddress: "10.96.0.0/12" },
        ]);
        const role = name.includes("control-plane") ? "control-plane" : "worker";
        assert.deepEqual(inputs["securityGroupIds"], [
          "dev-firewall-node-id",
          `dev-firewall-${role}-id`,
        ]);
      }
      for (const { inputs } of ofType(rows, "compute/instance"))
        assert.equal(inputs["securityGroups"], undefined);
    });

    it("are replaced after a failed create, and never updated in place", () => {
      for (const row of nonEmpty(ofType(rows, "compute/instance"))) {
        assert.deepEqual(row.replaceOnChanges, ["#initerror"]);
        assert.ok(row.deleteBeforeReplace);
        assert.deepEqual([...row.ignoreChanges].sort(), [
          ...["availabilityZone", "blockDevices", "flavorId", "forceDelete", "imageId"],
          ...[
            "imageName",
            "keyPair",
            "metadata",
            "powerState",
            "schedulerHints",
            "tags",
            "userData",
          ],
        ]);
        assert.equal(row.inputs["configDrive"], true);
        // Explicit: it is in ignoreChanges, and a default would not count as one later.
        assert.equal(row.inputs["powerState"], "active");
        assert.equal(row.inputs["forceDelete"], true, "no soft deletion keeps its port in use");
      }
    });

    it("have a create timeout of 30 minutes", () => {
      for (const { timeouts } of nonEmpty(ofType(rows, "compute/instance")))
        assert.equal(timeouts.create, "30m");
    });

    it("have no floating IP, except for the first control plane", async () => {
      const found = await build({ externalNetwork: "0b1c2d3e-0000-4000-8000-000000000000" });
      const [one, ...more] = ofType(found, "networking/floatingIp");
      assert.deepEqual(more, []);
      assert.equal(one?.inputs["portId"], "dev-control-plane-0-port-id");
      assert.equal(one.inputs["pool"], "public");
      assert.deepEqual(one.inputs["valueSpecs"], { floating_network_id: "external-network-id" });
    });
  });

  describe("scripts", () => {
    const scripts = (): readonly Row[] => ofType(rows, "command:remote:Command");
    const stdin = (some: readonly Row[], name: string): string =>
      renderSentScript(named(some, name).inputs).replaceAll(/10\.0\.0\.\d+/g, "ADDRESS");

    it("number three for each worker and four for the control plane", () => {
      const count = (prefix: string, suffix = ""): number =>
        scripts().filter(({ name }) => name.startsWith(prefix) && name.endsWith(suffix)).length;
      for (const worker of ["dev-workers-general-0-", "dev-workers-general-1-"]) {
        assert.equal(count(worker), 3);
        assert.equal(count(worker, "-leave"), 1);
      }
      assert.equal(count("dev-control-plane-"), 4);
    });

    it("receive the server's ID and the name of the jump host", () => {
      for (const { name, inputs } of nonEmpty(scripts())) {
        const worker = /^dev-workers-(general-\d)-(prepare|join)$/.exec(name)?.[1];
        const hop = "dev-control-plane-0";
        const [first, own] = [`${hop}-server-id`, `dev-workers-${worker}-server-id`];
        const [id, path] = worker === undefined ? [first, first] : [own, `${own},${hop}`];
        assert.match(
          renderSentScript(inputs),
          new RegExp(`_ID='${id}'\nSERVER_PATH='${path}'`),
          name,
        );
      }
    });

    it("run again only on a machine with a new server", async () => {
      const first = "dev-workers-general-0";
      // After a refresh found the server deleted, its replacement has another ID.
      const ids = (name: string): string => `${name}-${name === `${first}-server` ? "new" : "id"}`;
      const after = await graph(() => new Cluster("dev", args), { ...cloudAnswers, ids });
      const changed = scripts().filter(({ name }) => stdin(after, name) !== stdin(rows, name));
      assert.deepEqual(
        changed.map(({ name }) => name),
        [`${first}-join`, `${first}-leave`, `${first}-prepare`],
      );
    });

    it("pin the host key on every hop", () => {
      for (const { name, inputs } of nonEmpty(scripts())) {
        const connection = inputs["connection"] as { value?: object };
        const hop = (isSecret(connection) ? connection.value : connection) as {
          hostKey?: unknown;
          proxy?: { hostKey?: unknown };
        };
        assert.match(plain(hop.hostKey), /^ssh-ed25519 AAAA/, name);
        if (/workers.*-(prepare|join)$/.test(name))
          assert.match(plain(hop.proxy?.hostKey), /^ssh-ed25519 AAAA/, name);
      }
    });

    it("have no triggers, and a delete script has no create command", () => {
      for (const { name, inputs } of nonEmpty(scripts())) {
        assert.equal(inputs["triggers"], undefined);
        const last = /-(teardown|leave)$/.test(name);
        assert.equal("delete" in inputs, last, name);
        assert.equal("create" in inputs, !last, name);
        assert.equal(inputs["addPreviousOutputInEnv"], false);
      }
    });

    it("show their commands, read secrets from standard input, and return only secrets", () => {
      for (const row of nonEmpty(scripts())) {
        const { stdin, environment, create, update, delete: last } = row.inputs;
        assert.equal(isSecret(stdin), /-(init|join)$/.test(row.name), row.name);
        assert.equal(environment, undefined);
        for (const command of [create, update, last])
          if (command !== undefined) assert.match(command as string, /^sudo -n bash/, row.name);
        // Only a control plane may begin a cluster, and only when it is created.
        assert.equal(update !== undefined, row.name.endsWith("-init"), row.name);
        assert.deepEqual([...row.secretOutputs].sort(), ["connection", "stderr", "stdout"]);
      }
    });

    it("keep their text on existing machines when a worker is added", async () => {
      const more = await build({ workers: { general: { flavor: "medium", count: 3 } } });
      for (const { name } of scripts()) assert.equal(stdin(more, name), stdin(rows, name), name);
      assert.equal(ofType(more, "command:remote:Command").length, scripts().length + 3);
    });

    it("remove a worker from the cluster before its server is deleted", () => {
      const leave = named(rows, "dev-workers-general-1-leave");
      assert.deepEqual(leave.replaceWith.map(short), [`${instance}::dev-workers-general-1-server`]);
      assert.ok(leave.deleteBeforeReplace);
      assert.ok(named(rows, "dev-workers-general-1-join").dependencies.includes(leave.urn));
      assert.match(leave.deletedWith, /dev-control-plane-0-server$/);
      const read = renderSentScript(leave.inputs);
      assert.match(read, /^NODE_NAME='dev-general-1'$/m);
      assert.match(read, /^LEAVING_SERVER='dev-workers-general-1-server-id'$/m);
    });
  });

  describe("secrets", () => {
    it("appear only in secret inputs", () => {
      for (const row of nonEmpty(rows)) {
        const text = clear(row.inputs);
        for (const canary of [canarySeed, canaryCredential, "CANARY-KEY", "BEGIN OPENSSH"])
          assert.ok(!text.includes(canary), `${row.name} shows ${canary}`);
        assert.ok(!text.includes(Buffer.from("CANARY-KEY").toString("base64")), row.name);
      }
    });

    it("include the user data, which holds the host key", () => {
      for (const { inputs } of nonEmpty(ofType(rows, "compute/instance")))
        assert.ok(isSecret(inputs["userData"]));
    });

    it("include an application credential without the operator's other roles", () => {
      const { inputs } = named(rows, "dev-credential-credential");
      assert.deepEqual(inputs["roles"], ["load-balancer_member", "member"]);
      assert.equal(inputs["unrestricted"], false);
    });
  });

  describe("workloads", () => {
    it("use a provider with the cluster's name and the API endpoint's kubeconfig", () => {
      const provider = named(rows, "dev-addons-provider");
      assert.equal(plain(provider.inputs["clusterIdentifier"]), "dev");
      assert.match(plain(provider.inputs["kubeconfig"]), /https:\/\/203\.0\.113\.7:6443/);
    });

    it("do not wait for workers, except the samples", () => {
      const waits = ofType(rows, "kubernetes:")
        .filter(({ dependencies }) => dependencies.some((urn) => urn.includes("join")))
        .map(({ name }) => name.replace("dev-addons-samples-", ""));
      assert.deepEqual(waits, ["web", "web-external", "web-internal"]);
      const teardown = named(rows, "dev-control-plane-teardown");
      assert.ok(teardown.dependencies.some((urn) => urn.endsWith("general-1-join")));
    });
  });

  it("deletes security group rules with their group", () => {
    for (const row of nonEmpty(ofType(rows, "secGroupRule"))) {
      const group = short(row.deletedWith).split("::").at(-1) ?? "";
      assert.equal(`${group}-id`, row.inputs["securityGroupId"]);
    }
  });

  it("refuses invalid arguments with all problems before any registration", async () => {
    const seen: string[] = [];
    await assert.rejects(
      graph(() => new Cluster("dev", { ...args, image: "", externalNetwork: "" }), {
        ...cloudAnswers,
        outputs: { "openstack:networking/network:Network": () => (seen.push("network"), {}) },
      }),
      /cluster\.image: [\s\S]*cluster\.externalNetwork: /,
    );
    assert.deepEqual(seen, []);
  });
});
