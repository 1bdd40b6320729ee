import assert from "node:assert/strict";
import type { Backup } from "../../../../automation/backup/backup-files.js";
import {
  serializeRestoreActions,
  planRestore,
  requireBackupOfCluster,
  type PresentCluster,
  type MachineReply,
} from "../../../../automation/backup/restore-plan.js";
import { Failure } from "../../../../base/failures/failure.js";
import { outputsOf } from "./support.js";

const file = { bytes: 1, sha256: "" };
const backup: Backup = {
  directory: "/backup",
  format: 1,
  takenAt: "2026-11-25T20:00:00Z",
  stack: "dev",
  cluster: "dev",
  identities: ["0123456789ab"],
  kubernetesVersion: "1.35.4",
  snapshot: { file: "snapshot.db", machine: "dev-control-plane-0", majority: true, ...file },
  archives: [
    { machine: "dev-control-plane-0", file: "dev-control-plane-0.tgz", ...file, sha256: "cafe" },
    { machine: "dev-etcd-0", file: "dev-etcd-0.tgz", ...file, sha256: "beef" },
  ],
  state: { file: "state.json", ...file },
};

const controlPlane = {
  prepared: true,
  place: true,
  live: true,
  etcd: true,
  apiServer: true,
  majority: false,
  unpacked: "",
  peers: ["https://10.0.0.10:2380"],
};
const serving = { ...controlPlane, etcd: false, peers: [] };
const member = { ...controlPlane, apiServer: false, peers: ["https://10.0.0.20:2380"] };
const recreated = { ...serving, place: false, live: false, apiServer: false };
const bare = { ...recreated, prepared: false };
const silent: MachineReply = { silent: "its server is SHUTOFF, and it cannot be reached by SSH." };

/**
 * Returns a plan in short form, for these states of the control planes and of the etcd machines.
 */
function plan(controlPlanes: readonly MachineReply[], etcd: readonly MachineReply[] = []) {
  const seen = new Map([
    ...controlPlanes.map((one, at) => [`dev-control-plane-${at}`, one] as const),
    ...etcd.map((one, at) => [`dev-etcd-${at}`, one] as const),
  ]);
  const outputs = outputsOf(controlPlanes.length, etcd.length);
  const made = planRestore({ backup, outputs, seen });
  const names = (all: readonly { readonly name: string }[]): string =>
    all.map(({ name }) => name.replace("dev-", "").replace("control-plane", "cp")).join(" ");
  return {
    members: names(made.members),
    apiServers: names(made.apiServers),
    without: names(made.without),
    unpack: made.unpack.map(({ machine, file }) => `${names([machine])}: ${file}`).join(),
  };
}

const refused = (work: () => unknown, ...said: readonly RegExp[]): void => {
  assert.throws(work, (error) => {
    assert.ok(error instanceof Failure);
    for (const one of said) assert.match(error.sentence, one);
    assert.match(error.hint, /Nothing was changed/);
    return true;
  });
};

describe("planRestore", () => {
  it("restores all members if every machine has joined", () => {
    assert.deepEqual(plan([controlPlane, controlPlane, controlPlane]), {
      members: "cp-0 cp-1 cp-2",
      apiServers: "cp-0 cp-1 cp-2",
      without: "",
      unpack: "",
    });
    assert.deepEqual(plan([serving], [member, member, member]), {
      members: "etcd-0 etcd-1 etcd-2",
      apiServers: "cp-0",
      without: "",
      unpack: "",
    });
  });

  it("restores only the members that still exist if servers are deleted or recreated", () => {
    assert.deepEqual(plan(["gone", controlPlane, recreated]), {
      members: "cp-1",
      apiServers: "cp-1",
      without: "cp-0 cp-2",
      unpack: "",
    });
    assert.deepEqual(plan([serving, "gone"], ["gone", bare, member]), {
      members: "etcd-2",
      apiServers: "cp-0",
      without: "etcd-0 etcd-1 cp-1",
      unpack: "",
    });
  });

  it("unpacks the archive on one machine if none has its files", () => {
    const unpack = "cp-0: dev-control-plane-0.tgz";
    assert.deepEqual(plan([recreated]), {
      members: "cp-0",
      apiServers: "cp-0",
      without: "",
      unpack,
    });
    assert.deepEqual(plan([recreated, bare, "gone"]), {
      members: "cp-0",
      apiServers: "cp-0",
      without: "cp-1 cp-2",
      unpack,
    });
    assert.deepEqual(plan([recreated], [recreated, recreated, recreated]), {
      members: "etcd-0",
      apiServers: "cp-0",
      without: "etcd-1 etcd-2",
      unpack: `etcd-0: dev-etcd-0.tgz,${unpack}`,
    });
  });

  it("unpacks the archive again after an unfinished restore of another backup", () => {
    const from = (unpacked: string): MachineReply => ({ ...controlPlane, unpacked });
    assert.equal(plan([from("cafe")]).unpack, "");
    assert.equal(plan([from("0000")]).unpack, "cp-0: dev-control-plane-0.tgz");
    // The backup only has files of another machine.
    refused(
      () => plan([recreated, from("0000")]),
      /dev-control-plane-1 has the files of another backup, .*: name that backup, or delete the server/,
    );
    refused(() => plan([from("0000"), controlPlane]), /dev-control-plane-0 has the files of/);
  });

  it("keeps etcd's data if etcd has a majority and all control planes are gone", () => {
    const going = { ...member, majority: true };
    const only = { members: "", apiServers: "cp-0", without: "cp-1", unpack: "" };
    const archive = "cp-0: dev-control-plane-0.tgz";
    assert.deepEqual(plan([recreated, recreated], [going, going, going]), {
      ...only,
      unpack: archive,
    });
    // Continues a restore that an earlier run did not finish.
    const begun = { ...serving, live: false, unpacked: "cafe" };
    assert.deepEqual(plan([begun, recreated], [going, going, going]), only);
    // A lost member joins again later; without a majority of members the data is restored.
    assert.equal(plan([recreated], [going, going, "gone"]).members, "");
    assert.equal(plan([recreated], [member, "gone", "gone"]).members, "etcd-0");
    assert.equal(plan([recreated, serving], [going, going, going]).members, "etcd-0 etcd-1 etcd-2");
  });

  it("requires `up --refresh` if the only control plane or etcd member is gone or unprepared", () => {
    for (const one of ["gone", bare] as const)
      refused(
        () => plan([one]),
        /No machine is a control plane any more|No machine is a member of etcd any more/,
        /`stackadm up --refresh`, which recreates dev-control-plane-0/,
      );
  });

  it("refuses a plan with an unreachable machine that may return with its old data", () => {
    refused(
      () => plan([controlPlane, silent, controlPlane]),
      /dev-control-plane-1: its server is SHUTOFF.*Start it, and check that you can log in. Only if it is lost, delete its server/,
    );
    refused(
      () => plan(["gone", { ...silent, behind: "dev-control-plane-0" }]),
      /Its SSH route leads through dev-control-plane-0: run `stackadm up --refresh`, which recreates/,
    );
    refused(() => plan([silent], [member]), /dev-control-plane-0: its server is SHUTOFF/);
  });

  it("refuses unfinished joins and etcd members that are missing in the stack", () => {
    refused(
      () => plan([controlPlane, { ...controlPlane, place: false }]),
      /dev-control-plane-1 has not finished joining the cluster: let `stackadm up` finish/,
    );
    const peers = [...controlPlane.peers, "https://10.0.0.11:2380"];
    refused(
      () => plan([{ ...controlPlane, peers }]),
      /etcd on dev-control-plane-0 has a member at https:\/\/10\.0\.0\.11:2380 that is not in the stack's/,
    );
    // Without a majority, etcd cannot remove a lost member: the user has to stop it.
    refused(
      () => plan([{ ...controlPlane, peers }]),
      /delete the server with this address, and move \/etc\/kubernetes\/manifests\/etcd\.yaml on dev-control-plane-0 to/,
    );
    plan([{ ...controlPlane, peers: [] }]);
    plan([{ ...controlPlane, peers }, controlPlane]);
  });

  it("refuses a running etcd that does not list its members", () => {
    refused(
      () => plan([{ ...controlPlane, peers: null }]),
      /etcd on dev-control-plane-0 runs, but does not list its members/,
    );
  });

  it("serializes to another text if the snapshot or an archive differs", () => {
    const { machine } = backup.snapshot;
    const of = (snapshot: string, archive: string): string => {
      const archives = backup.archives.map((one) => ({ ...one, sha256: archive }));
      const kept = { ...backup.snapshot, machine, sha256: snapshot };
      const found = { backup: { ...backup, archives, snapshot: kept }, outputs: outputsOf(1) };
      return serializeRestoreActions(
        planRestore({ ...found, seen: new Map([["dev-control-plane-0", recreated]]) }),
      );
    };
    assert.equal(of("a", "b"), of("a", "b"));
    assert.equal(new Set([of("a", "b"), of("c", "b"), of("a", "c")]).size, 3);
  });

  it("refuses a machine whose static pod manifest was moved away", () => {
    refused(
      () => plan([serving, controlPlane]),
      /dev-control-plane-0 was a member of etcd, but its manifest is not in \/etc/,
    );
    refused(() => plan([member], [member]), /dev-control-plane-0 was a control plane, but/);
  });
});

describe("requireBackupOfCluster", () => {
  const held: PresentCluster = {
    cluster: "dev",
    kubernetesVersion: "1.36.3",
    identities: new Set(["0123456789ab"]),
  };
  const check = (changes: Partial<PresentCluster>, of: Partial<Backup> = {}) => {
    requireBackupOfCluster({ ...backup, ...of }, { ...held, ...changes });
  };

  it("accepts a backup of the stack's cluster with the same or an earlier Kubernetes version", () => {
    check({});
    check({ kubernetesVersion: undefined });
    check({ kubernetesVersion: "1.35.0" });
    check({ identities: new Set() }, { identities: [] });
  });

  it("refuses a backup of another cluster or of a later Kubernetes version", () => {
    const other =
      /is of cluster 'dev' \(0123456789ab\), but the stack has cluster 'dev' \(ba9876543210\)/;
    refused(() => {
      check({ identities: new Set(["ba9876543210"]) });
    }, other);
    refused(() => {
      check({ identities: new Set(), cluster: "test" }, { identities: [] });
    }, /the stack has cluster 'test' \(no identity\)/);
    // Another one of the same stack.
    refused(() => {
      check({ cluster: "test" });
    }, /the stack has cluster 'test' \(0123456789ab\)/);
    // Of the same name, but one has an identity.
    refused(() => {
      check({}, { identities: [] });
    }, /no identity/);
    refused(() => {
      check({ kubernetesVersion: "1.34.9" });
    }, /of Kubernetes 1\.35\.4, but the machines run 1\.34\.9/);
  });
});
