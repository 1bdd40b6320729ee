import { strict as assert } from "node:assert";
import { teardownScripts } from "../../components/kubeadm/node-scripts.js";
import { Sandbox } from "../support/sandbox.js";

const common: Readonly<Record<string, string>> = {
  hostname: "echo machine",
  systemctl: "exit 0",
};
describe("teardown.sh", () => {
  it("does nothing where there is no cluster", () => {
    const machine = new Sandbox(common);
    try {
      assert.equal(
        machine.run(teardownScripts, { OTHERS: "no" }).stdout,
        '{"released": "nothing"}\n',
      );
    } finally {
      machine.close();
    }
  });

  it("does not take a control plane that has yet to join for the end of the cluster", () => {
    const machine = new Sandbox(common);
    try {
      const { code, stderr } = machine.run(teardownScripts, { OTHERS: "yes" });
      assert.equal(code, 1);
      assert.match(stderr, /reason: \[KUBERNETES_UNREACHABLE\] machine is no control plane yet/);
    } finally {
      machine.close();
    }
  });

  it("deletes services and claims, and waits until both are gone", () => {
    const machine = new Sandbox({
      ...common,
      kubectl: [
        'case "$*" in',
        '  "get services"*) [ -e $root/no-services ] || echo "shop web" ;;',
        '  "delete service"*) touch $root/no-services ;;',
        '  "get persistentvolumes"*) [ -e $root/no-volumes ] || echo "pvc-1 shop data" ;;',
        '  "delete persistentvolumeclaim"*) touch $root/no-volumes ;;',
        '  "get pods"*) echo "db-0 " ;;',
        "esac",
      ].join("\n"),
    });
    try {
      machine.put("etc/kubernetes/admin.conf");
      const { code, stdout, stderr, calls } = machine.run(teardownScripts, { OTHERS: "no" });
      assert.equal(code, 0, stderr);
      assert.equal(stdout, '{"released": "yes"}\n');
      assert.ok(calls.includes("kubectl delete service --namespace shop web --wait=false"));
      assert.ok(
        calls.some((call) => /delete persistentvolumeclaim --namespace shop data/.test(call)),
      );
      assert.ok(calls.some((call) => /delete pod --namespace shop db-0/.test(call)));
    } finally {
      machine.close();
    }
  });

  it("does not take an API server that cannot be asked for an empty cluster", () => {
    const machine = new Sandbox({
      ...common,
      kubectl: 'case "$*" in *readyz*) ;; *) exit 1 ;; esac',
    });
    try {
      machine.put("etc/kubernetes/admin.conf");
      const script = teardownScripts.map((text) => text.replaceAll("poll 240", "poll 1"));
      const { code, stderr } = machine.run(script, {});
      assert.notEqual(code, 0);
      assert.match(stderr, /teardown failed/);
    } finally {
      machine.close();
    }
  });
});
