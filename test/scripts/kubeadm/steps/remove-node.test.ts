import { strict as assert } from "node:assert";
import { leaveScripts } from "../../../../components/kubeadm/node-scripts.js";
import { readScriptResult } from "../../../../components/remote-scripts/script-result.js";
import { Sandbox, type Outcome } from "../../../support/machine/sandbox.js";

const label = "node.kubernetes.io/exclude-from-external-load-balancers";
const leaving = "0b1c2d3e-0000-4000-8000-000000000001";
const removed = `kubectl label node dev-general-0 ${label}-`;
const uncordoned = "kubectl uncordon dev-general-0";
const values = {
  NODE_NAME: "dev-general-0",
  LEAVING_SERVER: leaving,
  LEAVING_ADDRESS: "10.0.0.6",
  LEAVES: "drain",
  DELETES_NODE: "",
  SERVER_ID: "0b1c2d3e-0000-4000-8000-00000000000f",
};

describe("remove-node.sh", () => {
  let machine: Sandbox;
  /** Sets kubectl's answer about the node; `more` are further cases of kubectl. */
  const cluster = (node: string, ...more: readonly string[]): void => {
    const cases = [
      ...["*readyz*) printf ok ;;", `"get node "*) printf '${node}' ;;`, ...more],
      "*configmap*cluster-info*) echo signature ;;",
    ];
    machine.stub("kubectl", `case "$*" in\n${cases.join("\n")}\nesac`);
  };
  const run = (scripts: readonly string[] = leaveScripts): Outcome => machine.run(scripts, values);
  /** Returns the calls that change the cluster. */
  const deeds = ({ calls }: Outcome): string[] =>
    calls.filter((call) => /^kubectl (label|drain|uncordon|delete)/.test(call));
  const left = ({ stdout }: Outcome): unknown => readScriptResult(stdout)?.["left"];

  beforeEach(() => {
    machine = new Sandbox({
      hostname: "echo machine",
      kubeadm: 'case "$1 $2" in "token create") echo abcdef.0123456789abcdef ;; esac',
    });
    machine.put("etc/kubernetes/admin.conf");
  });
  afterEach(() => {
    machine.close();
  });

  it("removes the machine from load balancers, drains the node with a time limit, and keeps the node", () => {
    cluster(`openstack:///${leaving} True`);
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.equal(left(done), "drained");
    assert.deepEqual(deeds(done), [
      `kubectl label node dev-general-0 ${label}=leaving`,
      "kubectl drain dev-general-0 --ignore-daemonsets --delete-emptydir-data --timeout=600s",
    ]);
  });

  it("deletes the Node object of the leaving server if no cloud controller deletes it", () => {
    const deleted = (state: string): string[] => {
      cluster(state);
      const done = machine.run(leaveScripts, { ...values, DELETES_NODE: "yes" });
      assert.equal(done.code, 0, done.stderr);
      return deeds(done).filter((call) => call.startsWith("kubectl delete"));
    };
    const call = "kubectl delete node dev-general-0 --ignore-not-found";
    for (const ready of ["True", "Unknown"])
      assert.deepEqual(deleted(`openstack:///${leaving} ${ready}`), [call]);
    assert.deepEqual(deleted(`openstack:///${values.SERVER_ID} True`), []);
    assert.deepEqual(deleted(""), []);
  });

  it("proves with a token that another machine could join, before it changes the node", () => {
    cluster(`openstack:///${leaving} True`);
    const { calls } = run();
    const [create = "", read = "", remove = "", next = ""] = calls.slice(
      calls.findIndex((call) => call.startsWith("kubeadm")),
    );
    assert.equal(
      create,
      "kubeadm token create --ttl 2m --description check before dev-general-0 leaves",
    );
    assert.match(
      read,
      /^kubectl -n kube-public get configmap cluster-info .*jws-kubeconfig-abcdef/,
    );
    assert.equal(remove, "kubeadm token delete abcdef");
    assert.match(next, /^kubectl get events /);
  });

  for (const leaves of ["drain", "drain remove-etcd-member"])
    it(`changes nothing if no token is signed, because no machine could join: ${leaves}`, () => {
      cluster(`openstack:///${leaving} True`, "*cluster-info*) ;;");
      const { code, stderr, calls } = machine.run(leaveScripts, { ...values, LEAVES: leaves });
      assert.equal(code, 1);
      assert.match(
        stderr,
        /reason: \[NOT_READY\] dev-general-0 keeps its server, because no other machine could join: kube-controller-manager signed no token within 60 s/,
      );
      assert.ok(calls.includes("kubeadm token delete abcdef"));
      assert.deepEqual(
        calls.filter((call) => /^kubectl (label|drain|uncordon)|member/.test(call)),
        [],
      );
    });

  it("changes nothing if kubeadm creates no token", () => {
    machine.stub("kubeadm", "exit 1");
    cluster(`openstack:///${leaving} True`);
    const done = run();
    assert.equal(done.code, 1);
    assert.match(done.stderr, /dev-general-0 keeps its server, because kubeadm creates no token/);
    assert.deepEqual(deeds(done), []);
  });

  for (const [what, command] of [
    ["no token is signed", "case $2 in create) echo abcdef.0123456789abcdef ;; esac"],
    ["kubeadm creates no token", "exit 1"],
  ] as const)
    it(`restores the node that an interrupted run has drained if ${what}`, () => {
      machine.stub("kubeadm", command);
      for (const [state, calls] of [
        ["true label=leaving", [uncordoned, removed]],
        ["true label=leaving-cordoned", [removed]],
        ["true", []],
      ] as const) {
        machine.stub(
          "kubectl",
          `case "$*" in *readyz*) printf ok ;; *unschedulable*) printf '${state}' ;; "get node "*) printf 'openstack:///${leaving} True' ;; esac`,
        );
        const done = run();
        assert.equal(done.code, 1);
        assert.deepEqual(deeds(done), calls);
      }
    });

  it("does nothing if the node is not Ready, since the node's pods would never end", () => {
    for (const state of ["False", "Unknown", ""]) {
      cluster(`openstack:///${leaving} ${state}`);
      const done = run();
      assert.equal(left(done), "nothing");
      assert.deepEqual(deeds(done), []);
      assert.ok(!done.calls.some((call) => call.startsWith("kubeadm")));
    }
  });

  it("does nothing if the node belongs to another server or does not exist", () => {
    for (const node of [`openstack:///${values.SERVER_ID} True`, ""]) {
      cluster(node);
      const done = run();
      assert.equal(left(done), "nothing");
      assert.deepEqual(deeds(done), []);
    }
  });

  it("does nothing if no cluster exists", () => {
    const empty = new Sandbox({ hostname: "echo machine" });
    try {
      const done = empty.run(leaveScripts, values);
      assert.equal(left(done), "nothing");
      assert.deepEqual(done.calls, []);
    } finally {
      empty.close();
    }
  });

  it("reports the blocking disruption budget, and keeps the machine in service", () => {
    const refusal = 'error when evicting pods/"web-1" -n "shop"';
    cluster(
      `openstack:///${leaving} True`,
      `drain*) echo '${refusal} (will retry after 5s): Cannot evict pod as it would violate the budget.' >&2; exit 1 ;;`,
    );
    const { code, stderr, stdout, calls } = run();
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.match(
      stderr,
      /dev-general-0 was not drained after \d+ s and keeps its server; what blocks it: error when evicting pods\/"web-1" -n "shop": Cannot evict pod/,
    );
    const last = calls.filter((call) => /^kubectl (label|uncordon|delete)/.test(call)).slice(1);
    assert.deepEqual(last, [
      "kubectl uncordon dev-general-0",
      `kubectl label node dev-general-0 ${label}-`,
    ]);
  });

  describe("that cannot drain the node", () => {
    /** Returns the calls that change the cluster. `state` is the node's state before the run. */
    const failed = (state: string): string[] => {
      machine.stub(
        "kubectl",
        `case "$*" in *readyz*) printf ok ;; *cluster-info*) echo signature ;; *unschedulable*) printf '${state}' ;; "get node "*) printf 'openstack:///${leaving} True' ;; drain*) exit 1 ;; esac`,
      );
      const done = run();
      assert.equal(done.code, 1);
      return deeds(done).filter((call) => !call.startsWith("kubectl drain"));
    };
    const set = (value: string): string => `kubectl label node dev-general-0 ${label}=${value}`;
    for (const [what, state, calls] of [
      ["a schedulable node", "<no value>", [set("leaving"), uncordoned, removed]],
      ["a node that the user cordoned", "true", [set("leaving-cordoned"), removed]],
      [
        "a node whose join has not finished",
        "<no value> label=joining",
        [`${set("leaving")} --overwrite`, uncordoned, removed],
      ],
      ["a node that the user labelled", "<no value> label=", [uncordoned]],
      ["a node that the user labelled with a value", "<no value> label=true", [uncordoned]],
      ["a node that the user labelled and cordoned", "true label=", []],
      ["the node of an interrupted run", "true label=leaving", [uncordoned, removed]],
      ["the cordoned node of an interrupted run", "true label=leaving-cordoned", [removed]],
    ] as const)
      it(`restores the former state of ${what}`, () => {
        assert.deepEqual(failed(state), calls);
      });
  });

  describe("with load balancers of Services", () => {
    /** Runs the script. `updates` is a shell command that prints the updates after the label. */
    const withBalancers = (updates: string, state = "<no value>"): Outcome => {
      machine.stub(
        "kubectl",
        `case "$*" in *readyz*) printf ok ;; *cluster-info*) echo signature ;; *unschedulable*) printf '${state}' ;; "get node "*) printf 'openstack:///${leaving} True' ;; label*) touch $root/labelled ;; "get services"*) printf 'a/web\\nb/api\\n' ;; "get events"*) if [ -e $root/labelled ]; then ${updates}; else printf 'a/web 5\\n'; fi ;; esac`,
      );
      return run();
    };
    const looks = ({ calls }: Outcome): number =>
      calls.filter((call) => call.startsWith("kubectl get events")).length;

    it("waits until the cloud controller manager has updated each of them", () => {
      const done = withBalancers(
        "echo x >>$root/looks; case $(grep -c x $root/looks) in 1) printf 'a/web 5\\n' ;; 2) printf 'a/web 6\\n' ;; *) printf 'a/web 6\\nb/api 7\\n' ;; esac",
      );
      assert.equal(done.code, 0, done.stderr);
      assert.equal(looks(done), 4);
      assert.doesNotMatch(done.stderr, /may still send/);
    });

    it("stops waiting after a minute without an update, and names the Services", () => {
      const done = withBalancers("printf 'a/web 6\\n'");
      assert.equal(done.code, 0, done.stderr);
      assert.match(done.stderr, /Services may still send connections to it: b\/api\n/);
      assert.ok(looks(done) > 55 && looks(done) < 70, String(looks(done)));
    });

    it("waits for no Service with a class, whose controller creates no such events", () => {
      const { calls } = withBalancers("printf 'a/web 6\\nb/api 7\\n'");
      const [services = ""] = calls.filter((call) => call.startsWith("kubectl get services"));
      assert.match(services, /\(not \.spec\.loadBalancerClass\)/);
    });

    it("does not wait if the node was no member before", () => {
      assert.equal(looks(withBalancers("exit 1", "<no value> label=true")), 1);
    });
  });

  it("reports every 30 s what blocks the drain", () => {
    cluster(
      `openstack:///${leaving} True`,
      `drain*) echo 'error when evicting pods/"web-1" -n "shop" (will retry after 5s): Cannot evict pod as it would violate the budget.' >&2 ;;`,
    );
    // The stub of tail ends as if 30 s had passed.
    machine.stub(
      "tail",
      `case "$*" in *--pid*) [ -e $root/passed ] || { sleep 0.5; touch $root/passed; exit 124; } ;; esac; exec /usr/bin/tail "$@"`,
    );
    const { code, stderr } = run();
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /dev-general-0: the drain waits: error when evicting pods\/"web-1" -n "shop": Cannot evict/,
    );
  });

  it("waits for the end of the drain without reports if tail cannot follow a process", () => {
    cluster(`openstack:///${leaving} True`, "drain*) sleep 1 ;;");
    machine.stub(
      "tail",
      `case "$*" in *--pid*) echo x >>$root/tails; exit 1 ;; esac; exec /usr/bin/tail "$@"`,
    );
    const { code, stderr } = run();
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /the drain waits/);
    assert.equal(machine.file("tails"), "x\n");
  });

  describe("on a control plane", () => {
    const all = { ...values, LEAVES: "drain remove-etcd-member" };
    const atOnce = leaveScripts.map((text) =>
      text.replaceAll("poll 60 try_remove_etcd_member", "try_remove_etcd_member"),
    );

    it("uncordons the node if etcd refuses to remove the member", () => {
      machine.stub(
        "kubectl",
        `case "$*" in *readyz*) printf ok ;; *cluster-info*) echo signature ;; "get node "*) printf 'openstack:///${leaving} True' ;; *"member list"*) printf '91bc3c398fb3c146, started, b, https://10.0.0.6:2380, , false\n' ;; *"member remove"*) exit 1 ;; esac`,
      );
      const { code, stderr, calls } = machine.run(atOnce, all);
      assert.equal(code, 1);
      assert.match(stderr, /reason: etcd does not let dev-general-0 go/);
      assert.ok(calls.includes("kubectl uncordon dev-general-0"));
    });

    const members =
      '"exec"*|*" exec "*"member list"*) printf \'8e9e05c52164694d, started, a, https://10.0.0.5:2380, , false\\n91bc3c398fb3c146, started, b, https://10.0.0.6:2380, , false\\n\' ;;';
    const removed = ({ calls }: Outcome): string[] =>
      calls.flatMap((call) => / member remove (.*)$/.exec(call)?.[1] ?? []);

    it("retries if etcd refuses the removal at first, as after another member's removal", () => {
      cluster(
        `openstack:///${leaving} True`,
        `*"member remove"*) [ -e $root/refused ] || { touch $root/refused; exit 1; } ;; ${members}`,
      );
      const done = machine.run(leaveScripts, all);
      assert.equal(done.code, 0, done.stderr);
      assert.deepEqual(removed(done), ["91bc3c398fb3c146", "91bc3c398fb3c146"]);
    });

    it("removes the etcd member at the machine's address, even if the machine is dead", () => {
      for (const ready of ["True", "Unknown"]) {
        cluster(`openstack:///${leaving} ${ready}`, members);
        const done = machine.run(leaveScripts, all);
        assert.equal(done.code, 0, done.stderr);
        assert.deepEqual(removed(done), ["91bc3c398fb3c146"]);
      }
    });

    it("fails if etcd does not list the members, so that the server stays", () => {
      cluster(`openstack:///${leaving} Unknown`, '*"member list"*) exit 1 ;;');
      const { code, stderr } = machine.run(atOnce, all);
      assert.equal(code, 1);
      assert.match(stderr, /etcd does not say who its members are, so dev-general-0 cannot leave/);
    });

    it("sends no request to etcd for a worker", () => {
      cluster(`openstack:///${leaving} True`, members);
      assert.ok(!run().calls.some((call) => call.includes("etcdctl")));
    });
  });

  it("waits until the volumes are detached", () => {
    cluster(
      `openstack:///${leaving} True`,
      '"get volumeattachments"*) [ -e $root/looked ] || echo csi-1; touch $root/looked ;;',
    );
    const { code, calls } = run();
    assert.equal(code, 0);
    assert.equal(calls.filter((call) => call.includes("volumeattachments")).length, 2);
  });

  it("fails if the API server does not answer or does not return the node", () => {
    const quick = leaveScripts.map((text) => text.replace("poll 60", "poll 1"));
    machine.stub("kubectl", "exit 1");
    const silent = run(quick);
    assert.equal(silent.code, 1);
    assert.match(silent.stderr, /the API server does not answer, so dev-general-0 cannot leave/);
    machine.stub("kubectl", 'case "$*" in *readyz*) printf ok ;; *) exit 1 ;; esac');
    const unsure = run(quick);
    assert.equal(unsure.code, 1);
    assert.match(unsure.stderr, /does not return the node dev-general-0/);
    assert.deepEqual(deeds(unsure), []);
  });
});
