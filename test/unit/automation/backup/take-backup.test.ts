import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  findUnfinishedBackups,
  isCompleteSnapshot,
  readBackup,
} from "../../../../automation/backup/backup-files.js";
import { takeBackup, type BackupSource } from "../../../../automation/backup/take-backup.js";
import type { ClusterOutputs } from "../../../../automation/verify/cluster-outputs.js";
import { Failure } from "../../../../base/failures/failure.js";
import { clusterType } from "../../../../components/pulumi/cluster-type.js";
import { FakeMachines, outputsOf, Scratch, snapshot, unreachable } from "./support.js";

describe("takeBackup", () => {
  let scratch: Scratch;
  let machines: FakeMachines;
  let stopped: boolean;
  const data = snapshot();
  beforeEach(() => {
    scratch = new Scratch();
    machines = new FakeMachines();
    machines.on("snapshot", data);
    machines.on("standing", '{"majority": true, "index": 9}');
    stopped = false;
    machines.on("archive", "ARCHIVE");
  });
  afterEach(() => {
    scratch.remove();
  });
  const state = {
    version: 3,
    deployment: {
      resources: [
        {
          urn: `urn:pulumi:dev::stackadm::${clusterType}::dev`,
          type: clusterType,
          custom: false,
          outputs: { kubernetesVersion: "1.36.3" },
        },
      ],
    },
  };
  const source = (outputs: ClusterOutputs): BackupSource => ({
    stack: "dev",
    state,
    outputs,
    machines,
    requireGoingOn: () => {
      if (stopped) throw new Failure("CANCELLED", "stopped");
    },
  });
  /** Returns the tasks that create parts of the backup, without queries. */
  const taken = (): string[] => machines.order.filter((one) => !one.startsWith("standing"));
  const take = (outputs = outputsOf(3), to = scratch.in("one")) => takeBackup(source(outputs), to);

  it("writes one member's snapshot, one control plane's files and the state, readable only by the owner", async () => {
    const made = await take();
    assert.deepEqual(taken(), [...["snapshot dev-control-plane-0", "archive dev-control-plane-0"]]);
    const { directory } = made;
    assert.deepEqual(readdirSync(directory).sort(), [
      ...[".gitignore", "backup.json", "dev-control-plane-0.tgz", "snapshot.db", "state.json"],
    ]);
    assert.ok(readFileSync(join(directory, "snapshot.db")).equals(data));
    assert.deepEqual(JSON.parse(readFileSync(join(directory, "state.json"), "utf8")), state);
    assert.equal(made.kubernetesVersion, "1.36.3");
    for (const file of ["", "backup.json", "snapshot.db", "state.json", "dev-control-plane-0.tgz"])
      assert.equal(statSync(join(directory, file)).mode & 0o077, 0, file);
    // Git must ignore a backup in the project's repository.
    assert.equal(readFileSync(join(directory, ".gitignore"), "utf8"), "*\n");
    assert.deepEqual(await readBackup(directory), made);
  });

  it("takes snapshot and files from etcd's machines if the cluster has them", async () => {
    await take(outputsOf(3, 3));
    assert.deepEqual(taken(), [
      ...["snapshot dev-etcd-0", "archive dev-control-plane-0", "archive dev-etcd-0"],
    ]);
  });

  it("tries the next member if one is unreachable or its snapshot is incomplete", async () => {
    machines.on("dev-control-plane-0 snapshot", unreachable);
    machines.on("dev-control-plane-1 snapshot", data.subarray(0, 1024));
    assert.equal((await take()).snapshot.machine, "dev-control-plane-2");
  });

  it("prefers a member with a majority, else the member with the highest index", async () => {
    const standing = (at: number, majority: boolean, index: number): void => {
      machines.on(`dev-control-plane-${at} standing`, JSON.stringify({ majority, index }));
    };
    standing(0, false, 12);
    standing(1, false, 14);
    standing(2, true, 13);
    const { snapshot: best } = await take(outputsOf(3), scratch.in("majority"));
    assert.deepEqual([best.machine, best.majority], ["dev-control-plane-2", true]);
    machines.on("dev-control-plane-2 standing", unreachable);
    const { snapshot: rest } = await take(outputsOf(3), scratch.in("rest"));
    assert.deepEqual([rest.machine, rest.majority], ["dev-control-plane-1", false]);
  });

  it("refuses members without a majority if another has one, and reports why that one provides no snapshot", async () => {
    machines.on("dev-control-plane-0 standing", '{"majority": false, "index": 20}');
    machines.on("dev-control-plane-1 standing", unreachable);
    machines.on("dev-control-plane-2 snapshot", new Failure("COMMAND_FAILED", "no room."));
    await assert.rejects(take(), (error: Error) => {
      assert.match(error.message, /^No member of etcd with a majority provides a snapshot:\n/);
      return error.message.includes("no room.") && error.message.includes(unreachable.message);
    });
    assert.deepEqual(taken(), ["snapshot dev-control-plane-2"]);
  });

  it("requests files for exactly the static pods that the machine runs", async () => {
    const words = async (outputs: ClusterOutputs, to: string): Promise<string[]> => {
      machines.asked.length = 0;
      await take(outputs, scratch.in(to));
      return machines.asked.flatMap(({ words: [word, ...pods] }) =>
        word === "archive" ? [pods.join(" ")] : [],
      );
    };
    assert.deepEqual(await words(outputsOf(3), "stacked"), ["etcd kube-apiserver"]);
    assert.deepEqual(await words(outputsOf(3, 3), "own"), ["kube-apiserver", "etcd"]);
  });

  it("takes another control plane's files if the first is unreachable", async () => {
    for (const word of ["standing", "archive"])
      machines.on(`dev-control-plane-0 ${word}`, unreachable);
    const { directory, archives } = await take();
    assert.deepEqual(
      archives.map(({ machine }) => machine),
      ["dev-control-plane-1"],
    );
    assert.ok(!existsSync(join(directory, "dev-control-plane-0.tgz")));
  });

  it("stops on cancellation and deletes the unfinished backup", async () => {
    machines.on("archive", unreachable);
    const asked = machines.runOnMachine.bind(machines);
    machines.runOnMachine = async (...args) => {
      stopped = true;
      await asked(...args);
    };
    await assert.rejects(take(), { code: "CANCELLED" });
    assert.deepEqual(readdirSync(scratch.path), []);
  });

  it("deletes the unfinished backup if no member provides a snapshot, and reports each member's reason", async () => {
    machines.on("snapshot", unreachable);
    machines.on("dev-control-plane-1 snapshot", "nothing of etcd's");
    await assert.rejects(take(), (error: Error) => {
      assert.match(
        error.message,
        /No member of etcd with a majority provides a snapshot:\n {2}it cannot be reached/,
      );
      return /dev-control-plane-1: its snapshot is incomplete/.test(error.message);
    });
    assert.deepEqual(readdirSync(scratch.path), []);
  });

  it("keeps snapshot and state if no machine provides its files, but fails", async () => {
    for (const at of [0, 1, 2]) machines.on(`dev-control-plane-${at} archive`, unreachable);
    await assert.rejects(take(outputsOf(3, 3)), (error: Error) => {
      assert.match(error.message, /one has etcd's data and the state, but lacks files that/);
      return error.message.includes("\nNo machine provides the files of kube-apiserver:\n");
    });
    const { snapshot: kept, archives } = await readBackup(scratch.in("one"));
    assert.equal(kept.machine, "dev-etcd-0");
    assert.deepEqual(
      archives.map(({ machine }) => machine),
      ["dev-etcd-0"],
    );
    assert.deepEqual(readdirSync(scratch.path), ["one"]);
  });

  it("lists unfinished backups of killed runs, but not those of running ones", () => {
    const [old, now] = ["prod-1.0123abcd.part", "prod-2.0123abcd.part"];
    for (const name of [old, now, "prod-0"]) mkdirSync(scratch.in(name));
    const at = new Date(Date.now() - 2 * 24 * 60 * 60_000);
    for (const name of [old, "prod-0"]) utimesSync(scratch.in(name), at, at);
    assert.deepEqual(findUnfinishedBackups(scratch.in("prod-3"), Date.now()), [scratch.in(old)]);
    assert.deepEqual(findUnfinishedBackups(scratch.in("no/where"), Date.now()), []);
  });

  it("refuses a target directory that already exists", async () => {
    const { directory } = await take();
    const before = readFileSync(join(directory, "backup.json"), "utf8");
    await assert.rejects(take(), /--to: '.*one' already exists/);
    assert.equal(readFileSync(join(directory, "backup.json"), "utf8"), before);
  });

  describe("readBackup", () => {
    const refused = async (spoil: (directory: string) => void, said: RegExp): Promise<void> => {
      const { directory } = await take();
      spoil(directory);
      await assert.rejects(readBackup(directory), said);
    };
    it("refuses a directory whose description is missing or invalid", async () => {
      await assert.rejects(
        readBackup(scratch.in("no")),
        /no cannot be used as a backup: it has no backup\.json/,
      );
      await refused((one) => {
        writeFileSync(join(one, "backup.json"), "{");
      }, /backup\.json is not JSON/);
    });

    it("reports the system's error if the description is unreadable", () =>
      refused((one) => {
        rmSync(join(one, "backup.json"));
        mkdirSync(join(one, "backup.json"));
      }, /EISDIR/));

    it("refuses a file name outside the backup's directory", () =>
      refused((one) => {
        const file = join(one, "backup.json");
        writeFileSync(file, readFileSync(file, "utf8").replace("snapshot.db", "../snapshot.db"));
      }, /backup\.json: snapshot\.file:/));
    it("refuses missing or changed files", async () => {
      await refused((one) => {
        rmSync(join(one, "state.json"));
      }, /state\.json is missing/);
      rmSync(scratch.in("one"), { recursive: true });
      await refused((one) => {
        appendFileSync(join(one, "snapshot.db"), "x");
      }, /snapshot\.db differs from what the backup wrote/);
    });
  });

  it("recognises a complete snapshot by its checksum", async () => {
    const path = scratch.in("snapshot");
    const whole = async (content: Buffer): Promise<boolean> => {
      writeFileSync(path, content);
      return isCompleteSnapshot(path);
    };
    assert.ok(await whole(data));
    for (const cut of [0, 32, 511, 512, data.length - 512, data.length - 1])
      assert.ok(!(await whole(data.subarray(0, cut))), `${cut} bytes`);
    const changed = Buffer.from(data);
    changed.writeUInt8(changed.readUInt8(100) ^ 1, 100);
    assert.ok(!(await whole(changed)));
    assert.ok(existsSync(path));
  });
});
