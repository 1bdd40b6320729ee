import { strict as assert } from "node:assert";
import { issueJoinCredentialsProgram } from "../../../../components/kubeadm/node-scripts.js";
import { Sandbox } from "../../../support/machine/sandbox.js";

const serverId = "0b1c2d3e-0000-4000-8000-000000000001";
const asked = ["token", "dev-general-0", serverId, "10.0.0.9"] as const;
const sandbox = (): Sandbox =>
  new Sandbox({
    hostname: "echo machine",
    systemctl: "exit 0",
    "systemd-run": "exit 0",
    kubeadm: 'case "$1 $2" in "token create") echo abcdef.0123456789abcdef ;; esac',
    kubectl:
      'case "$*" in *readyz*) printf ok ;; *configmap*) echo signature ;; *"secret bootstrap-token-abcdef"*) printf "join of dev-general-0" ;; esac',
    openssl: "cat",
  });

describe("the node check of issue-join-credentials.sh", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = sandbox();
  });
  afterEach(() => {
    machine.close();
  });
  const there = (...lines: readonly string[]): void => {
    machine.stub(
      "kubectl",
      `case "$*" in *readyz*) printf ok ;; "get node/"*) printf '${lines.map((line) => `${line}\\n`).join("")}' ;; *configmap*) echo signature ;; esac`,
    );
  };
  const another = serverId.replace("1", "2");
  const begins = (calls: readonly string[], text: string): number =>
    calls.findIndex((call) => call.startsWith(text));

  it("deletes the node of a former server or of an interrupted join before creating a token", () => {
    for (const line of [`openstack:///${another} True`, `openstack:///${serverId} Unknown`]) {
      there(line);
      const { calls } = machine.execute(issueJoinCredentialsProgram, ...asked, "token");
      const before = begins(calls, "kubectl delete node dev-general-0");
      assert.ok(before >= 0 && before < begins(calls, "kubeadm token create"), line);
    }
  });

  it("deletes nothing if the node does not exist", () => {
    const { calls } = machine.execute(issueJoinCredentialsProgram, ...asked, "token");
    assert.equal(begins(calls, "kubectl delete"), -1);
  });

  it("refuses a token to a worker whose node is Ready, and deletes the node of a control plane", () => {
    there(`openstack:///${serverId} True`);
    const { code, stdout, stderr, calls } = machine.execute(
      issueJoinCredentialsProgram,
      ...asked,
      "token",
    );
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /dev-general-0 is a node already/);
    assert.ok(calls.every((call) => call.startsWith("kubectl get ")));
    // A control plane's join deletes the node before the machine resets itself.
    const [, ...rest] = asked;
    const { calls: others } = machine.execute(
      issueJoinCredentialsProgram,
      "certificates",
      ...rest,
      "token",
    );
    assert.ok(begins(others, "kubectl delete node dev-general-0") >= 0);
  });

  it("deletes kubeadm's automatic approval of nodes before creating a token", () => {
    there("automatic");
    const { code, calls } = machine.execute(issueJoinCredentialsProgram, ...asked, "token");
    assert.equal(code, 0);
    const words = "kubectl delete clusterrolebinding kubeadm:node-autoapprove-bootstrap";
    const before = begins(calls, words);
    assert.ok(before >= 0 && before < begins(calls, "kubeadm token create"));
  });
});

describe("the certificate approval of issue-join-credentials.sh", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = sandbox();
  });
  afterEach(() => {
    machine.close();
  });

  const request = (subject: string): string =>
    Buffer.from(`subject=${subject}\n`).toString("base64");
  const own = request("CN=system:node:dev-general-0,O=system:nodes");
  const decided = (requests: string, seconds = 0) => {
    machine.stub("kubectl", `case "$*" in "get certificatesigning"*) ${requests} ;; esac`);
    const script = issueJoinCredentialsProgram.replace(
      "SECONDS + 900",
      `SECONDS + ${String(seconds + 1)}`,
    );
    const { code, calls } = machine.execute(script, "approve", "dev-general-0", "abcdef");
    assert.equal(code, 0);
    return {
      watches: calls.filter((call) => call.startsWith("kubectl get")),
      decisions: calls.filter((call) => call.startsWith("kubectl certificate")),
    };
  };

  it("runs in a systemd unit that stops together with the token", () => {
    const { calls } = machine.execute(issueJoinCredentialsProgram, ...asked, "token");
    const unit = calls.find((call) => call.startsWith("systemd-run")) ?? "";
    assert.match(
      unit,
      / --unit stackadm-approve-abcdef -p RuntimeMaxSec=900 .* approve dev-general-0 abcdef$/,
    );
    const { calls: after } = machine.execute(
      issueJoinCredentialsProgram,
      ...asked,
      "forget abcdef",
    );
    assert.ok(after.includes("systemctl stop --no-block stackadm-approve-abcdef.service"));
  });

  it("issues no token if the approval unit cannot start", () => {
    machine.stub("systemd-run", "exit 1");
    assert.equal(machine.execute(issueJoinCredentialsProgram, ...asked, "token").stdout, "");
  });

  it("approves one request of the token for the node, and stops", () => {
    const { watches, decisions } = decided(`echo node-csr-1 ${own}; echo node-csr-2 ${own}`);
    assert.deepEqual(decisions, ["kubectl certificate approve node-csr-1"]);
    assert.equal(watches.length, 1);
    assert.match(watches[0] ?? "", /signerName=kubernetes.io\/kube-apiserver-client-kubelet /);
    assert.match(
      watches[0] ?? "",
      /eq .spec.username "system:bootstrap:abcdef"\) \(not .status.cond/,
    );
  });

  it("starts another watch if the first one ends without a request", () => {
    const later = `echo x >>$root/looks; [ $(grep -c x $root/looks) = 1 ] || echo node-csr-1 ${own}`;
    const { watches, decisions } = decided(later, 20);
    assert.equal(decisions.length, 1);
    assert.equal(watches.length, 2);
  });

  for (const subject of [
    "CN=system:node:dev-control-plane-0,O=system:nodes",
    "CN=system:node:dev-general-01,O=system:nodes",
    "CN=system:node:dev-general-0",
    "CN=system:node:dev-general-0,O=system:masters",
    "CN=system:node:dev-general-0,O=system:masters,O=system:nodes",
    "CN=system:node:dev-general-0,CN=system:node:other,O=system:nodes",
    "CN=system:node:dev-general-0\\,O=x,O=system:nodes",
    "",
  ])
    it(`denies ${JSON.stringify(subject)}, and approves a later valid request`, () => {
      const { decisions } = decided(`echo bad ${request(subject)}; echo good ${own}`);
      assert.deepEqual(
        decisions,
        ["deny bad", "approve good"].map((words) => `kubectl certificate ${words}`),
      );
    });
});
