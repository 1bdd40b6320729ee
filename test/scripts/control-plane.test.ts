import { strict as assert } from "node:assert";
import { controlPlaneScripts, mintScript } from "../../components/kubeadm/node-scripts.js";
import { joinerValues, nodeCommands, wishes } from "../support/joining.js";
import { Sandbox } from "../support/sandbox.js";

describe("control-plane.sh", () => {
  let machine: Sandbox;
  const values = {
    NODE_NAME: "dev-control-plane-0",
    ...joinerValues,
    PEERS: "",
    ADDRESS: "10.0.0.5",
    KUBEADM_INIT: "kind: InitConfiguration\n",
    KUBEADM_JOIN: "token: '@TOKEN@'\nhash: '@CA_CERT_HASH@'\nkey: '@CERTIFICATE_KEY@'\n",
    CA_CERT_HASH: "",
    CERTIFICATE_NAMES: "api.dev.internal\n203.0.113.7",
    FROZEN: "kubernetes.version 1.36.3\nnetwork.pods 10.244.0.0/16",
    JOIN_SIGNER: "ssh-ed25519 AAAASIGNER",
    MINT_SCRIPT: mintScript,
    NODE_RANGE: "10.0.0.0/24",
    KUBELET: "1.36.3",
    SCHEDULABLE: "no",
    VIRTUAL_IP: "",
    VIRTUAL_IP_CONFIG: "",
  };
  const run = (over: Partial<typeof values> = {}, occasion?: "update") =>
    machine.run(controlPlaneScripts, { ...values, ...over }, occasion);
  beforeEach(() => {
    machine = new Sandbox({
      ...nodeCommands,
      kubeadm:
        'case "$1 $2" in "init --config") mkdir -p /etc/kubernetes/pki; echo CONF >/etc/kubernetes/admin.conf; echo CA >/etc/kubernetes/pki/ca.crt ;; "token list") echo abcdef.0123456789abcdef ;; esac',
      kubectl:
        'case "$*" in *readyz*) printf ok ;; *kubeadm-config*) printf "apiVersion: x\\nclusterName: dev-0123456789ab\\n" ;; *namespace*) printf the-uid ;; esac',
    });
    machine.put("etc/hosts", "127.0.0.1 localhost\n");
  });
  afterEach(() => {
    machine.close();
  });
  const initialisations = (calls: readonly string[]): number =>
    calls.filter((call) => call.startsWith("kubeadm init")).length;

  it("makes a cluster once, and afterwards only hands out its facts", () => {
    const first = run();
    assert.equal(first.code, 0, first.stderr);
    assert.equal(initialisations(first.calls), 1);
    const again = run();
    assert.equal(initialisations(again.calls), 0);
    assert.equal(again.stdout, first.stdout);
    assert.deepEqual(JSON.parse(first.stdout), {
      caCertHash: "sha256:abc123",
      kubeconfig: Buffer.from("CONF\n").toString("base64"),
      name: "dev-0123456789ab",
      node: "dev-control-plane-0",
      uid: "the-uid",
    });
  });

  it("lets pods and load balancers onto the machine once, and gives back what it took when it is to be none", () => {
    const of = ({ calls }: { readonly calls: readonly string[] }): string[] =>
      calls.flatMap(
        (call) => / (taint|label) node dev-control-plane-0 (.*)$/.exec(call)?.[0] ?? [],
      );
    const taint = "node-role.kubernetes.io/control-plane";
    const label = "node.kubernetes.io/exclude-from-external-load-balancers";
    const name = "node dev-control-plane-0";
    assert.deepEqual(of(run()), [], "kubeadm's own is left alone");
    machine.stub(
      "kubectl",
      'case "$*" in *readyz*) printf ok ;; *kubeadm-config*) printf "clusterName: dev-0123456789ab\\n" ;; *namespace*) printf the-uid ;; *"get node"*) printf NoSchedule ;; esac',
    );
    assert.deepEqual(of(run({ SCHEDULABLE: "yes" })), [
      ...[` taint ${name} ${taint}-`, ` label ${name} ${label}-`],
    ]);
    assert.deepEqual(of(run({ SCHEDULABLE: "yes" })), []);
    assert.deepEqual(of(run({ SCHEDULABLE: "no" })), [
      ...[
        ` taint ${name} --overwrite ${taint}=:NoSchedule`,
        ` label ${name} --overwrite ${label}=`,
      ],
    ]);
    assert.deepEqual(of(run({ SCHEDULABLE: "no" })), []);
  });

  it("hands out the name that the cluster was made under, quoted or not: its load balancers have it", () => {
    for (const [written, name] of [
      ["old", "old"],
      ['\\"off\\"', "off"],
    ]) {
      machine.stub(
        "kubectl",
        `case "$*" in *readyz*) printf ok ;; *kubeadm-config*) printf "clusterName: ${written ?? ""}\n" ;; *namespace*) printf the-uid ;; esac`,
      );
      assert.equal((JSON.parse(run().stdout) as { name: string }).name, name);
    }
  });

  it("asks again for what the API does not say at once: no empty name or UID leaves the machine", () => {
    machine.stub(
      "kubectl",
      'case "$*" in *readyz*) printf ok ;; *kubeadm-config*) if [ -e "$root/asked" ]; then printf "clusterName: dev\\n"; else touch "$root/asked"; exit 1; fi ;; *namespace*) printf the-uid ;; esac',
    );
    const { code, stdout } = run();
    assert.equal(code, 0);
    assert.match(stdout, /"name": "dev", "node": "dev-control-plane-0", "uid": "the-uid"/);
  });

  it("deletes the token that kubeadm init leaves, and keeps no document", () => {
    assert.ok(run().calls.includes("kubeadm token delete abcdef"));
    assert.equal(machine.file("run/stackadm/kubeadm.yaml"), undefined);
  });

  it("starts again after half an initialisation", () => {
    machine.put("etc/kubernetes/pki/ca.crt");
    const { code, calls } = run();
    assert.equal(code, 0);
    const reset = calls.indexOf("kubeadm reset -f");
    assert.ok(reset >= 0 && reset < calls.findIndex((call) => call.startsWith("kubeadm init")));
  });

  it("waits for an initialisation that still runs instead of starting another", () => {
    machine.stub(
      "systemctl",
      // Active for two looks, done at the third.
      'case "$*" in *ActiveState*) echo x >>$root/looks; if [ $(wc -l <$root/looks) -lt 3 ]; then echo activating; else mkdir -p /etc/kubernetes/pki /var/lib/stackadm; echo CONF >/etc/kubernetes/admin.conf; echo CA >/etc/kubernetes/pki/ca.crt; touch /var/lib/stackadm/init.done; echo inactive; fi ;; esac',
    );
    machine.stub("wc", 'exec /usr/bin/wc "$@"');
    const { code, calls, stderr } = run();
    assert.equal(code, 0, stderr);
    assert.equal(initialisations(calls), 0);
    assert.ok(!calls.some((call) => call.startsWith("kubeadm reset")));
  });

  it("fails with the end of the log when kubeadm fails, and tries anew the next time", () => {
    machine.stub(
      "kubeadm",
      'case "$1" in init) mkdir -p /etc/kubernetes/pki; echo "preflight: NumCPU"; exit 1 ;; esac',
    );
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(stderr, /kubeadm init did not succeed/);
    assert.match(stderr, /preflight: NumCPU/);
  });

  it("ends with what kubeadm said was wrong", () => {
    machine.stub(
      "kubeadm",
      'case "$1" in init) mkdir -p /etc/kubernetes/pki; echo "error: no"; echo "To see the stack trace of this error execute with --v=5 or higher"; exit 1 ;; esac',
    );
    assert.match(run().stderr, /\nreason: kubeadm init did not succeed: no\n$/);
  });

  const frozen = "var/lib/stackadm/frozen";
  const other = values.FROZEN.replace("1.36.3", "1.36.4");

  it("makes no other cluster of one that keeps other values", () => {
    run();
    const { code, stderr, calls } = run({ FROZEN: other });
    assert.equal(code, 1);
    assert.match(stderr, /keeps its values: cluster\.kubernetes\.version: 1\.36\.3 cannot become/);
    assert.equal(initialisations(calls), 0);
  });

  it("knows what it was begun with when it was interrupted, and begins again with what is right now", () => {
    machine.stub("kubeadm", 'case "$1" in init) mkdir -p /etc/kubernetes/pki; exit 1 ;; esac');
    assert.equal(run().code, 1);
    assert.equal(machine.file(frozen), `${values.FROZEN}\n`);
    assert.equal(run({ FROZEN: other }).code, 1);
    assert.equal(machine.file(frozen), `${other}\n`);
  });

  it("is a control plane of an earlier release with fewer frozen values, and keeps the new ones, too", () => {
    run({ FROZEN: "network.pods 10.244.0.0/16" });
    assert.equal(run().code, 0);
    assert.equal(machine.file(frozen), `${values.FROZEN}\n`);
  });

  it("lets in whom the signer of the program names, from the machines' range, and nobody else", () => {
    run();
    assert.equal(
      machine.file("var/lib/stackadm-join/.ssh/authorized_keys"),
      'cert-authority,restrict,from="10.0.0.0/24" ssh-ed25519 AAAASIGNER\n',
    );
  });

  it("resolves the API's name to itself, beside what the machine had, and once however often it runs", () => {
    run();
    run();
    assert.equal(
      machine.file("etc/hosts"),
      "127.0.0.1 localhost\n10.0.0.5 api.dev.internal # stackadm\n",
    );
  });

  it("never begins a cluster where there was one: a machine made anew without peers says what is left to do", () => {
    const { code, stderr, calls } = run({}, "update");
    assert.equal(code, 1);
    assert.equal(initialisations(calls), 0);
    assert.match(
      stderr,
      /reason: dev-control-plane-0 was made anew, and with it went the only copy/,
    );
  });

  describe("with peers", () => {
    const peers = { PEERS: "10.0.0.7 ssh-ed25519 AAAA7\n10.0.0.8 ssh-ed25519 AAAA8" };
    const answer = "abcdef.0123456789abcdef sha256:abc123 CANARY-CERTIFICATE-KEY";
    beforeEach(() => {
      machine.stub("cp", 'exec /bin/cp "$@"');
      machine.stub("ssh", `case "$*" in *token) echo "${answer}" ;; esac`);
      machine.stub(
        "kubeadm",
        'case "$1" in join) cp "$3" $root/seen; mkdir -p /etc/kubernetes/pki; echo CONF >/etc/kubernetes/admin.conf; echo CA >/etc/kubernetes/pki/ca.crt ;; esac',
      );
      machine.stub(
        "kubectl",
        'case "$*" in *readyz*) printf ok ;; *kubeadm-config*) printf "clusterName: dev\ncontrolPlaneEndpoint: api.dev.internal:6443\n" ;; *namespace*) printf the-uid ;; esac',
      );
    });

    it("joins them when it was made anew, with what the first of them gives for this join", () => {
      const { code, stderr, calls } = run(peers, "update");
      assert.equal(code, 0, stderr);
      assert.equal(initialisations(calls), 0);
      assert.equal(
        machine.file("seen"),
        "token: 'abcdef.0123456789abcdef'\nhash: 'sha256:abc123'\nkey: 'CANARY-CERTIFICATE-KEY'\n",
      );
      assert.deepEqual(wishes(calls), ["10.0.0.7 token", "10.0.0.7 forget abcdef"]);
    });

    it("asks the next one when one is not there, or when its API server does not answer", () => {
      for (const code of [255, 69]) {
        const other = new Sandbox({ ...nodeCommands, cp: 'exec /bin/cp "$@"' });
        try {
          other.put("etc/hosts");
          for (const command of ["kubeadm", "kubectl"])
            other.stub(command, machine.bodyOf(command));
          other.stub(
            "ssh",
            `case "$*" in *10.0.0.7*) exit ${String(code)} ;; *token) echo "${answer}" ;; esac`,
          );
          const { calls, stderr, ...done } = other.run(
            controlPlaneScripts,
            { ...values, ...peers },
            "update",
          );
          assert.equal(done.code, 0, stderr);
          assert.ok(wishes(calls).includes("10.0.0.8 token"));
        } finally {
          other.close();
        }
      }
    });

    it("joins and does not begin a cluster when it is not the first, also the first time", () => {
      const { code, calls } = run({ ...peers, KUBEADM_INIT: "", CA_CERT_HASH: "sha256:abc123" });
      assert.equal(code, 0);
      assert.equal(initialisations(calls), 0);
    });

    it("joins no other cluster than the one that the program made", () => {
      const { code, stderr } = run({ ...peers, KUBEADM_INIT: "", CA_CERT_HASH: "sha256:other" });
      assert.equal(code, 1);
      assert.match(stderr, /the control plane at 10\.0\.0\.7 belongs to another cluster/);
    });

    it("resolves the name to whom it asked while it joins, and to itself afterwards", () => {
      machine.stub(
        "kubeadm",
        'case "$1" in join) cp /etc/hosts $root/hosts; mkdir -p /etc/kubernetes/pki; echo CONF >/etc/kubernetes/admin.conf; echo CA >/etc/kubernetes/pki/ca.crt ;; esac',
      );
      run(peers, "update");
      assert.match(machine.file("hosts") ?? "", /^10\.0\.0\.7 api\.dev\.internal # stackadm$/m);
      assert.match(machine.file("etc/hosts") ?? "", /^10\.0\.0\.5 api\.dev\.internal # stackadm$/m);
    });

    it("leaves neither key nor token on the machine, and shows none in an argument", () => {
      const { calls, stderr } = run(peers, "update");
      for (const text of [...calls, stderr]) assert.doesNotMatch(text, /CANARY|0123456789abcdef/);
      for (const file of ["join/key", "kubeadm.yaml", "join/answer"])
        assert.equal(machine.file(`run/stackadm/${file}`), undefined);
    });

    it("refuses to let a cluster grow whose API is at an address", () => {
      machine.stub(
        "kubectl",
        'case "$*" in *readyz*) printf ok ;; *kubeadm-config*) printf "clusterName: dev\ncontrolPlaneEndpoint: 10.0.0.5:6443\n" ;; *namespace*) printf the-uid ;; esac',
      );
      const { code, stderr } = run(peers, "update");
      assert.equal(code, 1);
      assert.match(
        stderr,
        /controlPlane\.count: this cluster was made with its API at 10\.0\.0\.5:6443/,
      );
    });
  });
});
