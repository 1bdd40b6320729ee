import { strict as assert } from "node:assert";
import { controlPlaneScripts } from "../../../../components/kubeadm/node-scripts.js";
import {
  controlPlaneMachine,
  controlPlaneValues,
  initialisations,
  runControlPlane,
} from "../../../support/machine/control-plane.js";
import {
  boundOf,
  kubeadmSeconds,
  nodeCommands,
  pulls,
  controlPlaneRequests,
} from "../../../support/machine/join-stubs.js";
import { Sandbox } from "../../../support/machine/sandbox.js";

describe("control-plane.sh with peers", () => {
  let machine: Sandbox;
  const run = (over?: Partial<typeof controlPlaneValues>, occasion?: "update") =>
    runControlPlane(machine, over, occasion);
  beforeEach(() => {
    machine = controlPlaneMachine();
  });
  afterEach(() => {
    machine.close();
  });
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
      'case "$*" in *readyz*) printf ok ;; *namespace*) printf "uid: the-uid\nclusterName: dev\ncontrolPlaneEndpoint: api.dev.internal:6443\n" ;; esac',
    );
  });

  it("joins with the credentials of the first peer if the machine was recreated", () => {
    const { code, stderr, calls } = run(peers, "update");
    assert.equal(code, 0, stderr);
    assert.equal(initialisations(calls), 0);
    assert.equal(
      machine.file("seen"),
      "token: 'abcdef.0123456789abcdef'\nhash: 'sha256:abc123'\nkey: 'CANARY-CERTIFICATE-KEY'\n",
    );
    assert.deepEqual(controlPlaneRequests(calls), [
      "10.0.0.7 token",
      "10.0.0.7 files",
      "10.0.0.7 forget abcdef",
    ]);
  });

  it("writes a peer's configuration files before kubeadm join, and keeps the machine's own files", () => {
    const [own, former] = ["admission-000000000001.yaml", "admission-000000000002.yaml"];
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const files = [
      `${own} ${base64("PEER")}`,
      `${former} ${base64("FORMER")}`,
      `../up ${base64("UP")}`,
    ];
    machine.stub(
      "ssh",
      `case "$*" in *token) echo "${answer}" ;; *files) printf '%s\n' ${files.map((line) => `'${line}'`).join(" ")} ;; esac`,
    );
    machine.stub(
      "kubeadm",
      `case "$1" in join) cat /etc/kubernetes/stackadm/* >$root/files; mkdir -p /etc/kubernetes/pki; echo CONF >/etc/kubernetes/admin.conf; echo CA >/etc/kubernetes/pki/ca.crt ;; esac`,
    );
    run({ ...peers, KUBEADM_INIT: "", CONFIGURATION_FILES: `${own} ${base64("OWN")}` });
    assert.equal(machine.file("files"), "OWNFORMER");
    assert.equal(machine.file("etc/kubernetes/up"), undefined);
  });

  it("applies settings that a peer records as set, even if the user no longer sets any", () => {
    machine.stub(
      "ssh",
      `case "$*" in *token) echo "${answer}" ;; *files) printf 'kept/%s\\n' kubelet patches ../x ;; esac`,
    );
    machine.put("var/lib/kubelet/config.yaml", "maxPods: 1\n");
    const { code, stderr, calls } = run({ ...peers, KUBEADM_INIT: "" });
    assert.equal(code, 0, stderr);
    const told = calls.filter((call) => call.startsWith("kubeadm init phase upload-config"));
    assert.equal(told.length, 1);
    assert.match(told[0] ?? "", /upload-config kubelet/);
    assert.equal(machine.file("var/lib/stackadm/kept-kubelet"), undefined);
    assert.equal(machine.file("var/lib/stackadm/kept-patches"), undefined);
  });

  it("keeps the data of an interrupted join until a peer returns credentials", () => {
    machine.put("etc/kubernetes/kubelet.conf");
    machine.put("var/lib/etcd/member/wal", "DATA");
    machine.stub(
      "ssh",
      `case "$*" in *token) [ -e /var/lib/etcd/member/wal ] || exit 1; echo "${answer}" ;; esac`,
    );
    const { code, stderr, calls } = run({ ...peers, KUBEADM_INIT: "" });
    assert.equal(code, 0, stderr);
    const order = calls.flatMap(
      (call) => /^ssh .* (token)$|^kubeadm (reset|join)/.exec(call)?.slice(1) ?? [],
    );
    assert.deepEqual(order.filter(Boolean), ["token", "reset", "join"]);
  });

  it("joins again if neither the state nor etcd knows the machine", () => {
    const none = { ...peers, KUBEADM_INIT: "" };
    assert.equal(run(none).code, 0);
    const joins = ({ calls }: { readonly calls: readonly string[] }): number =>
      calls.filter((call) => call.startsWith("kubeadm join")).length;
    assert.equal(joins(run(none)), 0, "etcd knows it");
    machine.stub("ssh", `case "$*" in *member) exit 3 ;; *token) echo "${answer}" ;; esac`);
    assert.equal(joins(run(none, "update")), 0, "the state knows its join");
    assert.equal(joins(run(none)), 1);
  });

  it("allows kubeadm more time than kubeadm's own limits, so that kubeadm reports the cause", () => {
    // kubeadm waits for: discovery, TLS bootstrap, kubelet's health, etcd's learner, API calls.
    const own = 5 * kubeadmSeconds;
    assert.ok(boundOf(run(peers, "update").calls, "join") >= own + pulls);
  });

  it("tries the next peer if a peer is unreachable, hangs, or has no working API server", () => {
    for (const code of [255, 124, 69]) {
      const other = new Sandbox({ ...nodeCommands, cp: 'exec /bin/cp "$@"' });
      try {
        other.put("etc/hosts");
        for (const command of ["kubeadm", "kubectl"]) other.stub(command, machine.bodyOf(command));
        other.stub(
          "ssh",
          `case "$*" in *10.0.0.7*) exit ${String(code)} ;; *token) echo "${answer}" ;; esac`,
        );
        const { calls, stderr, ...done } = other.run(
          controlPlaneScripts,
          { ...controlPlaneValues, ...peers },
          "update",
        );
        assert.equal(done.code, 0, stderr);
        assert.ok(controlPlaneRequests(calls).includes("10.0.0.8 token"));
      } finally {
        other.close();
      }
    }
  });

  it("allows a peer two minutes to issue certificates", () => {
    const bound = 'timeout() { [[ $* != *token ]] || echo "$1" >$state/bound; shift; "$@"; }\n';
    const { code, stderr } = machine.run(
      [...controlPlaneScripts.slice(0, -1), bound, ...controlPlaneScripts.slice(-1)],
      { ...controlPlaneValues, ...peers },
      "update",
    );
    assert.equal(code, 0, stderr);
    assert.equal(machine.file("var/lib/stackadm/bound"), "120\n");
  });

  it("joins instead of initializing a cluster on any machine but the first", () => {
    const { code, calls } = run({ ...peers, KUBEADM_INIT: "", CA_CERT_HASH: "sha256:abc123" });
    assert.equal(code, 0);
    assert.equal(initialisations(calls), 0);
  });

  it("refuses to join another cluster", () => {
    const { code, stderr } = run({ ...peers, KUBEADM_INIT: "", CA_CERT_HASH: "sha256:other" });
    assert.equal(code, 1);
    assert.match(stderr, /the control plane at 10\.0\.0\.7 belongs to another cluster/);
  });

  it("resolves the API's name to the peer during the join, and to the machine itself afterwards", () => {
    machine.stub(
      "kubeadm",
      'case "$1" in join) cp /etc/hosts $root/hosts; mkdir -p /etc/kubernetes/pki; echo CONF >/etc/kubernetes/admin.conf; echo CA >/etc/kubernetes/pki/ca.crt ;; esac',
    );
    run(peers, "update");
    assert.match(machine.file("hosts") ?? "", /^10\.0\.0\.7 api\.dev\.internal # stackadm$/m);
    assert.match(machine.file("etc/hosts") ?? "", /^10\.0\.0\.5 api\.dev\.internal # stackadm$/m);
  });

  it("leaves no key or token on the machine or in an argument", () => {
    const { calls, stderr } = run(peers, "update");
    for (const text of [...calls, stderr]) assert.doesNotMatch(text, /CANARY|0123456789abcdef/);
    for (const file of ["join/key", "kubeadm.yaml", "join/answer"])
      assert.equal(machine.file(`run/stackadm/${file}`), undefined);
  });
});
