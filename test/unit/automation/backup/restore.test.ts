import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { ClusterMachines, keepScript, keeping } from "../../../../automation/backup/machines.js";
import { lookAtMachines, restore } from "../../../../automation/backup/restore.js";
import type { RestorePlan } from "../../../../automation/backup/restore-plan.js";
import { Failure } from "../../../../base/failure.js";
import { FakeMachines, outputsOf, Scratch, unreachable } from "./support.js";

describe("a cluster that is brought back", () => {
  let scratch: Scratch;
  let machines: FakeMachines;
  beforeEach(() => {
    scratch = new Scratch();
    machines = new FakeMachines();
    machines.on("nodes", "dev-general-0 openstack:///id-of-dev-general-0\n");
    writeFileSync(scratch.in("snapshot.db"), "DATA");
    writeFileSync(scratch.in("archive.tgz"), "FILES");
  });
  afterEach(() => {
    scratch.remove();
  });

  const file = { bytes: 4, sha256: "" };
  const plan = (changes: Partial<RestorePlan> = {}): RestorePlan => {
    const controlPlanes = outputsOf(2).nodes.filter(({ role }) => role === "control-plane");
    return {
      backup: {
        ...{ directory: scratch.path, format: 1, takenAt: "2026-11-25T20:00:00Z", stack: "dev" },
        ...{ cluster: "dev", identities: [], archives: [] },
        snapshot: { file: "snapshot.db", machine: "", majority: true, ...file },
        state: { file: "state.json", ...file },
      },
      ...{ unpack: [], members: controlPlanes, apiServers: controlPlanes, without: [] },
      ...changes,
    };
  };
  let notes: string[];
  const servers = outputsOf(2, 2).nodes.map(({ name, serverId: id }) => ({
    ...{ id, name, status: "ACTIVE" },
  }));
  const goes = (of = plan(), requireGoingOn = (): void => undefined): Promise<void> => {
    notes = [];
    const onNote = (text: string): void => void notes.push(text);
    const target = { plan: of, outputs: outputsOf(2, 2), machines, servers };
    return restore(target, { requireGoingOn, onNote });
  };
  const words = (): string[] => [...new Set(machines.order.map((one) => one.split(" ")[0] ?? ""))];

  it("stops only when the data are ready everywhere, and starts API servers after etcd", async () => {
    const began = Date.now();
    await goes();
    assert.deepEqual(words(), [
      "load",
      "stop",
      "swap",
      "start-etcd",
      "start-api",
      "settle",
      "nodes",
    ]);
    assert.equal(machines.asked.length, 13);
    const loads = machines.asked.filter(({ words: [word] }) => word === "load");
    assert.deepEqual(
      loads.map(({ input, words: [, , members, bytes] }) => [input, members, bytes]),
      [0, 1].map(() => [
        ...[
          "DATA",
          "dev-control-plane-0=https://10.0.0.10:2380,dev-control-plane-1=https://10.0.0.11:2380",
        ],
        "4",
      ]),
    );
    // One token for all, and another one each time.
    const given = machines.asked.filter(({ words: [word] }) => /load|swap/.test(word ?? ""));
    const tokens = new Set(given.map(({ words: [, token] }) => token));
    assert.equal(tokens.size, 1);
    // Behind all that an earlier one gave, whatever the snapshot is.
    const revisions = new Set(loads.map(({ words: [, , , , revision] }) => Number(revision)));
    assert.equal(revisions.size, 1);
    const [revision = 0] = revisions;
    assert.ok(revision >= began * 1000 && revision <= Date.now() * 1000);
    machines.asked.length = 0;
    await goes();
    assert.ok(!tokens.has(machines.asked[0]?.words[1]));
  });

  it("gives etcd's machines the data, and stops API servers where they are", async () => {
    const { nodes, etcd } = outputsOf(1, 2);
    const apiServers = nodes.filter(({ role }) => role === "control-plane");
    await goes(plan({ members: etcd ?? [], apiServers }));
    const who = (word: string): string[] =>
      machines.asked.filter(({ words: [one] }) => one === word).map(({ machine }) => machine);
    assert.deepEqual(who("load"), ["dev-etcd-0", "dev-etcd-1"]);
    assert.deepEqual(who("stop"), ["dev-etcd-0", "dev-etcd-1", "dev-control-plane-0"]);
    assert.deepEqual(who("start-etcd"), ["dev-etcd-0", "dev-etcd-1"]);
    assert.deepEqual(who("start-api"), ["dev-control-plane-0"]);
  });

  it("unpacks archives before all else", async () => {
    const all = plan();
    const [machine] = all.members;
    assert.ok(machine);
    const unpacking = { ...all, unpack: [{ machine, file: "archive.tgz", sha256: "cafe" }] };
    await goes(unpacking);
    assert.deepEqual(machines.asked[0], {
      ...{ machine: "dev-control-plane-0", words: ["unpack", "cafe"], input: "FILES" },
    });
    // Whatever ends it then, it was not nothing.
    const changed = /dev-control-plane-0: in part or whole what the former server was/;
    machines.on("dev-control-plane-1 load", new Failure("COMMAND_FAILED", "no room."));
    await assert.rejects(goes(unpacking), (error: Error) => {
      assert.match(error.message, changed);
      return error.message.startsWith("no room.\n");
    });
    let asked = 0;
    const stopped = goes(unpacking, () => {
      asked += 1;
      if (asked === 2) throw new Failure("CANCELLED", "Stopped before anything was changed.");
    });
    machines.on("dev-control-plane-1 load", "");
    await assert.rejects(stopped, (error) => {
      assert.ok(error instanceof Failure);
      assert.equal(error.code, "CANCELLED");
      assert.match(error.sentence, changed);
      return !error.sentence.includes("before anything");
    });
  });

  it("leaves etcd alone where it goes on, and brings only API servers back", async () => {
    const [machine] = plan().apiServers;
    assert.ok(machine);
    const unpack = [{ machine, file: "archive.tgz", sha256: "cafe" }];
    await goes(plan({ unpack, members: [], apiServers: [machine] }));
    assert.deepEqual(machines.order.slice(0, 5), [
      ...["unpack", "stop", "start-api", "settle", "nodes"].map(
        (word) => `${word} dev-control-plane-0`,
      ),
    ]);
  });

  it("stops nothing when the data cannot be made ready on one of them, and names all that fails", async () => {
    machines.on("dev-control-plane-1 load", new Failure("COMMAND_FAILED", "the disk is full"));
    await assert.rejects(goes(), /the disk is full/);
    machines.on("dev-control-plane-0 load", unreachable);
    await assert.rejects(goes(), (error: Error) => {
      assert.match(error.message, /cannot be reached/);
      return error.message.includes("the disk is full");
    });
    assert.deepEqual(words(), ["load", "tidy"]);
  });

  it("says that the cluster is stopped where it fails then", async () => {
    machines.on("dev-control-plane-1 start-etcd", new Failure("SSH_UNREACHABLE", "no quorum"));
    await assert.rejects(goes(), (error) => {
      assert.ok(error instanceof Failure);
      assert.equal(error.sentence, "no quorum");
      assert.equal(error.code, "COMMAND_FAILED");
      return /^etcd and the API are stopped, in part or all, until this is done/.test(error.hint);
    });
  });

  it("ends on request as long as etcd goes on, and not later", async () => {
    let stops = 0;
    await goes(plan(), () => {
      stops = machines.asked.filter(({ words: [word] }) => word === "stop").length;
    });
    assert.equal(stops, 0);
    machines.asked.length = 0;
    let asked = 0;
    const stopped = goes(plan(), () => {
      asked += 1;
      if (asked === 2) throw new Failure("CANCELLED", "stopped");
    });
    await assert.rejects(stopped, /stopped/);
    // Nothing of the size of etcd's data stays beside them.
    assert.deepEqual(words(), ["load", "tidy"]);
  });

  it("lets workers that came or were replaced after the backup become nodes again, and only them", async () => {
    machines.on("nodes", "dev-general-0 openstack:///former\ndev-gone-0 openstack:///x\n");
    await goes();
    const after = (): string[][] =>
      machines.asked
        .slice(machines.asked.findIndex(({ words: [word] }) => word === "nodes") + 1)
        .map(({ machine, words: all }) => [machine, ...all]);
    assert.deepEqual(after(), [
      ["dev-control-plane-0", "forget-node", "dev-general-0"],
      ["dev-general-0", "register"],
    ]);
    machines.asked.length = 0;
    machines.on("nodes", "\n");
    machines.on("register", unreachable);
    await goes();
    assert.deepEqual(after(), [["dev-general-0", "register"]]);
    assert.match(
      notes.join(),
      /^! dev-general-0 is no node of the cluster yet \(it cannot be reached/,
    );
  });

  it("passes on what could not be done on a machine, and is well all the same", async () => {
    machines.on("dev-control-plane-1 start-api", "note: the node is another\n");
    machines.on("nodes", unreachable);
    machines.on("dev-control-plane-1 settle", unreachable);
    await goes();
    assert.deepEqual(notes, [
      "! the node is another",
      `! Another restore would take this one for half done: delete /var/lib/etcd/member/stackadm-restored and /var/lib/stackadm/restore-digest on the machine. (${unreachable.message})`,
      `! Whether all workers are nodes is not known: ${unreachable.message}`,
    ]);
  });

  it("begins with how the machines are: what they say, what Nova says of those that say nothing", async () => {
    const servers = ["dev-control-plane-0", "dev-control-plane-1"].map((name) => ({
      ...({ id: `id-of-${name}`, name, status: "ACTIVE" } as const),
    }));
    const said = {
      ...{ prepared: true, place: true, live: true, etcd: true, apiServer: true },
      ...{ majority: true, unpacked: "" },
      peers: ["https://10.0.0.10:2380"],
    };
    machines.on("look", JSON.stringify(said));
    machines.on("dev-control-plane-1 look", unreachable);
    const seen = await lookAtMachines(outputsOf(3), machines, servers);
    assert.deepEqual(
      [...seen],
      [
        ["dev-control-plane-0", said],
        [
          "dev-control-plane-1",
          {
            silent: "its server is ACTIVE, and it cannot be reached by SSH: timed out.",
            behind: undefined,
          },
        ],
        ["dev-control-plane-2", "gone"],
      ],
    );
  });
});

describe("a machine that is asked", () => {
  const [machine] = outputsOf(1).nodes;
  assert.ok(machine);
  const hostKeys = [`${machine.address} ssh-ed25519 AAAA`];
  const commands: string[] = [];
  const at = (
    ended: { readonly code: number | undefined; readonly said: string },
    keys = hostKeys,
  ) =>
    new ClusterMachines(
      { ...outputsOf(1), nodes: [{ ...machine, sshHost: machine.address }], hostKeys: keys },
      { user: "debian", agentSocket: "" },
      {
        execute: async (target, command, { output }) => {
          commands.push(`${target.user}@${target.host}: ${command}`);
          output.end("SAID");
          return Promise.resolve(ended);
        },
        close: () => undefined,
      },
    );
  const placed = { ...machine, sshHost: machine.address };

  it("gets the script as one word, as root", async () => {
    const answer = await at({ code: 0, said: "" }).ask(placed, keeping("snapshot"));
    assert.equal(answer, "SAID");
    const [command = ""] = commands;
    assert.ok(command.startsWith("debian@10.0.0.10: sudo -n bash -c '#!/bin/bash"));
    assert.ok(command.endsWith("' stackadm 'snapshot'"));
    assert.ok(command.length > keepScript.length);
  });

  it("says its reason, else the last that it said, and when nobody knows how it ended", async () => {
    const said = (code: number | undefined, text: string): Promise<string> =>
      at({ code, said: text }).ask(placed, keeping("archive"));
    await assert.rejects(
      said(1, "much\nreason: no room\nmore\n"),
      /^Failure: dev-control-plane-0: no room\.$/,
    );
    await assert.rejects(said(127, "bash: not found\n"), /dev-control-plane-0: bash: not found\.$/);
    await assert.rejects(said(1, ""), /it said nothing\.$/);
    await assert.rejects(said(undefined, ""), /The connection to dev-control-plane-0 ended before/);
  });

  it("is not asked without a host key that is known", async () => {
    commands.length = 0;
    await assert.rejects(at({ code: 0, said: "" }, []).ask(placed, keeping("archive")), (error) => {
      assert.ok(error instanceof Failure);
      return error.code === "SSH_UNREACHABLE";
    });
    assert.deepEqual(commands, []);
  });
});
