import assert from "node:assert/strict";
import { Failure } from "../../../../base/failures/failure.js";
import { inServer } from "../../support/machines/machines.js";
import { changes } from "../../support/stack/lab-cluster.js";
import { kubectlOn } from "../../support/kubernetes/kubectl.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;

describe("the configuration of Kubernetes components, on the lab", function () {
  this.timeout(20 * minutes);
  const stack = new Stack("configured");
  const changed = (kubernetes: object): Record<string, unknown> => ({
    controlPlane: { flavor: "k8s-control-plane", count: 1 },
    workers: { general: { flavor: "k8s-worker", count: 1 } },
    samples: false,
    kubernetes,
  });
  const flags = (extraArgs: object): object => ({ apiServer: { extraArgs } });
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  const patched = (memory: string): object => ({
    patches: {
      "kube-scheduler": [
        {
          type: "strategic",
          patch: {
            metadata: { annotations: { "example.org/memory": memory } },
            spec: { containers: [{ name: "kube-scheduler", resources: { requests: { memory } } }] },
          },
        },
      ],
    },
  });

  const onControlPlane = (line: string): Promise<string> =>
    inServer(stack.serverOf("control-plane-0"), line);
  const apiServer = (): Promise<string> =>
    onControlPlane("tr '\\0' ' ' </proc/$(pgrep -o kube-apiserver)/cmdline");
  const maxPods = async (machine: string): Promise<string> =>
    (
      await kubectlOn(
        stack.serverOf("control-plane-0"),
        `get node ${stack.name}-${machine} -o jsonpath={.status.capacity.pods}`,
      )
    ).trim();

  it("includes a flag and an audit log with user names from the first `up`", async () => {
    await stack.up(changed(flags({ "event-ttl": "2h" })));
    assert.match(await apiServer(), / --event-ttl=2h /);
    const line = await onControlPlane("tail -n 1 /var/log/kubernetes/audit/audit.log");
    assert.match(line, /"level":"Metadata".*"user":\{"username":/);
    await stack.prove(1);
  });

  it("has no changes on a second `up`", async () => {
    await stack.up(changed(flags({ "event-ttl": "2h" })));
    assert.deepEqual(changes(stack.cluster.seen.events), {});
  });

  it("renews certificates with the same names, and the API keeps working", async () => {
    // Starts the service that the timer runs. There is no certificate to renew yet.
    await onControlPlane("systemctl start stackadm-certificates.service");
    await onControlPlane("systemctl is-active stackadm-certificates.timer");
    const served = async (): Promise<{ end: number; names: string }> => {
      const text = await onControlPlane(
        "openssl s_client -connect 127.0.0.1:6443 </dev/null 2>/dev/null | openssl x509 -noout -enddate -ext subjectAltName",
      );
      const [line = "", end = ""] = /^notAfter=(.*)$/m.exec(text) ?? [];
      return { end: Date.parse(end), names: text.replace(line, "") };
    };
    const before = await served();
    await onControlPlane("flock /run/stackadm/lock /usr/local/sbin/stackadm-certificates now");
    const after = await served();
    assert.ok(after.end > before.end, JSON.stringify({ before, after }));
    assert.equal(after.names, before.names);
    await onControlPlane("test ! -e /etc/kubernetes/stackadm-former-certificates");
    // Uses the kubeconfig in the state, which is older than the renewal.
    await stack.prove(1);
  });

  it("changes on a running cluster, and interrupts the API for less than 90 seconds", async () => {
    await onControlPlane(
      "systemd-run --quiet --unit watch-api sh -c 'while sleep 0.5; do curl -skf -m 1 https://127.0.0.1:6443/livez >/dev/null || date +%s >>/run/api-away; done'",
    );
    await stack.up(changed({ ...flags({ "event-ttl": "3h" }), kubelet: { maxPods: 60 } }));
    await onControlPlane("systemctl stop watch-api");
    assert.match(await apiServer(), / --event-ttl=3h /);
    for (const machine of ["control-plane-0", "general-0"])
      assert.equal(await maxPods(machine), "60", machine);
    const away = await onControlPlane("sed -n '1p;$p' /run/api-away");
    const [from = 0, to = 0] = away.trim().split("\n").map(Number);
    assert.ok(to - from < 90, away);
    await stack.prove(1);
  });

  /**
   * Returns the memory request in the scheduler's running pod, and the scheduler's manifest.
   * kubeadm's patches are visible only in the pod.
   */
  const scheduler = async (): Promise<{ memory: string | undefined; manifest: string }> => {
    const sandbox = await onControlPlane(
      "crictl inspectp $(crictl pods --quiet --state ready --latest --name '^kube-scheduler-') | grep -o 'example.org/memory\": \"[0-9A-Za-z]*' | head -n 1",
    );
    const manifest = await onControlPlane("cat /etc/kubernetes/manifests/kube-scheduler.yaml");
    return { memory: /: "(\w+)/.exec(sandbox)?.[1], manifest };
  };

  it("adds, changes and removes a patch of the scheduler's pod, and rolls back a broken patch", async () => {
    const others = { ...flags({ "event-ttl": "3h" }), kubelet: { maxPods: 60 } };
    const before = (await scheduler()).manifest;
    for (const memory of ["72Mi", "80Mi"]) {
      await stack.up(changed({ ...others, ...patched(memory) }));
      const now = await scheduler();
      assert.equal(now.memory, memory);
      assert.match(now.manifest, new RegExp(`memory: ${memory}`));
      assert.match(now.manifest, /cpu: 100m/);
    }
    await stack.up(changed({ ...others, ...patched("80Mi") }));
    assert.deepEqual(changes(stack.cluster.seen.events), {});
    const broken = {
      patches: {
        "kube-scheduler": [
          { patch: { spec: { containers: [{ name: "kube-scheduler", workingDir: "/none/x" }] } } },
          {
            patch: {
              spec: { containers: [{ name: "kube-scheduler", securityContext: { runAsUser: 7 } }] },
            },
          },
        ],
      },
    };
    await assert.rejects(
      stack.up(changed({ ...others, ...broken })),
      (error: unknown) =>
        error instanceof Failure &&
        error.code === "CONFIGURATION_UNDONE" &&
        /kube-scheduler .* flags and patches .* its former ones again/.test(error.message),
    );
    assert.equal((await scheduler()).memory, "80Mi");
    await stack.up(changed(others));
    const after = await scheduler();
    assert.equal(after.memory, undefined);
    assert.equal(after.manifest, before);
    await onControlPlane("test ! -e /etc/kubernetes/stackadm-patches");
    await stack.prove(1);
  });

  it("rolls back an invalid flag, reports the API server's error, and keeps the API available", async () => {
    const kubelet = { maxPods: 60 };
    await assert.rejects(
      stack.up(changed({ ...flags({ "event-tll": "4h" }), kubelet })),
      (error: unknown) =>
        error instanceof Failure &&
        error.code === "CONFIGURATION_UNDONE" &&
        /kube-apiserver .* its former ones again; it said: .*event-tll/.test(error.message),
    );
    assert.match(await apiServer(), / --event-ttl=3h /);
    await stack.up(changed({ ...flags({ "event-ttl": "3h" }), kubelet }));
    await stack.prove(1);
  });

  it("leaves no objects after the cluster is destroyed", async () => {
    await stack.destroyAndLookAround();
  });
});
