import { strict as assert } from "node:assert";
import { issueJoinCredentialsProgram } from "../../../../components/kubeadm/node-scripts.js";
import { Sandbox } from "../../../support/machine/sandbox.js";

const common: Readonly<Record<string, string>> = {
  hostname: "echo machine",
  systemctl: "exit 0",
  "systemd-run": "exit 0",
};
const serverId = "0b1c2d3e-0000-4000-8000-000000000001";
/** Arguments that sshd adds to the requested command, from the machine's certificate. */
const worker = ["token", "dev-general-0", serverId, "10.0.0.9"] as const;
const controlPlane = ["certificates", "dev-control-plane-1", serverId, "10.0.0.6"] as const;

/** Returns a case of kubectl: the token was issued for this node. */
const given = (node: string): string =>
  `*" secret bootstrap-token-abcdef "*) printf 'join of ${node}' ;;`;

describe("issue-join-credentials.sh", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox({
      ...common,
      kubeadm: 'case "$1 $2" in "token create") echo abcdef.0123456789abcdef ;; esac',
      kubectl: `case "$*" in *readyz*) printf ok ;; *configmap*) echo signature ;; ${given("dev-general-0")} esac`,
      openssl: 'case "$1" in dgst) echo "abc123 *stdin" ;; *) cat ;; esac',
    });
  });
  afterEach(() => {
    machine.close();
  });

  it("returns a token that is valid for 15 minutes, and the hash of the CA", () => {
    const { code, stdout, calls } = machine.execute(
      issueJoinCredentialsProgram,
      ...worker,
      "token",
    );
    assert.equal(code, 0);
    assert.equal(stdout, "abcdef.0123456789abcdef sha256:abc123 \n");
    assert.ok(calls.includes("kubeadm token create --ttl 15m --description join of dev-general-0"));
  });

  it("sends the caller to another control plane if the local API server does not answer", () => {
    machine.stub("kubectl", "exit 1");
    const { code, calls } = machine.execute(issueJoinCredentialsProgram, ...worker, "token");
    assert.equal(code, 69);
    assert.deepEqual(calls, ["kubectl get --raw /readyz"]);
  });

  describe("for a joining control plane", () => {
    const members = [
      "8e9e05c52164694d, started, dev-control-plane-0, https://10.0.0.5:2380, https://10.0.0.5:2379, false",
      "91bc3c398fb3c146, unstarted, , https://10.0.0.6:2380, , true",
    ];
    beforeEach(() => {
      machine.stub("mktemp", "touch $root/document; echo $root/document");
      machine.stub(
        "kubeadm",
        [
          'case "$*" in',
          '  "token create"*) echo abcdef.0123456789abcdef ;;',
          '  "certs certificate-key") echo CANARY-KEY ;;',
          '  *upload-certs*) cat "$6" >$root/seen ;;',
          '  "token list"*) printf "aaaaaa.0123456789abcdef join of x\\nbbbbbb.0123456789abcdef Proxy for managing TTL for the kubeadm-certs secret\\n" ;;',
          "esac",
        ].join("\n"),
      );
      machine.stub(
        "kubectl",
        `case "$*" in *readyz*) printf ok ;; *kubeadm-config*) printf "kind: ClusterConfiguration\\n" ;; *configmap*) echo s ;; *"member list"*) printf '${members.join("\\n")}\n' ;; ${given("dev-control-plane-1")} esac`,
      );
    });

    it("returns the certificate key, and leaves the key in no argument and in no file", () => {
      const { code, stdout, stderr, calls } = machine.execute(
        issueJoinCredentialsProgram,
        ...controlPlane,
        "token",
      );
      assert.equal(code, 0, stderr);
      assert.equal(stdout, "abcdef.0123456789abcdef sha256:abc123 CANARY-KEY\n");
      assert.match(
        machine.file("seen") ?? "",
        /^kind: ClusterConfiguration\n---\n.*\nkind: InitConfiguration\ncertificateKey: CANARY-KEY\n$/s,
      );
      for (const call of calls) assert.doesNotMatch(call, /CANARY/);
      assert.equal(machine.file("document"), undefined);
    });

    it("returns the files that flags name and the recorded settings, and refuses both to a worker", () => {
      machine.put("etc/kubernetes/stackadm/admission-000000000001.yaml", "ONE");
      machine.put("etc/kubernetes/stackadm/oidc-ca-000000000002.crt", "TWO");
      machine.put("etc/kubernetes/stackadm-encryption/000000000003.yaml", "KEY");
      machine.put("etc/kubernetes/stackadm-encryption/000000000003.encrypts", "NOT READ");
      machine.put("var/lib/stackadm/kept-kubelet", "maxPods: 1\n");
      assert.equal(
        machine.execute(issueJoinCredentialsProgram, ...controlPlane, "files").stdout,
        "admission-000000000001.yaml T05F\noidc-ca-000000000002.crt VFdP\nstackadm-encryption/000000000003.yaml S0VZ\nkept/kubelet\n",
      );
      assert.equal(machine.execute(issueJoinCredentialsProgram, ...worker, "files").code, 64);
    });

    it("removes only the etcd member at the joining machine's address", () => {
      const removed = (address: string): string[] =>
        machine
          .execute(
            issueJoinCredentialsProgram,
            "certificates",
            "dev-control-plane-1",
            serverId,
            address,
            "token",
          )
          .calls.flatMap((call) => / member remove (.*)$/.exec(call)?.[1] ?? []);
      assert.deepEqual(removed("10.0.0.6"), ["91bc3c398fb3c146"]);
      assert.deepEqual(removed("10.0.0.7"), []);
    });

    it("sends no request to etcd if etcd runs on separate machines", () => {
      machine.stub(
        "kubectl",
        'case "$*" in *readyz*) printf ok ;; *kubeadm-config*) printf "etcd:\\n  external:\\n" ;; *configmap*) echo s ;; *) exit 1 ;; esac',
      );
      const member = machine.execute(issueJoinCredentialsProgram, ...controlPlane, "member");
      assert.equal(member.code, 0, member.stderr);
      assert.ok(!member.calls.some((call) => call.includes("exec")));
    });

    it("returns no token if etcd does not list the members", () => {
      machine.stub(
        "kubectl",
        'case "$*" in *readyz*) printf ok ;; *"member list"*) exit 1 ;; *configmap*) echo s ;; esac',
      );
      const { code, stdout } = machine.execute(
        issueJoinCredentialsProgram,
        ...controlPlane,
        "token",
      );
      assert.notEqual(code, 0);
      assert.equal(stdout, "");
    });

    it("deletes the token and the uploaded certificates on forget", () => {
      const { code, calls } = machine.execute(
        issueJoinCredentialsProgram,
        ...controlPlane,
        "forget abcdef",
      );
      assert.equal(code, 0);
      assert.ok(calls.includes("kubeadm token delete abcdef"));
      assert.ok(calls.includes("kubeadm token delete bbbbbb"));
      assert.ok(!calls.includes("kubeadm token delete aaaaaa"));
      assert.ok(
        calls.includes("kubectl -n kube-system delete secret kubeadm-certs --ignore-not-found"),
      );
    });

    it("gives a worker neither the certificate key nor access to etcd", () => {
      for (const wish of ["token", "forget abcdef", "joined abcdef"]) {
        const { stdout, calls } = machine.execute(issueJoinCredentialsProgram, ...worker, wish);
        assert.doesNotMatch(stdout, /CANARY/);
        for (const call of calls) assert.doesNotMatch(call, /upload-certs|etcdctl|kubeadm-certs/);
      }
    });
  });

  describe("joined", () => {
    const states = (text: string): void => {
      machine.stub(
        "kubectl",
        `case "$*" in *readyz*) printf ok ;; "get nodes"*) ${text} ;; wait*) exit 1 ;; ${given("a")} esac`,
      );
    };
    const joined = (wish: string, script = issueJoinCredentialsProgram) =>
      machine.execute(script, "token", "a", serverId, "10.0.0.9", wish);
    beforeEach(() => {
      machine.stub("systemd-run", "exit 0");
    });

    it("deletes the token by the token's ID, and succeeds if the node is Ready", () => {
      states("printf 'cp=True\\na=True\\n'");
      const { code, calls } = joined("joined abcdef");
      assert.equal(code, 0);
      assert.ok(calls.includes("kubeadm token delete abcdef"));
    });

    it("deletes no token without an ID, and ignores a missing token", () => {
      states("printf 'cp=True\\na=True\\n'");
      assert.ok(!joined("joined").calls.some((call) => call.startsWith("kubeadm")));
      machine.stub("kubeadm", "exit 1");
      assert.equal(joined("joined abcdef").code, 0);
    });

    it("keeps the token that another machine's join uses", () => {
      states("printf 'cp=True\\na-0=True\\n'");
      for (const wish of ["joined abcdef", "forget abcdef"]) {
        const other = ["token", "a-0", serverId, "10.0.0.10"];
        const { code, calls } = machine.execute(issueJoinCredentialsProgram, ...other, wish);
        assert.equal(code, 0);
        assert.deepEqual(
          calls.filter((call) => /^systemctl|^kubeadm|delete/.test(call)),
          [],
        );
      }
    });

    it("succeeds at once while no node is Ready, since the pod network does not exist yet", () => {
      states("printf 'cp=False\\na=False\\n'");
      const { code, calls } = joined("joined");
      assert.equal(code, 0);
      assert.equal(
        calls.filter((call) => call.startsWith("kubectl get nodes -o jsonpath")).length,
        1,
      );
    });

    it("waits until the node is Ready, and retries after an API error", () => {
      states(
        "echo x >>$root/looks; case $(grep -c x $root/looks) in 1) exit 1 ;; 2) printf 'cp=True\\na=False\\n' ;; *) printf 'cp=True\\na=True\\n' ;; esac",
      );
      const { code, calls } = joined("joined");
      assert.equal(code, 0);
      assert.equal(
        calls.filter((call) => call.startsWith("kubectl get nodes -o jsonpath")).length,
        3,
      );
    });

    it("waits for the Ready condition by one request instead of a request per second", () => {
      machine.stub(
        "kubectl",
        `case "$*" in *readyz*) printf ok ;; "wait --for=condition=Ready node/a "*) touch $root/ready ;; "get nodes"*) [ ! -e $root/ready ] || printf 'a=True\\n'; printf 'cp=True\\n' ;; esac`,
      );
      machine.stub("sleep", "exit 0");
      const { code, calls } = joined("joined");
      assert.equal(code, 0);
      assert.equal(
        calls.filter((call) => call.startsWith("kubectl get nodes -o jsonpath")).length,
        2,
      );
      assert.ok(!calls.includes("sleep 1"));
    });

    it("fails if the node is not Ready in time, even if a node with the same prefix is Ready", () => {
      states("printf 'cp=True\\na-0=True\\na=False\\n'");
      const { code, calls } = joined(
        "joined",
        issueJoinCredentialsProgram.replace("SECONDS + 180", "SECONDS + 1"),
      );
      assert.equal(code, 1);
      assert.ok(!calls.some((call) => call.includes("stackadm-spread")));
    });

    it("starts one unit that spreads CoreDNS, and ignores a unit that already runs", () => {
      states("printf 'cp=True\\na=True\\n'");
      machine.stub("systemd-run", "exit 1");
      const { code, calls } = joined("joined");
      assert.equal(code, 0);
      const units = calls.filter((call) => call.startsWith("systemd-run"));
      assert.equal(units.length, 1);
      assert.match(units[0] ?? "", /--unit stackadm-spread .* spread$/);
    });
  });

  describe("for a worker that joins a cluster with traffic", () => {
    const label = "node.kubernetes.io/exclude-from-external-load-balancers";
    const joined = (grant: string, words: string) =>
      machine.execute(issueJoinCredentialsProgram, grant, "a", serverId, "10.0.0.9", words);
    /** Sets the answers to the requests for the nodes, for the label's value, and for blocks. */
    const cluster = (network: string, value = "", ranges = "exit 1"): void => {
      machine.stub(
        "kubectl",
        `case "$*" in *readyz*) printf ok ;; "get nodes"*podCIDR*) printf '${network}' ;; "get nodes"*) echo x >>$root/looks; [ $(grep -c x $root/looks) -gt 1 ] && printf 'cp=True\na=True\n' || printf 'cp=True\na=False\n' ;; "get node a "*) printf '${value}' ;; "get blocks "*) ${ranges} ;; esac`,
      );
    };
    const labels = (calls: readonly string[]): string[] =>
      calls.filter((call) => call.startsWith("kubectl label"));

    it("keeps the node out of load balancers until it has routes, at most 5 minutes", () => {
      cluster("a 10.244.2.0/24 joining\\ncp 10.244.0.0/24\\nb 10.244.1.0/24 true\\n");
      const { code, stdout, calls } = joined("token", "joined");
      assert.equal(code, 0);
      assert.deepEqual(labels(calls), [`kubectl label node a ${label}=joining`]);
      assert.equal(stdout, "kept-out\n10.244.0.0\n10.244.1.0\n");
      const unit = calls.find((call) => call.includes("stackadm-serve-a")) ?? "";
      assert.match(unit, /--on-active 300 .* -p Restart=on-failure -p RestartSec=30 .* serve a$/);
    });

    it("is asked again if the API server does not answer after the node is Ready", () => {
      machine.stub(
        "kubectl",
        `case "$*" in *readyz*) printf ok ;; "get nodes"*podCIDR*) exit 1 ;; "get nodes"*) printf 'cp=True\na=True\n' ;; esac`,
      );
      assert.equal(joined("token", "joined").code, 69);
    });

    it("fails to add the node if the API server does not answer, so that the unit starts again", () => {
      machine.stub("kubectl", "exit 1");
      assert.notEqual(machine.execute(issueJoinCredentialsProgram, "serve", "a").code, 0);
    });

    it("prints the ranges in the objects of the pod network on Ready nodes", () => {
      machine.put("var/lib/stackadm/pod-range-objects", "blocks {{range .items}} {{end}}\n");
      cluster(
        "a - joining\\ncp - \\n",
        "",
        "printf 'cp 10.244.7.64/26\\na 10.244.9.0/26\\ngone 10.244.8.0/26\\ncp fd00::/122\\n'",
      );
      const { stdout, calls } = joined("token", "joined");
      assert.equal(stdout, "kept-out\n10.244.7.64\n");
      assert.ok(calls.includes("kubectl get blocks -o go-template={{range .items}} {{end}}"));
    });

    it("does not change a control plane, and prints nothing for a node that was not kept out", () => {
      cluster("a 10.244.2.0/24\\ncp 10.244.0.0/24\\n");
      const { stdout, calls } = joined("certificates", "joined");
      assert.deepEqual([stdout, labels(calls)], ["", []]);
    });

    it("adds the node to load balancers on request, and by a unit", () => {
      cluster("", "joining");
      const removed = [`kubectl label node a ${label}-`];
      assert.deepEqual(labels(joined("token", "serve").calls), removed);
      const unit = machine.execute(issueJoinCredentialsProgram, "serve", "a");
      assert.deepEqual(labels(unit.calls), removed);
    });

    it("keeps a label that the user has set", () => {
      for (const value of ["", "true", "leaving"]) {
        cluster("", value);
        assert.deepEqual(labels(joined("token", "serve").calls), [], value);
      }
    });
  });

  for (const wish of [
    "",
    "mint",
    "token; reboot",
    "token $(reboot)",
    "token a b",
    "token abcdef b",
    "joined A",
    "joined abcdef b",
    "joined abcdef.0123456789abcdef",
    "joined *",
    "joined $(reboot)",
    "forget; reboot",
    "spread",
    "shell",
    "-s",
  ]) {
    it(`refuses the request ${JSON.stringify(wish)}`, () => {
      const { code, calls } = machine.execute(issueJoinCredentialsProgram, ...worker, wish);
      assert.equal(code, 64);
      assert.deepEqual(
        calls.filter((call) => !call.endsWith("/readyz")),
        [],
      );
    });
  }

  for (const words of [
    [],
    ["token"],
    ["token", "dev-general-0", serverId, "10.0.0.9"],
    ["token", "A", serverId, "10.0.0.9", "token"],
    ["token", "../../etc", serverId, "10.0.0.9", "token"],
    ["token", "a", "b", "10.0.0.9", "token"],
    ["token", "a", serverId, "$(reboot)", "token"],
    ["everything", "a", serverId, "10.0.0.9", "token"],
    ["membership", "a", serverId, "10.0.0.9", "token"],
    ["membership", "a", serverId, "10.0.0.9", "forget abcdef"],
    ["membership", "a", serverId, "10.0.0.9", "member"],
  ]) {
    it(`refuses the arguments ${JSON.stringify(words.join(" "))}`, () => {
      const { code, stdout, calls } = machine.execute(issueJoinCredentialsProgram, ...words);
      assert.deepEqual({ code, stdout, calls }, { code: 64, stdout: "", calls: [] });
    });
  }
});
