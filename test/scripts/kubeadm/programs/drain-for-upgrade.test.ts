import { strict as assert } from "node:assert";
import {
  issueJoinCredentialsProgram,
  drainForUpgradeProgram,
} from "../../../../components/kubeadm/node-scripts.js";
import { Sandbox, type Outcome } from "../../../support/machine/sandbox.js";

const node = "dev-general-0";

describe("drain-for-upgrade.sh", () => {
  let machine: Sandbox;
  /** Sets kubectl's answer about the node, `MARK=UNSCHEDULABLE`; `more` are further cases. */
  const cluster = (said: string, ...more: readonly string[]): void => {
    const cases = [
      ...more,
      `"get node "*) printf '${said}' ;;`,
      '"get nodes "*) cat $root/nodes ;;',
    ];
    machine.stub("kubectl", `case "$*" in\n${cases.join("\n")}\nesac`);
  };
  /** Sets the other nodes of the cluster. */
  const others = (...lines: readonly string[]): void => {
    machine.put("nodes", [`${node} True - ;gpu=a100:NoSchedule;`, ...lines, ""].join("\n"));
  };
  const run = (verb: string): Outcome =>
    machine.execute(drainForUpgradeProgram.replaceAll("poll 120", "poll 1"), verb, node);
  const deeds = ({ calls }: Outcome): string[] =>
    calls.filter((call) => /^kubectl (annotate|drain|uncordon)/.test(call));
  const drain = `kubectl drain ${node} --ignore-daemonsets --delete-emptydir-data --timeout=600s`;
  const mark = (text: string): string => `kubectl annotate node ${node} ${text}`;

  beforeEach(() => {
    machine = new Sandbox({});
    machine.put("run/here");
    others("dev-general-1 True - ;");
  });
  afterEach(() => {
    machine.close();
  });

  it("records whether the node was schedulable, and then drains the node with a time limit", () => {
    cluster("=");
    const done = run("retire");
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(deeds(done), [mark("--overwrite stackadm.io/retired=schedulable"), drain]);
    cluster("=true");
    assert.equal(deeds(run("retire"))[0], mark("--overwrite stackadm.io/retired=cordoned"));
  });

  it("keeps the record of an interrupted run, and drains the node again", () => {
    cluster("schedulable=true");
    assert.deepEqual(deeds(run("retire")), [drain]);
  });

  it("respects disruption budgets only if the pods can run on another node", () => {
    cluster("=");
    const drains = (...lines: readonly string[]): string | undefined => {
      others(...lines);
      return deeds(run("retire"))[1];
    };
    const master = "dev-control-plane-0 True - ;node-role.kubernetes.io/control-plane=:NoSchedule;";
    const without = `${drain} --disable-eviction`;
    assert.equal(drains(), without);
    assert.equal(
      drains(master, "dev-general-1 True true- ;", "dev-general-2 Unknown - ;"),
      without,
    );
    assert.equal(drains(master, "dev-general-1 True - ;"), drain);
    assert.equal(drains("dev-gpu-1 True - ;gpu=a100:NoSchedule;"), drain, "its own taint");
    assert.equal(drains("dev-general-1 True - ;a=b:PreferNoSchedule;"), drain);
  });

  it("restores the recorded state, and changes nothing without a record", () => {
    cluster("schedulable=true");
    assert.deepEqual(deeds(run("restore")), [
      `kubectl uncordon ${node}`,
      mark("stackadm.io/retired-"),
    ]);
    cluster("cordoned=true");
    assert.deepEqual(deeds(run("restore")), [mark("stackadm.io/retired-")]);
    cluster("schedulable=");
    assert.deepEqual(deeds(run("restore")), [mark("stackadm.io/retired-")]);
    cluster("=true");
    assert.deepEqual(deeds(run("restore")), []);
  });

  it("reports the pod that blocks the drain, and uncordons the node", () => {
    const refusal = 'error when evicting pods/"web-1" -n "shop"';
    cluster(
      "$(<$root/node)",
      `drain*) printf schedulable=true >$root/node; echo '${refusal} (will retry after 5s): Cannot evict pod.' >&2; exit 1 ;;`,
      '"get node "*) printf "$(<$root/node)" ;;',
    );
    machine.put("node", "=");
    const done = run("retire");
    assert.equal(done.code, 4);
    assert.equal(done.stdout, `${refusal}: Cannot evict pod.`);
    assert.deepEqual(deeds(done).slice(2), [
      `kubectl uncordon ${node}`,
      mark("stackadm.io/retired-"),
    ]);
  });

  it("fails without a change if the API does not return the nodes", () => {
    for (const question of ["node", "nodes"]) {
      cluster("=", `"get ${question} "*) exit 1 ;;`);
      const done = run("retire");
      assert.ok(done.code !== 0 && done.code !== 4);
      assert.deepEqual(deeds(done), []);
    }
  });

  it("accepts a machine's request for the machine's own node only", () => {
    machine.stub("kubectl", 'case "$*" in *readyz*) printf ok ;; esac');
    machine.put("usr/local/sbin/stackadm-retire", "");
    machine.stub("retired", "exit 4");
    const mint = issueJoinCredentialsProgram.replaceAll(
      "exec /usr/local/sbin/stackadm-retire",
      "retired",
    );
    const server = "0b1c2d3e-0000-4000-8000-000000000001";
    for (const verb of ["retire", "restore"]) {
      const asked = machine.execute(mint, "token", node, server, "10.0.0.9", verb);
      assert.ok(asked.calls.includes(`retired ${verb} ${node}`), asked.stderr);
      assert.equal(asked.code, 4);
    }
    const other = machine.execute(mint, "token", node, server, "10.0.0.9", "retire dev-general-1");
    assert.equal(other.code, 64);
  });
});
