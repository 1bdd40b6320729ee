import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import {
  readMachineStates,
  restoreCluster,
} from "../../../../automation/backup/restore-cluster.js";
import type { RestorePlan } from "../../../../automation/backup/restore-plan.js";
import { Failure } from "../../../../base/failures/failure.js";
import { FakeMachines, outputsOf, Scratch, unreachable } from "./support.js";

describe("restoreCluster", () => {
  let scratch: Scratch;
  let machines: FakeMachines;
  beforeEach(() => {
    scratch = new Scratch();
    machines = new FakeMachines();
    kill = new AbortController();
    meanwhile = () => undefined;
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
        directory: scratch.path,
        format: 1,
        takenAt: "2026-11-25T20:00:00Z",
        stack: "dev",
        cluster: "dev",
        identities: [],
        archives: [],
        snapshot: { file: "snapshot.db", machine: "", majority: true, ...file },
        state: { file: "state.json", ...file },
      },
      unpack: [],
      members: controlPlanes,
      apiServers: controlPlanes,
      without: [],
      ...changes,
    };
  };
  let notes: string[];
  let kill: AbortController;
  /** Runs between the attempts. */
  let meanwhile: () => void;
  const pause = async (milliseconds: number): Promise<void> => {
    assert.equal(milliseconds, 5_000);
    meanwhile();
    return Promise.resolve();
  };
  const servers = outputsOf(2, 2).nodes.map(({ name, serverId: id }) => ({
    id,
    name,
    status: "ACTIVE",
  }));
  const goes = (of = plan(), requireGoingOn = (): void => undefined): Promise<void> => {
    notes = [];
    const onNote = (text: string): void => void notes.push(text);
    const target = { plan: of, outputs: outputsOf(2, 2), machines, servers };
    return restoreCluster(target, { requireGoingOn, onNote, pause, killSignal: kill.signal });
  };
  const words = (): string[] => [...new Set(machines.order.map((one) => one.split(" ")[0] ?? ""))];

  it("stops the cluster only after every machine has loaded the data, and starts API servers after etcd", async () => {
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
    // All machines get the same token, which differs in each restore.
    const given = machines.asked.filter(({ words: [word] }) => /load|swap/.test(word ?? ""));
    const tokens = new Set(given.map(({ words: [, token] }) => token));
    assert.equal(tokens.size, 1);
    // The new revision is higher than those of all earlier restores, independent of the snapshot.
    const revisions = new Set(loads.map(({ words: [, , , , revision] }) => Number(revision)));
    assert.equal(revisions.size, 1);
    const [revision = 0] = revisions;
    assert.ok(revision >= began * 1000 && revision <= Date.now() * 1000);
    machines.asked.length = 0;
    await goes();
    assert.ok(!tokens.has(machines.asked[0]?.words[1]));
  });

  it("loads the data on etcd's machines and stops API servers on control planes", async () => {
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

  it("unpacks archives first and reports restored files in every later error", async () => {
    const all = plan();
    const [machine] = all.members;
    assert.ok(machine);
    const unpacking = { ...all, unpack: [{ machine, file: "archive.tgz", sha256: "cafe" }] };
    await goes(unpacking);
    assert.deepEqual(machines.asked[0], {
      machine: "dev-control-plane-0",
      words: ["unpack", "cafe"],
      input: "FILES",
    });
    // Every failure after this point reports that files were changed.
    const changed = /dev-control-plane-0: files of the former server are restored in part or whole/;
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

  it("leaves a running etcd alone and restores only API servers", async () => {
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

  it("stops no machine if one fails to load the data, and reports every failure", async () => {
    machines.on("dev-control-plane-1 load", new Failure("COMMAND_FAILED", "the disk is full"));
    await assert.rejects(goes(), /the disk is full/);
    machines.on("dev-control-plane-0 load", unreachable);
    await assert.rejects(goes(), (error: Error) => {
      assert.match(error.message, /cannot be reached/);
      return error.message.includes("the disk is full");
    });
    assert.deepEqual(words(), ["load", "tidy"]);
  });

  it("reports that the cluster is stopped if a step fails after the stop", async () => {
    machines.on("dev-control-plane-1 start-etcd", new Failure("SSH_UNREACHABLE", "no quorum"));
    await assert.rejects(goes(), (error) => {
      assert.ok(error instanceof Failure);
      assert.equal(error.sentence, "no quorum");
      assert.equal(error.code, "COMMAND_FAILED");
      return /^etcd and the API are stopped, in part or all, until the restore succeeds/.test(
        error.hint,
      );
    });
  });

  it("marks the data of etcd's machines as used if an API server fails after another one has started", async () => {
    const { nodes, etcd = [] } = outputsOf(2, 2);
    const apiServers = nodes.filter(({ role }) => role === "control-plane");
    const fails = new Failure("COMMAND_FAILED", "does not answer");
    const settled = async (): Promise<string[]> => {
      machines.asked.length = 0;
      await assert.rejects(goes(plan({ members: etcd ?? [], apiServers })), /does not answer/);
      return machines.order.filter((one) => one.startsWith("settle"));
    };
    machines.on("dev-control-plane-1 start-api", fails);
    assert.deepEqual(await settled(), ["settle dev-etcd-0", "settle dev-etcd-1"]);
    machines.on("settle", unreachable);
    assert.equal((await settled()).length, 6, "three times each, and the failure is the first one");
    machines.on("dev-control-plane-0 start-api", fails);
    assert.deepEqual(await settled(), []);
  });

  it("retries a step up to three times after a lost connection once the cluster is stopped", async () => {
    const times = (word: string): number =>
      machines.order.filter((one) => one === `${word} dev-control-plane-1`).length;
    for (const word of ["stop", "swap", "start-etcd", "start-api"]) {
      machines.on(`dev-control-plane-1 ${word}`, unreachable);
      meanwhile = () => {
        machines.on(`dev-control-plane-1 ${word}`, "");
      };
      machines.asked.length = 0;
      await goes();
      assert.equal(times(word), 2, word);
    }
    machines.on("dev-control-plane-1 swap", new Error("Not connected"));
    meanwhile = () => undefined;
    machines.asked.length = 0;
    await assert.rejects(goes(), /Not connected/);
    assert.equal(times("swap"), 3);
    // Errors that the script itself reports are not retried, and nothing is retried after a kill
    // signal.
    machines.asked.length = 0;
    machines.on("dev-control-plane-1 swap", new Failure("COMMAND_FAILED", "no data"));
    await assert.rejects(goes(), /no data/);
    machines.on("dev-control-plane-1 swap", unreachable);
    kill.abort();
    await assert.rejects(goes(), /timed out/);
    assert.equal(times("swap"), 2);
  });

  it("accepts cancellation only before etcd is stopped, and then deletes the loaded copies", async () => {
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
    // The loaded copy of etcd's data is deleted.
    assert.deepEqual(words(), ["load", "tidy"]);
  });

  it("registers again only workers that were created or replaced after the backup", async () => {
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
      /^! dev-general-0 is not a node of the cluster yet \(it cannot be reached/,
    );
  });

  it("reports steps that failed on single machines as notes and succeeds", async () => {
    machines.on("dev-control-plane-1 start-api", "note: the node is another\n");
    machines.on("nodes", unreachable);
    machines.on("dev-control-plane-1 settle", unreachable);
    await goes();
    assert.deepEqual(notes, [
      "! the node is another",
      `! Another restore would find this restore unfinished: delete /var/lib/etcd/member/stackadm-restored and /var/lib/stackadm/restore-digest on the machine. (${unreachable.message})`,
      `! Cannot check whether all workers are nodes: ${unreachable.message}`,
    ]);
  });

  it("reads each machine's state, and Nova's status of unreachable machines", async () => {
    const servers = ["dev-control-plane-0", "dev-control-plane-1"].map((name) => ({
      ...({ id: `id-of-${name}`, name, status: "ACTIVE" } as const),
    }));
    const said = {
      prepared: true,
      place: true,
      live: true,
      etcd: true,
      apiServer: true,
      majority: true,
      unpacked: "",
      peers: ["https://10.0.0.10:2380"],
    };
    machines.on("look", JSON.stringify(said));
    machines.on("dev-control-plane-1 look", unreachable);
    const seen = await readMachineStates(outputsOf(3), machines, servers);
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
