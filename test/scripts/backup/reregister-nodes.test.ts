import { strict as assert } from "node:assert";
import { restoredMachine, stepsOn } from "../../support/machine/restored-machine.js";
import type { Sandbox } from "../../support/machine/sandbox.js";

describe("reregister-nodes.sh", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = restoredMachine();
  });
  afterEach(() => {
    machine.close();
  });
  const { well } = stepsOn(() => machine);

  it("restarts kubelet and the controllers, and keeps the node of an unchanged server", () => {
    well("stop");
    const { calls } = well("start-api");
    assert.deepEqual(
      calls.filter((call) => /^(crictl stop|systemctl restart)/.test(call)),
      ["crictl stop c0", "crictl stop 5c", "systemctl restart kubelet"],
    );
    assert.deepEqual(
      calls.filter((call) => /delete node|taint node|label node/.test(call)),
      [],
    );
    assert.ok(
      calls.some((call) => call.includes("--server https://10.0.0.10:6443 get --raw /readyz")),
    );
  });

  const marked = (): string[] => {
    machine.put("known", "openstack:///0f");
    return well("start-api").calls.flatMap(
      (call) => /(delete|taint|label) node .*/.exec(call)?.[0] ?? [],
    );
  };

  it("deletes the node of a former server, and sets taint and labels on the new node", () => {
    assert.deepEqual(marked(), [
      "delete node dev-control-plane-0 --ignore-not-found --wait=false",
      "taint node dev-control-plane-0 --overwrite node-role.kubernetes.io/control-plane=:NoSchedule",
      "label node dev-control-plane-0 --overwrite node.kubernetes.io/exclude-from-external-load-balancers=",
      "label node dev-control-plane-0 --overwrite node-role.kubernetes.io/control-plane=",
    ]);
  });

  it("sets the taint on a node that was registered after the backup", () => {
    machine.stub(
      "kubectl",
      `case "$*" in *readyz*) printf ok ;;
        *providerID*) if [ -e $root/seen ]; then cat $root/own; else touch $root/seen; fi ;; esac`,
    );
    assert.deepEqual(marked().slice(0, 1), [
      "taint node dev-control-plane-0 --overwrite node-role.kubernetes.io/control-plane=:NoSchedule",
    ]);
  });

  it("prints a note and succeeds if the node of a former server cannot be deleted", () => {
    machine.put("known", "openstack:///0f");
    machine.stub(
      "kubectl",
      'case "$*" in *readyz*) printf ok ;; *providerID*) cat $root/known ;; *) exit 1 ;; esac',
    );
    assert.match(
      well("start-api").stdout,
      /^note: the node dev-control-plane-0 still describes the former machine/,
    );
  });

  it("records whether the restored taints allow user pods on the control plane", () => {
    const after = (taints: string): boolean => {
      machine.put("taints", taints);
      well("start-api");
      return machine.file("var/lib/stackadm/schedulable") !== undefined;
    };
    const taint = "node-role.kubernetes.io/control-plane";
    // The value from before the restore does not matter.
    assert.deepEqual(["", taint, `other ${taint}`, "other"].map(after), [true, false, false, true]);
  });

  it("keeps the recorded value if the node's taints cannot be read", () => {
    machine.put("var/lib/stackadm/schedulable");
    machine.stub("kubectl", machine.bodyOf("kubectl").replace("cat $root/taints", "exit 1"));
    assert.match(
      well("start-api").stdout,
      /^note: dev-control-plane-0 cannot read whether pods of users may run/m,
    );
    assert.equal(machine.file("var/lib/stackadm/schedulable"), "");
  });

  it("lists the nodes, deletes a named node, and restarts kubelet", () => {
    assert.match(well("nodes").calls.join(), /get nodes -o jsonpath/);
    assert.match(well("forget-node", "dev-general-0").calls.join(), /delete node dev-general-0/);
    assert.deepEqual(well("register").calls, ["systemctl restart kubelet"]);
  });

  it("sets no taint on a control plane that runs user pods", () => {
    machine.put("taints", "");
    assert.deepEqual(marked(), [
      "delete node dev-control-plane-0 --ignore-not-found --wait=false",
      "label node dev-control-plane-0 --overwrite node-role.kubernetes.io/control-plane=",
    ]);
  });
});
