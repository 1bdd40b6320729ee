import { strict as assert } from "node:assert";
import { snapshotsScripts } from "../../components/kubeadm/node-scripts.js";
import { Sandbox } from "../support/sandbox.js";

const common: Readonly<Record<string, string>> = { hostname: "echo machine", systemctl: "exit 0" };
const soon = snapshotsScripts.map((text) => text.replaceAll("poll 240", "poll 1"));

describe("snapshots.sh", () => {
  it("does nothing where there is no cluster", () => {
    const machine = new Sandbox(common);
    try {
      assert.equal(machine.run(snapshotsScripts, {}).stdout, '{"released": "nothing"}\n');
    } finally {
      machine.close();
    }
  });

  it("deletes the snapshots that Cinder keeps, and no other driver's, and waits until the driver has let them go", () => {
    const machine = new Sandbox({
      ...common,
      kubectl: [
        'case "$*" in',
        '  *"delete volumesnapshot first"*) touch $root/asked ;;',
        '  "get volumesnapshotcontents"*) [ -e $root/gone ] || echo "default first"; [ ! -e $root/asked ] || touch $root/gone ;;',
        "esac",
      ].join("\n"),
    });
    try {
      machine.put("etc/kubernetes/admin.conf");
      const { code, stdout, stderr, calls } = machine.run(snapshotsScripts, {});
      assert.equal(code, 0, stderr);
      assert.equal(stdout, '{"released": "yes"}\n');
      assert.deepEqual(
        calls.filter((call) => call.includes("delete")),
        ["kubectl -n default delete volumesnapshot first --ignore-not-found --wait=false"],
      );
    } finally {
      machine.close();
    }
  });

  it("says which are left", () => {
    const machine = new Sandbox({
      ...common,
      kubectl: 'case "$*" in "get volumesnapshotcontents"*) echo default first ;; esac',
    });
    try {
      machine.put("etc/kubernetes/admin.conf");
      const { code, stderr } = machine.run(soon, {});
      assert.equal(code, 1);
      assert.match(stderr, /reason: snapshots are left: default first/);
    } finally {
      machine.close();
    }
  });
});
