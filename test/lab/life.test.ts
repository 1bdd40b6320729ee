import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { run } from "../../base/run-command.js";
import { getLoginKeyPath } from "../../automation/setup/operation-environment.js";
import {
  findEntrySshTarget,
  parseOutputs,
  type ClusterOutputs,
} from "../../automation/verify/cluster-outputs.js";
import { verifyCluster, type Verification } from "../../automation/verify/verify-cluster.js";
import {
  compareInventories,
  takeInventory,
  type CloudObject,
} from "../../openstack/inventory/inventory.js";
import { failuresByDefault, failuresOf } from "./support/kubernetes/cis.js";
import {
  changes,
  labCluster,
  linesOf,
  rows,
  type LabCluster,
} from "./support/stack/lab-cluster.js";
import {
  callsFromHere,
  cloudWrites,
  inServer,
  processLists,
  scriptRuns,
  sshLogins,
} from "./support/machines/machines.js";
import { stackadm } from "./support/stack/command-line.js";
import { foreignObjects } from "./support/cloud/foreign.js";
import { claimToKeep, kubectlOn } from "./support/kubernetes/kubectl.js";
import { secretsOf } from "./support/stack/secrets.js";
import { getPackageRoot } from "../../base/paths.js";
import { nonEmpty } from "../support/non-empty.js";

const minutes = 60_000;
const podLines =
  'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {.status.containerStatuses[*].restartCount}{"\\n"}{end}';
const userData = "/var/lib/cloud/instance/user-data.txt";

describe("a cluster's lifecycle on the lab", function () {
  this.timeout(10 * minutes);
  let cluster: LabCluster;
  let initially: CloudObject[];
  let foreign: Awaited<ReturnType<typeof foreignObjects>>;
  let outputs: ClusterOutputs;
  let proof: Verification;
  let previewed: string[];
  const processes: string[] = [];

  before("lab, cluster, foreign objects", async () => {
    cluster = await labCluster("life");
    foreign = await foreignObjects(cluster.cloud);
    initially = await takeInventory(cluster.cloud);
  });
  after(async () => {
    await foreign.remove();
    await cluster.close();
  });

  it("lists every resource in a preview, and creates nothing", async () => {
    await cluster.service.preview("life", { settings: cluster.settings(), ...cluster.recording() });
    previewed = rows(cluster.seen.events);
    for (const type of ["Instance", "Command", "DaemonSet", "Service", "PersistentVolumeClaim"]) {
      assert.ok(
        previewed.some((row) => row.includes(type)),
        `no ${type} in ${previewed.join("\n")}`,
      );
    }
    assert.deepEqual(compareInventories(initially, await takeInventory(cluster.cloud)), {
      added: [],
      removed: [],
    });
  });

  it("starts in one update, with the same rows as the preview", async () => {
    cluster.seen.events.length = 0;
    const watch = setInterval(() => {
      void processLists().then((list) => processes.push(list));
    }, 3000);
    try {
      await cluster.service.up("life", { settings: cluster.settings(), ...cluster.recording() });
    } finally {
      clearInterval(watch);
    }
    assert.deepEqual(rows(cluster.seen.events), previewed);
    outputs = parseOutputs(await cluster.service.outputs("life"));
  });

  it("has Ready nodes, Services that answer HTTP, and a claim that returns its data", async () => {
    const agentSocket = cluster.environment.agent?.socket ?? "";
    const entry = findEntrySshTarget(outputs, { user: "debian", agentSocket });
    proof = await verifyCluster({ outputs, entry });
    assert.equal(proof.ok, true, JSON.stringify(proof, undefined, 2));
    assert.equal(proof.nodes.length, 3);
    assert.deepEqual(
      [...proof.services, ...proof.claims].map(({ ok }) => ok),
      [true, true, true],
    );
  });

  it("registers nodes with provider ID, cloud address and zone", () => {
    for (const node of nonEmpty(proof.nodes)) {
      const made = outputs.nodes.find(({ name }) => name === node.name);
      assert.equal(node.providerId, `openstack:///${made?.serverId ?? "?"}`);
      assert.equal(node.internalAddress, made?.address);
      assert.equal(node.zone, made?.zone);
    }
  });

  it("runs the stock image's network services, and has no failed units", async () => {
    for (const { serverId } of nonEmpty(outputs.nodes)) {
      const units = "systemd-networkd systemd-resolved apt-daily.timer unattended-upgrades";
      const states = await inServer(serverId, `systemctl is-active ${units}`);
      assert.equal(states, "active\n".repeat(4));
      const kubelet = await inServer(serverId, "cat /var/lib/kubelet/config.yaml");
      assert.match(kubelet, /^resolvConf: \/run\/systemd\/resolve\/resolv\.conf$/m);
      assert.equal(await inServer(serverId, "systemctl --failed --no-legend"), "");
    }
  });

  it("fails only the documented scored CIS items", async () => {
    const failures = await failuresOf(outputs.nodes);
    assert.deepEqual(
      failures.map(({ number }) => number),
      Object.keys(failuresByDefault),
      JSON.stringify(failures, undefined, 2),
    );
  });

  it("has no changes on a second `up`: no SSH logins, no cloud writes, at most 50 requests", async () => {
    const logins = () => Promise.all(outputs.nodes.map(({ serverId }) => sshLogins(serverId)));
    const [loginsBefore, writesBefore] = [await logins(), await cloudWrites()];
    const callsBefore = await callsFromHere();
    const seenBefore = cluster.seen.events.length;
    await cluster.service.up("life", {
      settings: cluster.settings(),
      // Skips the verification, because it would use SSH to query the internal Service.
      verify: false,
      ...cluster.recording(),
    });
    assert.deepEqual(changes(cluster.seen.events.slice(seenBefore)), {});
    assert.deepEqual(await logins(), loginsBefore);
    // Against a fake cloud, the preflight sends 24 requests and the program sends 9. The limit of
    // 50 leaves some reserve.
    const asked = (await callsFromHere()).slice(callsBefore.length);
    assert.ok(asked.length > 0 && asked.length <= 50, asked.join("\n"));
    const mine = (await cloudWrites()).slice(writesBefore.length);
    assert.deepEqual(
      mine.filter((line) => line.includes(cluster.cloud.projectId)),
      [],
    );
  });

  it("has no changes in a plain `pulumi preview`", async () => {
    const args = ["preview", "--stack", "life", "--config-file", cluster.stackFile];
    const { stdout } = await run("pulumi", [...args, "--expect-no-changes", "--non-interactive"], {
      cwd: getPackageRoot(),
      env: cluster.environment.env,
    });
    assert.match(stdout, /\d+ unchanged/);
  });

  it("uses at most two SSH runs per worker and three per control plane", async () => {
    for (const { name, role, serverId } of nonEmpty(outputs.nodes)) {
      const limit = role === "control-plane" ? 3 : 2;
      const runs = await scriptRuns(serverId);
      assert.ok(runs >= 2 && runs <= limit, `${name}: ${runs.toString()} runs`);
    }
  });

  it("shows no secret in output, events, state, user data, process lists or machine logs", async () => {
    const secrets = await secretsOf(cluster, {
      "login key": readFileSync(getLoginKeyPath(), "utf8").split("\n").slice(1, 3).join("\n"),
    });
    assert.ok(Object.keys(secrets).length >= 5, Object.keys(secrets).join());
    for (const [secret, value] of Object.entries(secrets)) assert.ok(value, `${secret} is empty`);
    const places: Record<string, string> = {
      events: JSON.stringify(cluster.seen.events),
      screen: [...cluster.seen.lines, ...linesOf(cluster.seen.events)].join("\n"),
      state: JSON.stringify(await cluster.service.state("life")),
      processes: processes.join("\n"),
    };
    for (const { name, serverId } of outputs.nodes) {
      places[`user data of ${name}`] = await inServer(serverId, `cat ${userData}`);
      places[`journal of ${name}`] = await inServer(serverId, "journalctl --no-pager -o cat");
      places[`logs of ${name}`] = await inServer(
        serverId,
        "find /var/log -type f ! -name '*.journal' ! -path '*/journal/*' -exec cat {} +",
      );
    }
    for (const [place, text] of Object.entries(places)) {
      assert.ok(text.length > 0, `${place} is empty: nothing was looked at`);
      for (const [secret, value] of Object.entries(secrets)) {
        assert.ok(!text.includes(value), `${secret} stands in ${place}`);
      }
    }
  });

  it("replaces its controllers' credential, and restarts no other pods", async () => {
    const controlPlane = outputs.nodes.find(({ role }) => role === "control-plane")?.serverId ?? "";
    const credentials = async (): Promise<string[]> =>
      (await takeInventory(cluster.cloud))
        .filter(({ kind, id }) => kind === "application credential" && !isInitial(id))
        .map(({ id }) => id);
    const isInitial = (wanted: string): boolean => initially.some(({ id }) => id === wanted);
    const pods = async (): Promise<string[]> =>
      (await kubectlOn(controlPlane, `get pods -A -o '${podLines}'`)).trim().split("\n").sort();
    const [credentialBefore, podsBefore] = [await credentials(), await pods()];
    const settings = cluster.settings({ credential: { generation: 1 } });
    await cluster.service.up("life", { settings, ...cluster.recording() });
    const [credentialAfter, podsAfter] = [await credentials(), await pods()];
    assert.deepEqual([credentialBefore.length, credentialAfter.length], [1, 1]);
    assert.notDeepEqual(credentialAfter, credentialBefore);
    const gone = podsBefore.filter((line) => !podsAfter.includes(line));
    assert.ok(gone.length > 0, podsAfter.join("\n"));
    for (const line of gone) assert.match(line, /openstack-cloud-controller|csi-cinder/);
  });

  it("is destroyed, reports a retained volume, and leaves foreign objects unchanged", async () => {
    const first = outputs.nodes.find(({ role }) => role === "control-plane");
    await claimToKeep(first?.serverId ?? "");
    const { code, text } = await stackadm(cluster, ["destroy", "--yes"]);
    assert.equal(code, 0, text);
    const { added, removed } = compareInventories(initially, await takeInventory(cluster.cloud));
    assert.deepEqual([added.map(({ kind }) => kind), removed], [["volume"], []]);
    for (const { id } of added) {
      assert.ok(text.includes(`(${id})`), text);
      await cluster.cloud.request("volumev3", "DELETE", `/volumes/${id}`);
    }
    assert.deepEqual(await foreign.state(), foreign.initial);
  });
});
