import { strict as assert } from "node:assert";
import { initScripts, joinScripts, mintScript } from "../../components/kubeadm/node-scripts.js";
import { Sandbox } from "../support/sandbox.js";

/** systemd-run runs the command at once, as if the unit were already at its end when it is looked at. */
const unit =
  'while [ "${1#-}" != "$1" ]; do case $1 in --unit|-p) shift 2 ;; *) shift ;; esac; done; "$@" || true';
const common: Readonly<Record<string, string>> = {
  hostname: "echo machine",
  systemctl: 'case "$*" in *ActiveState*) echo inactive ;; esac',
  "systemd-run": unit,
  openssl: 'case "$1" in dgst) echo "abc123 *stdin" ;; *) cat ;; esac',
  id: "exit 1",
  useradd: "exit 0",
  usermod: "exit 0",
};

describe("init.sh", () => {
  let machine: Sandbox;
  const values = {
    NODE_NAME: "dev-control-plane-0",
    KUBEADM_CONFIG: "kind: InitConfiguration\n",
    FROZEN: "kubernetes.version 1.36.3\nnetwork.pods 10.244.0.0/16",
    JOIN_PUBLIC_KEY: "ssh-ed25519 AAAAJOIN",
    MINT_SCRIPT: mintScript,
    NODE_RANGE: "10.0.0.0/24",
    KUBELET: "1.36.3",
  };
  const run = (over: Partial<typeof values> = {}) =>
    machine.run(initScripts, { ...values, ...over });
  beforeEach(() => {
    machine = new Sandbox({
      ...common,
      kubeadm:
        'case "$1 $2" in "init --config") mkdir -p /etc/kubernetes/pki; echo CONF >/etc/kubernetes/admin.conf; echo CA >/etc/kubernetes/pki/ca.crt ;; "token list") echo abcdef.0123456789abcdef ;; esac',
      kubectl: 'case "$*" in *readyz*) printf ok ;; *namespace*) printf the-uid ;; esac',
    });
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
      uid: "the-uid",
    });
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

  it("refuses to change what a living cluster keeps, with both values", () => {
    run();
    const { code, stderr, calls } = run({ FROZEN: values.FROZEN.replace("1.36.3", "1.36.4") });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /a living cluster keeps .*< kubernetes\.version 1\.36\.3.*> kubernetes\.version 1\.36\.4/,
    );
    assert.equal(initialisations(calls), 0);
  });

  it("lets in the join key from the machines' range, for one command", () => {
    run();
    const entry = machine.file("var/lib/stackadm-join/.ssh/authorized_keys") ?? "";
    assert.match(
      entry,
      /^restrict,from="10\.0\.0\.0\/24",command="sudo -n [^ ]*stackadm-mint \\"\$SSH_ORIGINAL_COMMAND\\"" ssh-ed25519 AAAAJOIN$/m,
    );
  });
});

const serverId = "0b1c2d3e-0000-4000-8000-000000000001";

describe("join.sh", () => {
  let machine: Sandbox;
  const values = {
    NODE_NAME: "dev-general-0",
    SERVER_ID: serverId,
    KUBEADM_CONFIG: "token: '@TOKEN@'\n",
    CONTROL_PLANE_ADDRESS: "10.0.0.7",
    CONTROL_PLANE_HOST_KEY: "ssh-ed25519 AAAAHOST",
    JOIN_PRIVATE_KEY: "CANARY-JOIN-KEY",
    KUBELET: "1.36.3",
  };
  const run = () => machine.run(joinScripts, values);
  beforeEach(() => {
    machine = new Sandbox({
      ...common,
      ssh: 'case "$*" in *"mint dev-general-0 0b1c2d3e-0000-4000-8000-000000000001") echo abcdef.0123456789abcdef ;; esac',
      kubeadm:
        'case "$1" in join) cp "$3" $root/seen; mkdir -p /etc/kubernetes; touch /etc/kubernetes/kubelet.conf ;; esac',
      cp: 'exec /bin/cp "$@"',
    });
  });
  afterEach(() => {
    machine.close();
  });

  it("joins once, with a token that is minted for it and revoked after it", () => {
    const { code, stdout, stderr, calls } = run();
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '{"node": "dev-general-0"}\n');
    assert.equal(machine.file("seen"), "token: 'abcdef.0123456789abcdef'\n");
    assert.ok(calls.some((call) => /^ssh .*stackadm-join@10\.0\.0\.7 revoke abcdef$/.test(call)));
    const again = run();
    assert.equal(again.code, 0);
    assert.ok(!again.calls.some((call) => /^(ssh|kubeadm)/.test(call)));
  });

  it("leaves neither key nor token on the machine", () => {
    run();
    assert.equal(machine.file("run/stackadm/join/key"), undefined);
    assert.equal(machine.file("run/stackadm/join/kubeadm.yaml"), undefined);
    assert.doesNotMatch(machine.file("var/log/stackadm/join.log") ?? "", /CANARY|0123456789abcdef/);
  });

  it("shows no secret in any argument", () => {
    for (const call of run().calls) assert.doesNotMatch(call, /CANARY|0123456789abcdef/);
  });

  it("accepts the control plane's own host key only", () => {
    const options = run().calls.find((call) => call.startsWith("ssh")) ?? "";
    assert.match(options, /StrictHostKeyChecking=yes/);
    assert.match(options, /UserKnownHostsFile=[^ ]*join\/known_hosts/);
  });

  it("starts again after half a join", () => {
    machine.put("etc/kubernetes/bootstrap-kubelet.conf");
    assert.ok(run().calls.includes("kubeadm reset -f"));
  });
});
