import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import {
  etcdClientCertificateScripts,
  issueEtcdCertificatesProgram,
} from "../../../components/etcd/member-scripts.js";
import {
  askerValues,
  nodeCommands,
  controlPlaneRequests,
} from "../../support/machine/join-stubs.js";
import { Sandbox, type Outcome } from "../../support/machine/sandbox.js";

const serverId = "0b1c2d3e-0000-4000-8000-000000000001";
const member = ["membership", "dev-etcd-1", serverId, "10.0.0.6"] as const;
const controlPlane = ["certificates", "dev-control-plane-0", serverId, "10.0.0.9"] as const;
const members = [
  "8e9e05c52164694d, started, dev-etcd-0, https://10.0.0.5:2380, https://10.0.0.5:2379, false",
  "91bc3c398fb3c146, started, dev-etcd-1, https://10.0.0.6:2380, https://10.0.0.6:2379, false",
  "a1bc3c398fb3c146, unstarted, , https://10.0.0.7:2380, , true",
];
const added =
  'Member a2 added\n\nETCD_NAME="x"\nETCD_INITIAL_CLUSTER="dev-etcd-0=https://10.0.0.5:2380,dev-etcd-1=https://10.0.0.6:2380"\nETCD_INITIAL_CLUSTER_STATE="existing"';
const openssl = 'exec /usr/bin/openssl "$@"';

/** Creates a CA like kubeadm's. */
function authority(machine: Sandbox): void {
  machine.put("etc/kubernetes/pki/etcd/.made");
  const pki = join(machine.root, "etc/kubernetes/pki/etcd");
  const subject = ["-subj", "/CN=etcd-ca", "-days", "3650"];
  const files = ["-keyout", `${pki}/ca.key`, "-out", `${pki}/ca.crt`];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  execFileSync("openssl", ["req", "-x509", ...kind, ...subject, ...files], { stdio: "ignore" });
}

const etcdMachine = (): Sandbox => {
  const machine = new Sandbox({
    openssl,
    crictl: `case "$*" in ps*) echo c0ffee ;; *"member list"*) printf '${members.join("\\n")}\n' ;; *"member add"*) printf '${added.replaceAll("\n", "\\n")}\n' ;; esac`,
  });
  authority(machine);
  return machine;
};

describe("issue-etcd-certificates.sh", () => {
  let machine: Sandbox;
  const ask = (who: readonly string[], words: string): Outcome =>
    machine.execute(issueEtcdCertificatesProgram, ...who, words);
  const changes = ({ calls }: Outcome): string[] =>
    calls.flatMap((call) => /(member (?:remove|add|promote) .*)$/.exec(call)?.[1] ?? []);
  beforeEach(() => {
    machine = etcdMachine();
  });
  afterEach(() => {
    machine.close();
  });

  it("adds a learner after removing the member at the same address and unstarted members", () => {
    const outcome = ask(member, "member");
    assert.equal(outcome.code, 0, outcome.stderr);
    assert.deepEqual(changes(outcome), [
      "member remove 91bc3c398fb3c146",
      "member remove a1bc3c398fb3c146",
      "member add dev-etcd-1 --learner --peer-urls=https://10.0.0.6:2380",
    ]);
    const [cluster, certificate = "", key = ""] = outcome.stdout.trim().split(" ");
    assert.equal(cluster, "dev-etcd-0=https://10.0.0.5:2380,dev-etcd-1=https://10.0.0.6:2380");
    const decoded = [certificate, key].map((text) => Buffer.from(text, "base64").toString());
    assert.deepEqual(
      decoded,
      ["crt", "key"].map((end) => machine.file(`etc/kubernetes/pki/etcd/ca.${end}`)),
    );
  });

  it("promotes the learner at the caller's address, and accepts a caller that already votes", () => {
    const learner = [member[0], "dev-etcd-2", serverId, "10.0.0.7"];
    assert.deepEqual(changes(ask(learner, "promote")), ["member promote a1bc3c398fb3c146"]);
    const voting = ask(member, "promote");
    assert.deepEqual([voting.code, changes(voting)], [0, []]);
  });

  it("sends the caller to another member if the local etcd does not answer", () => {
    machine.stub("crictl", 'case "$*" in ps*) echo c0ffee ;; *) exit 1 ;; esac');
    assert.equal(ask(member, "member").code, 69);
    machine.stub("crictl", "exit 0");
    assert.equal(ask(member, "member").code, 69);
  });

  it("refuses membership to a control plane, client certificates to a member, and any other request", () => {
    for (const [who, words] of [
      [controlPlane, "member"],
      [controlPlane, "promote"],
      [member, "client AAAA"],
      [["token", "dev-general-0", serverId, "10.0.0.8"], "client AAAA"],
      [controlPlane, "client AAAA; id"],
      [member.slice(1), "member"],
    ] as const) {
      const outcome = ask(who, words);
      assert.deepEqual([outcome.code, outcome.stdout, changes(outcome)], [64, "", []], words);
    }
  });
});

describe("client-certificate.sh", () => {
  const values = { ...askerValues, NODE_NAME: "dev-control-plane-0", ETCD: "dev-etcd-2" };
  const client = "etc/kubernetes/etcd/client";
  let signer: Sandbox;
  let machine: Sandbox;
  const run = (): Outcome => machine.run(etcdClientCertificateScripts, values);
  const read = (...words: readonly string[]): string =>
    execFileSync("openssl", [...words], { encoding: "utf8", cwd: machine.root }).trim();
  beforeEach(() => {
    signer = etcdMachine();
    signer.execute(issueEtcdCertificatesProgram, ...controlPlane, "promote");
    machine = new Sandbox({
      ...nodeCommands,
      openssl,
      // Executes the requested command, as sshd on a member of etcd would.
      ssh: `all="$*"; PATH=${signer.root}/bin BASH_ENV=${signer.root}/functions exec /bin/bash ${signer.root}/program ${controlPlane.join(" ")} "\${all#*@10.0.0.7 }"`,
    });
  });
  afterEach(() => {
    machine.close();
    signer.close();
  });

  it("gets a client certificate of etcd's CA, and never sends the private key", () => {
    const { code, stderr, calls } = run();
    assert.equal(code, 0, stderr);
    const verified = read(
      "verify",
      "-purpose",
      "sslclient",
      "-CAfile",
      "etc/kubernetes/etcd/ca.crt",
      `${client}.crt`,
    );
    assert.equal(verified, `${client}.crt: OK`);
    assert.throws(() =>
      read(
        "verify",
        "-purpose",
        "sslserver",
        "-CAfile",
        "etc/kubernetes/etcd/ca.crt",
        `${client}.crt`,
      ),
    );
    const about = read("x509", "-in", `${client}.crt`, "-noout", "-subject", "-pubkey");
    assert.match(about, /^subject=CN = kube-apiserver-etcd-client\n/);
    assert.ok(about.endsWith(read("pkey", "-in", `${client}.key`, "-pubout")));
    assert.equal(machine.file("etc/kubernetes/etcd/ca.key"), undefined);
    assert.match(controlPlaneRequests(calls)[0] ?? "", /^10\.0\.0\.7 client [A-Za-z0-9+/=]+$/);
    for (const call of calls) assert.doesNotMatch(call, /PRIVATE/);
  });

  it("keeps a valid certificate, and renews a certificate that expires within a month", function () {
    this.timeout(60_000);
    run();
    const before = machine.file(`${client}.crt`);
    assert.deepEqual(controlPlaneRequests(run().calls), []);
    assert.equal(machine.file(`${client}.crt`), before);
    machine.stub("openssl", `case "$*" in *-checkend*) exit 1 ;; esac; ${openssl}`);
    assert.equal(controlPlaneRequests(run().calls).length, 1);
    assert.notEqual(machine.file(`${client}.crt`), before);
  });
});
