import { strict as assert } from "node:assert";
import { teardownScripts } from "../../../../components/kubeadm/node-scripts.js";
import {
  common,
  kubectl,
  patience,
  services,
  volumes,
} from "../../../support/machine/release-stubs.js";
import { Sandbox } from "../../../support/machine/sandbox.js";

describe("release-cluster-objects.sh", () => {
  let machine: Sandbox;
  const living = (cases: Readonly<Record<string, string>>): void => {
    machine.stub("kubectl", kubectl(cases));
    machine.put("etc/kubernetes/admin.conf");
  };
  const run = (scripts = teardownScripts as readonly string[]) =>
    machine.run(scripts, { OTHERS: "no" });
  const deleted = (): string[] => [
    ...new Set((machine.file("deleted") ?? "").trimEnd().split("\n")),
  ];
  const reasonOf = (stderr: string): string => stderr.trimEnd().split("\n").at(-1) ?? "";
  beforeEach(() => {
    machine = new Sandbox(common);
  });
  afterEach(() => {
    machine.close();
  });

  it("does nothing if no cluster exists", () => {
    assert.equal(run().stdout, '\n@stackadm {"released": "nothing"}\n');
  });

  it("fails on a machine that has not joined yet if other control planes exist", () => {
    const { code, stderr } = machine.run(teardownScripts, { OTHERS: "yes" });
    assert.equal(code, 1);
    assert.match(stderr, /reason: \[KUBERNETES_UNREACHABLE\] machine is no control plane yet/);
  });

  it("deletes services, claims and the pods that use the claims, and waits for the deletion", () => {
    living({
      [services]: '[ -e $root/no-services ] || echo "service there shop web x,"',
      '"delete Service"*': "touch $root/no-services",
      [volumes]: [
        "[ ! -e $root/no-volumes ] || exit 0",
        'echo "volume there - pvc-1 x,"; echo "class there - gold"',
        'echo "claim there shop data pvc-1 gold x,"; echo "claim there shop other nfs-1 nfs x,"',
        'echo "claim there shop next - gold x,"; echo "claim there shop else - nfs x,"',
        'echo "pod there shop db-0 a data x,"; echo "pod there shop db-1 a other x,"',
      ].join("; "),
      '"delete PersistentVolumeClaim"*': "touch $root/no-volumes",
    });
    const { code, stdout, stderr } = run();
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '\n@stackadm {"released": "yes"}\n');
    assert.deepEqual(deleted(), [
      ...["Service shop web", "PersistentVolumeClaim shop data", "PersistentVolumeClaim shop next"],
      "Pod shop db-0",
    ]);
  });

  it("deletes volumes while load balancers remain, once the first load balancer is deleted", () => {
    living({
      [services]: [
        '[ -e $root/deleted ] || echo "service there shop api x,"',
        '[ -e $root/no-volumes ] || echo "service there shop web x,"',
      ].join("; "),
      [volumes]: [
        "[ ! -e $root/no-volumes ] || exit 0",
        'echo "volume there - pvc-1 x,"; echo "claim there shop data pvc-1 gold x,"',
      ].join("; "),
      '"delete PersistentVolumeClaim"*': "touch $root/no-volumes",
    });
    const { code, stderr } = run(patience(1));
    assert.equal(code, 0, stderr);
  });

  it("waits for load balancers longer than two retry intervals of the cloud controller", () => {
    living({
      [services]:
        'echo x >>$root/looks; [ $(wc -l <$root/looks) -gt 22 ] || echo "service going shop web x,"',
    });
    // 30 s pass between two checks.
    const { code, stderr } = run(
      teardownScripts.map((text) => text.replace(/^    sleep 0\.3$/m, "    sleep 30")),
    );
    assert.equal(code, 0, stderr);
  });

  it("keeps all volumes if no load balancer is deleted, since the cluster may stay", () => {
    living({
      [services]: 'echo "service there shop web x,"; echo "service there shop api x,"',
      [volumes]: 'echo "volume there - pvc-1 x,"; echo "claim there shop data pvc-1 gold x,"',
    });
    const { code, stderr } = run(patience(1));
    assert.equal(code, 1);
    assert.match(reasonOf(stderr), /^reason: \[TEARDOWN_BLOCKED\] 2 load balancers are left/);
    assert.deepEqual(deleted(), ["Service shop web", "Service shop api"]);
  });

  it("fails if etcd has lost the cluster's data", () => {
    living({ '"-n kube-system get configmap kubeadm-config"*': "exit 1" });
    const once = teardownScripts.map((text) =>
      text.replace("poll 60 run_kubectl", "poll 1 run_kubectl"),
    );
    const { code, stderr, calls } = run(once);
    assert.equal(code, 1);
    assert.match(
      reasonOf(stderr),
      /^reason: \[KUBERNETES_UNREACHABLE\] .* lost the cluster's data/,
    );
    assert.ok(!calls.some((call) => /delete|apply/.test(call)));
  });

  it("fails if the API server does not list the services", () => {
    machine.stub("kubectl", 'case "$*" in "get services"*) exit 1 ;; esac');
    machine.put("etc/kubernetes/admin.conf");
    const { code, stderr } = run(patience(1));
    assert.equal(code, 1);
    assert.match(reasonOf(stderr), /^reason: \[KUBERNETES_UNREACHABLE\] .* any more, .*balancers/);
  });

  describe("with 300 volumes", () => {
    /** Slow driver: every second check deletes 50 volumes. */
    const many = [
      "gone=$(cat $root/gone 2>/dev/null || echo 0); asked=$(cat $root/asked 2>/dev/null || echo 0)",
      "looks=$(($(cat $root/looks 2>/dev/null || echo 0) + 1)); echo $looks >$root/looks",
      `awk -v gone=$gone -v asked=$asked 'BEGIN { for (i = gone + 1; i <= 300; i++) print "volume there - pvc-" i " x,"; for (i = gone + 1; i <= 300; i++) print "claim", (i > asked ? "there" : "going"), "shop data-" i " pvc-" i " gold x," }'`,
      "((looks % 2 || asked < gone + 50)) || echo $((gone + 50)) >$root/gone",
    ].join("; ");
    const asked =
      'echo $(($(cat $root/asked 2>/dev/null || echo 0) + $(wc -l <<<"$objects"))) >$root/asked';

    it("limits only the time without progress, reports the remaining volumes, and deletes 100 at once", () => {
      living({ [volumes]: many, '"delete PersistentVolumeClaim"*': asked });
      const { code, stderr, calls } = run(patience(2));
      assert.equal(code, 0, stderr);
      assert.ok(0.3 * Number(machine.file("looks")) > 2, "it was over before the bound");
      assert.equal(calls.filter((call) => call.startsWith("kubectl delete -f")).length, 3);
      assert.equal(deleted().length, 300);
      assert.match(stderr, /^\d+ volumes left$/m);
    });
  });

  describe("with recreated objects", () => {
    it("makes the API server refuse new claims and services for half an hour", () => {
      living({
        [services]: "",
        [volumes]: [
          "n=$(cat $root/made 2>/dev/null || echo 1); [ $n != 0 ] || exit 0",
          "echo volume there - pvc-$n x,; echo claim there shop data pvc-$n gold x,",
        ].join("; "),
        // Simulates a StatefulSet, which recreates its claims.
        '"delete PersistentVolumeClaim"*':
          "if [ -e $root/policy ]; then echo 0; else echo 2; fi >$root/made",
      });
      const { code, stderr } = run(patience(2));
      assert.equal(code, 0, stderr);
      const policy = machine.file("policy") ?? "";
      assert.match(policy, /^kind: ValidatingAdmissionPolicy$/m);
      assert.match(policy, /resources: \[persistentvolumeclaims, services\]/);
      const [, until = ""] = /> timestamp\("([^"]+)"\)/.exec(policy) ?? [];
      const minutes = (Date.parse(until) - Date.now()) / 60_000;
      assert.ok(minutes > 25 && minutes < 31, until);
    });

    it("allows new objects again if the teardown fails", () => {
      living({ [services]: "echo service there shop web x," });
      assert.equal(run(patience(1)).code, 1);
      assert.equal(machine.file("policy"), undefined);
    });
  });

  describe("if blocked", () => {
    it("reports the remaining objects with their finalizers, foreign finalizers first", () => {
      living({
        [services]: "",
        [volumes]: [
          ...["volume there - pvc-1 kubernetes.io/pv-protection,", "class there - gold"],
          "claim going shop data pvc-1 gold kubernetes.io/pvc-protection,",
          "pod going shop db-0 a data example.com/backup,example.com/audit,",
        ]
          .map((line) => `echo ${line}`)
          .join("; "),
      });
      const { code, stderr } = run(patience(1));
      assert.equal(code, 1);
      assert.match(
        reasonOf(stderr),
        /^reason: \[TEARDOWN_BLOCKED\] 1 volumes are left, and none went for \d s: pod shop\/db-0 is being deleted, finalizers example.com\/backup,example.com\/audit; volume pvc-1 is there, finalizers kubernetes.io\/pv-protection; claim shop\/data is being deleted, /,
      );
    });

    it("reports five of the remaining objects and the API server's error", () => {
      living({
        [services]: "for i in 1 2 3 4 5 6 7; do echo service there shop web-$i -; done",
        '"delete Service"*':
          'echo "Error from server: admission webhook \\"no\\" denied it" >&2; exit 1',
      });
      const { stderr } = run(patience(1));
      assert.match(
        reasonOf(stderr),
        /\] 7 load balancers are left, .*service shop\/web-5 is there; and 2 more; the API server says: .* denied it$/,
      );
    });
  });

  it("force-deletes pods and attachments of a node that is not Ready, for volumes in deletion only", () => {
    living({
      [services]: "",
      [volumes]: [
        "[ ! -e $root/no-attachment ] || exit 0",
        "echo volume there - pvc-1 x,; echo claim going shop data pvc-1 gold x,; echo claim there shop kept nfs-1 nfs x,",
        "echo pod going shop db-0 dead data x,; echo pod going shop db-1 alive data x,; echo pod there shop keep-0 dead kept x,",
        "echo attachment there - csi-1 dead pvc-1 x,; echo attachment there - csi-2 alive pvc-1 x,; echo attachment there - csi-3 dead nfs-1 x,",
      ].join("; "),
      '"get nodes"*': 'printf "alive other "',
      '"get pods"*':
        "echo pod there kube-system csi-1 dead -; echo pod there kube-system csi-2 alive -; echo pod there kube-system new - -",
      '"delete VolumeAttachment"*': "touch $root/no-attachment",
    });
    const { code, stderr } = run(patience(20));
    assert.equal(code, 0, stderr);
    assert.deepEqual(deleted(), [
      "Pod shop db-0 --force --grace-period=0",
      ...["VolumeAttachment - csi-1", "Pod kube-system csi-1"],
    ]);
  });
});
