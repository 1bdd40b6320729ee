import { strict as assert } from "node:assert";
import {
  setLabelsAndTaintsProgram,
  issueJoinCredentialsProgram,
} from "../../../../components/kubeadm/node-scripts.js";
import { controlPlaneMachine, runControlPlane } from "../../../support/machine/control-plane.js";
import { Sandbox, sandboxServer, type Outcome } from "../../../support/machine/sandbox.js";

const gpu = "dev-gpu a=1,b=2 example.org/gpu=yes:NoSchedule";
const written = ({ calls }: Outcome): string[] =>
  calls.flatMap((call) => /^kubectl ((label|taint|annotate) .*)$/.exec(call)?.[1] ?? []);

describe("set-labels-and-taints.sh", () => {
  let machine: Sandbox;
  /** Runs the script. `nodes` contains the name and the recorded marks of each node. */
  const run = (rows: string, nodes: readonly string[], more = ""): Outcome => {
    machine.stub(
      "kubectl",
      `case "$*" in ${more} *configmap*) printf '${rows}' ;; "get nodes"*) cat $root/nodes ;; esac`,
    );
    const quoted = nodes.map((line) =>
      line.replace(/ ([^]+)$/, (_, given: string) => ` ${JSON.stringify(given)}`),
    );
    machine.put("nodes", quoted.map((line) => `${line}\n`).join(""));
    return machine.execute(setLabelsAndTaintsProgram);
  };
  beforeEach(() => {
    machine = new Sandbox({});
  });
  afterEach(() => {
    machine.close();
  });

  it("sets a group's labels and taints on the group's nodes only", () => {
    const done = run(gpu, ["dev-gpu-0 ", "dev-gpu-big-0 ", "dev-general-0 "]);
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(written(done), [
      "label node dev-gpu-0 --overwrite a=1 b=2",
      "taint node dev-gpu-0 --overwrite example.org/gpu=yes:NoSchedule",
      "annotate node dev-gpu-0 --overwrite stackadm.io/marks=a=1,b=2 example.org/gpu=yes:NoSchedule",
    ]);
  });

  it("changes no node whose record matches the group, so that manual changes stay", () => {
    const had = gpu.replace("dev-gpu ", "");
    assert.deepEqual(written(run(gpu, [`dev-gpu-0 ${had}`])), []);
  });

  it("removes only labels and taints that the script set and that the group no longer has", () => {
    const had = "a=9,c=3 old=:NoExecute,example.org/gpu=no:NoSchedule";
    assert.deepEqual(written(run(gpu, [`dev-gpu-0 ${had}`])).slice(0, 3), [
      "label node dev-gpu-0 --overwrite c- a=1 b=2",
      "taint node dev-gpu-0 old:NoExecute-",
      "taint node dev-gpu-0 --overwrite example.org/gpu=yes:NoSchedule",
    ]);
    assert.deepEqual(written(run("", ["dev-gpu-0 a=1 -"])), [
      "label node dev-gpu-0 --overwrite a-",
      "annotate node dev-gpu-0 stackadm.io/marks-",
    ]);
  });

  it("ignores a malformed record, since the node can write the annotation", () => {
    for (const forged of [
      "- -\ndev-control-plane-0 a=1 -",
      "--all=1 -",
      "a=1",
      "a=1 - b",
      "a=$(id) -",
    ]) {
      const done = written(run("", [`dev-gpu-0 ${forged}`, "dev-general-0 "]));
      assert.deepEqual(done, [], forged);
      const [first] = written(run(gpu, [`dev-gpu-0 ${forged}`]));
      assert.equal(first, "label node dev-gpu-0 --overwrite a=1 b=2", forged);
    }
  });

  it("removes nothing if the ConfigMap cannot be read", () => {
    const { code, calls } = run("", ["dev-gpu-0 a=1 -"], "*configmap*) exit 1 ;;");
    assert.notEqual(code, 0);
    assert.equal(calls.length, 1);
  });

  it("keeps the record of a node that refuses a taint, and continues with the other nodes", () => {
    const done = run(gpu, ["dev-gpu-0 ", "dev-gpu-1 "], '"taint node dev-gpu-0"*) exit 1 ;;');
    assert.equal(done.code, 1);
    const noted = written(done).filter((call) => call.startsWith("annotate"));
    assert.deepEqual(
      noted.map((call) => call.split(" ")[2]),
      ["dev-gpu-1"],
    );
  });

  it("ignores a taint that the user already removed", () => {
    const done = run(gpu, ["dev-gpu-0 - old=:NoExecute"], "*NoExecute-) exit 1 ;;");
    assert.equal(done.code, 0, done.stderr);
    assert.equal(written(done).length, 4);
  });
});

describe("install-labels-and-taints.sh", () => {
  let machine: Sandbox;
  const program = "usr/local/sbin/stackadm-marks";
  const timer = "etc/systemd/system/stackadm-marks.timer";
  const run = (rows: string): Outcome =>
    runControlPlane(machine, { NODE_MARKS: rows, MARKS_SCRIPT: "#!/bin/bash\nkubectl marked\n" });
  beforeEach(() => {
    machine = controlPlaneMachine();
  });
  afterEach(() => {
    machine.close();
  });

  it("changes nothing if no group has labels or taints", () => {
    const { code, calls } = run("");
    assert.equal(code, 0);
    assert.equal(machine.file(program), undefined);
    assert.ok(!calls.some((call) => call.includes("stackadm-marks")));
  });

  it("writes the ConfigMap, then sets labels and taints, then starts the timer", () => {
    const { code, calls, stderr } = run(gpu);
    assert.equal(code, 0, stderr);
    const order = [
      "kubectl .* apply -f",
      "kubectl marked",
      "systemctl enable --now stackadm-marks",
    ];
    const found = order.map((text) => calls.findIndex((call) => new RegExp(text).test(call)));
    assert.deepEqual(
      found,
      [...found].sort((one, other) => one - other),
    );
    assert.ok(!found.includes(-1), String(found));
    assert.equal(machine.file("run/stackadm/marks"), gpu);
    assert.match(machine.file(timer) ?? "", /OnUnitInactiveSec=60/);
  });

  it("deletes ConfigMap, labels, taints and timer once if no group has labels or taints any more", () => {
    run(gpu);
    const { code, calls } = run("");
    assert.equal(code, 0);
    const order = ["delete configmap stackadm-marks", "kubectl marked", "disable --now"];
    const found = order.map((text) => calls.findIndex((call) => call.includes(text)));
    assert.deepEqual(
      found,
      [...found].sort((one, other) => one - other),
    );
    assert.ok(!found.includes(-1), String(found));
    assert.equal(machine.file(timer), undefined);
    assert.ok(!run("").calls.some((call) => call.includes("marks")));
  });
});

describe("the join of a machine", () => {
  let machine: Sandbox;
  const join = (): Outcome =>
    machine.execute(
      issueJoinCredentialsProgram,
      "token",
      "a",
      sandboxServer,
      "10.0.0.9",
      "joined abcdef",
    );
  beforeEach(() => {
    machine = new Sandbox({
      kubeadm: "exit 0",
      "systemd-run": "exit 0",
      kubectl: `case "$*" in *readyz*) printf ok ;; "get nodes"*) printf 'a=True\\n' ;; esac`,
    });
  });
  afterEach(() => {
    machine.close();
  });

  it("sets the node's labels and taints before the node counts as joined", () => {
    machine.put("usr/local/sbin/stackadm-marks", "#!/bin/bash\nkubectl marked\n");
    assert.ok(!join().calls.includes("kubectl marked"), "no program that cannot be run");
    machine.execute(`chmod 0755 ${machine.root}/usr/local/sbin/stackadm-marks`);
    const { code, calls } = join();
    assert.equal(code, 0);
    const [marked, asked] = ["kubectl marked", "kubectl get nodes"].map((text) =>
      calls.findIndex((call) => call.startsWith(text)),
    );
    assert.ok(marked !== undefined && asked !== undefined && marked >= 0 && marked < asked);
  });
});
