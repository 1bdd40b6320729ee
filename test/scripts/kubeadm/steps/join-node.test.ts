import { strict as assert } from "node:assert";
import { joinScripts } from "../../../../components/kubeadm/node-scripts.js";
import {
  boundOf,
  kubeadmSeconds,
  nodeCommands,
  controlPlaneRequests,
  workerValues as values,
} from "../../../support/machine/join-stubs.js";
import { Sandbox } from "../../../support/machine/sandbox.js";
import { nonEmpty } from "../../../support/non-empty.js";

describe("join-node.sh", () => {
  let machine: Sandbox;
  const scripts = joinScripts.map((text) =>
    text.replace("poll 180 report_joined", "poll 1 report_joined"),
  );
  const run = (over: object = {}) => machine.run(scripts, { ...values, ...over });
  const joiner = (ssh: string): Sandbox => {
    const made = new Sandbox({
      ...nodeCommands,
      ssh,
      kubeadm:
        'case "$1" in join) cp "$3" $root/seen; mkdir -p /etc/kubernetes; mkdir -p /etc/kubernetes/pki; echo CA >/etc/kubernetes/pki/ca.crt; touch /etc/kubernetes/kubelet.conf ;; esac',
      cp: 'exec /bin/cp "$@"',
    });
    made.put("etc/hosts", "127.0.0.1 localhost\n");
    return made;
  };
  beforeEach(() => {
    machine = joiner('case "$*" in *token) echo abcdef.0123456789abcdef sha256:abc123 ;; esac');
  });
  afterEach(() => {
    machine.close();
  });

  it("joins once with a token that a control plane creates for the join and deletes afterwards", () => {
    const { code, stdout, stderr, calls } = run();
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '\n@stackadm {"node": "dev-general-0", "kubernetes": "1.36.3"}\n');
    assert.equal(machine.file("seen"), "token: 'abcdef.0123456789abcdef'\n");
    assert.deepEqual(controlPlaneRequests(calls), ["10.0.0.7 token", "10.0.0.7 joined abcdef"]);
    const again = run();
    assert.equal(again.code, 0);
    assert.deepEqual(controlPlaneRequests(again.calls), ["10.0.0.7 joined"]);
    assert.ok(!again.calls.some((call) => call.startsWith("kubeadm")));
  });

  it("allows kubeadm more time than kubeadm's own limits, so that kubeadm reports the cause", () => {
    // kubeadm waits for: discovery, TLS bootstrap, kubelet's health, API calls.
    assert.ok(boundOf(run().calls, "join") > 4 * kubeadmSeconds);
  });

  it("scales kubeadm's limits and the wait for the node by the machine's timeout factor", () => {
    const KUBEADM_JOIN = "token: '@TOKEN@'\ntlsBootstrap: '@TIMEOUT@'\n";
    run({ KUBEADM_JOIN });
    assert.match(machine.file("seen") ?? "", /\ntlsBootstrap: '240s'\n$/);
    machine.close();
    machine = joiner(
      'case "$*" in *token) echo abcdef.0123456789abcdef sha256:abc123 ;; *joined*) exit 1 ;; esac',
    );
    machine.put("var/lib/stackadm/timeout-factor", "3\n");
    const { calls, stderr } = run({ KUBEADM_JOIN });
    assert.match(machine.file("seen") ?? "", /\ntlsBootstrap: '720s'\n$/);
    assert.equal(boundOf(calls, "join"), 3 * 1500);
    assert.match(stderr, /\nreason: \[NOT_READY\] dev-general-0 .* within 540 s; /);
  });

  it("waits for kubelet's serving certificate if serverTLSBootstrap is set", () => {
    const scripts = joinScripts.map((text) => text.replace("poll 120 test -e", "poll 1 test -e"));
    const KUBELET_CONFIGURATION = "serverTLSBootstrap: true\n";
    const refused = machine.run(scripts, { ...values, KUBELET_CONFIGURATION });
    assert.match(refused.stderr, /reason: kubelet of dev-general-0 got no serving certificate/);
    machine.put("var/lib/kubelet/pki/kubelet-server-current.pem");
    assert.equal(run({ KUBELET_CONFIGURATION }).code, 0);
  });

  describe("with kubelet fields", () => {
    const file = "var/lib/kubelet/config.yaml";
    const join = (text: string) =>
      machine.run(
        joinScripts.map((script) =>
          script.replace(/stable_seconds=5 start_seconds=180 restore_seconds=240/, (found) =>
            found.replaceAll(/=\d+/g, "=0"),
          ),
        ),
        { ...values, KUBELET_CONFIGURATION: text },
      );
    beforeEach(() => {
      machine.put(file, "former: 1\n");
      machine.put("wanted", "former: 1\n");
      machine.stub(
        "kubeadm",
        `case "$*" in "upgrade node phase kubelet-config") cp "$root/wanted" /${file} ;; *) ${machine.bodyOf("kubeadm")} ;; esac`,
      );
      machine.stub("curl", `grep -q broken /${file} || printf ok`);
      machine.stub("journalctl", "echo 'Error: broken field'");
    });
    const restarted = (calls: readonly string[]): boolean =>
      calls.includes("systemctl restart kubelet");

    it("uses the fields of the join, and applies later changes of the cluster's fields", () => {
      const first = join("maxPods: 1\n");
      assert.equal(first.code, 0, first.stderr);
      assert.ok(!first.calls.some((call) => call.startsWith("kubeadm upgrade")));
      machine.put("wanted", "maxPods: 2\n");
      const later = join("maxPods: 2\n");
      assert.equal(later.code, 0, later.stderr);
      assert.ok(restarted(later.calls));
      assert.equal(machine.file(file), "maxPods: 2\n");
      assert.ok(!join("maxPods: 2\n").calls.some((call) => call.startsWith("kubeadm")));
    });

    it("applies the cluster's fields after a join that an interrupted run started", () => {
      const joining = machine.bodyOf("kubeadm");
      machine.stub("kubeadm", "exit 1");
      assert.equal(join("maxPods: 1\n").code, 1);
      // The interrupted join succeeded later, with the cluster's configuration of that time.
      machine.put("var/lib/stackadm/join.done");
      machine.put("etc/kubernetes/pki/ca.crt", "CA\n");
      machine.put(file, "maxPods: 1\n");
      machine.stub("kubeadm", joining);
      const { code, stderr, calls } = join("");
      assert.equal(code, 0, stderr);
      assert.ok(restarted(calls));
      assert.equal(machine.file(file), "former: 1\n");
      assert.ok(!join("").calls.some((call) => call.startsWith("kubeadm")));
    });

    it("restores the former fields if kubelet fails with others, and reports kubelet's error", () => {
      join("maxPods: 1\n");
      machine.put("wanted", "broken\n");
      const { code, stderr } = join("broken\n");
      assert.equal(code, 1);
      assert.match(
        stderr,
        /reason: \[CONFIGURATION_UNDONE\] kubernetes\.kubelet: kubelet of dev-general-0 .* it said: Error: broken field\n$/,
      );
      assert.equal(machine.file(file), "former: 1\n");
    });
  });

  it("runs the user's afterKubeadm step in each run, once the node exists", () => {
    const step = "if [ $1 ]; then exit 1; fi\necho $(ssh own step)\n";
    for (const { code, calls, stdout } of [1, 2].map(() => run({ AFTER_KUBEADM: step }))) {
      assert.equal(code, 0);
      assert.equal(calls.at(-1), "ssh own step");
      assert.equal(stdout, '\n@stackadm {"node": "dev-general-0", "kubernetes": "1.36.3"}\n');
    }
  });

  it("fails if the afterKubeadm step fails, and reports the path of the step's output", () => {
    const { code, stderr } = run({ AFTER_KUBEADM: "echo why >&2\nexit 7\n" });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /\nwhy\nreason: steps\.afterKubeadm ended with code 7 on machine; its out/,
    );
  });

  it("fails while the node is not Ready, and checks again without joining in the next run", () => {
    const ssh = (answer: string): void => {
      machine.stub(
        "ssh",
        `case "$*" in *token) echo abcdef.0123456789abcdef sha256:abc123 ;; *) ${answer} ;; esac`,
      );
    };
    ssh("exit 1");
    for (const { code, stderr, stdout } of [run(), run()]) {
      assert.equal(code, 1);
      assert.equal(stdout, "");
      assert.match(stderr, /dev-general-0 joined, but did not become Ready within 180 s; kubectl/);
    }
    // prepare.sh started to pull these images. The reason names the first missing image, usually
    // an image of the pod network.
    machine.put("run/stackadm/images", "r/present:1\n\nr.example/network:1\n");
    machine.stub(
      "crictl",
      'case "$*" in images*present*) echo sha256:1 ;; pull*) echo "FATA[0001] pulling image: 429 Too Many Requests"; exit 1 ;; esac',
    );
    assert.match(
      run().stderr,
      /and the next up looks again; r\.example\/network:1 cannot be pulled: 429 Too Many Requests; run the same command again later, .*, or write a mirror, or a user and a password, in kubernetes\.registries\["r\.example"\]\n$/,
    );
    machine.put("run/stackadm/images", "r/present:1\n");
    assert.match(run().stderr, /and the next up looks again\n$/);
    ssh("exit 0");
    const { code, calls } = run();
    assert.equal(code, 0);
    assert.ok(!calls.some((call) => call.startsWith("kubeadm")));
  });

  it("leaves no key and no token on the machine", () => {
    run();
    assert.equal(machine.file("run/stackadm/join/key"), undefined);
    assert.equal(machine.file("run/stackadm/kubeadm.yaml"), undefined);
    assert.doesNotMatch(machine.file("var/log/stackadm/join.log") ?? "", /CANARY|0123456789abcdef/);
  });

  it("passes no secret as an argument", () => {
    for (const call of nonEmpty(run().calls)) assert.doesNotMatch(call, /CANARY|0123456789abcdef/);
  });

  it("accepts only the control plane's own host key", () => {
    const options = run().calls.find((call) => call.startsWith("ssh")) ?? "";
    assert.match(options, /StrictHostKeyChecking=yes/);
    assert.match(options, /UserKnownHostsFile=[^ ]*join\/known_hosts/);
  });

  it("reports kubeadm's error, and leaves no key and no token", () => {
    machine.stub("kubeadm", 'echo "error: discovery: no answer" >&2; exit 1');
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(stderr, /\nreason: kubeadm join failed on dev-general-0: discovery: no answer\n$/);
    assert.equal(machine.file("run/stackadm/join/key"), undefined);
    assert.doesNotMatch(stderr, /CANARY|0123456789abcdef/);
  });

  it("resets the machine after a partial join", () => {
    machine.put("etc/kubernetes/bootstrap-kubelet.conf");
    assert.ok(run().calls.includes("kubeadm reset -f"));
  });

  it("writes the API's addresses to /etc/hosts, and follows changes of the endpoint", () => {
    run();
    assert.equal(
      machine.file("etc/hosts"),
      "127.0.0.1 localhost\n10.0.0.7 api.dev.internal # stackadm\n10.0.0.8 api.dev.internal # stackadm\n",
    );
    machine.stub(
      "crictl",
      'case "$*" in "ps"*kube-proxy*) echo proxy ;; "pods "*--label*) printf "%s\\n" one other ;; *--pod*) echo "of-$4" ;; esac',
    );
    machine.stub("xargs", 'echo "$* $(cat | tr "\\n" " ")" >>$root/stopped');
    machine.run(joinScripts, { ...values, API_ADDRESSES: "10.0.0.9" });
    assert.equal(
      machine.file("etc/hosts"),
      "127.0.0.1 localhost\n10.0.0.9 api.dev.internal # stackadm\n",
    );
    // A running container keeps the file's content from the container's start.
    assert.equal(machine.file("stopped"), "-r timeout 60 crictl stop proxy of-one of-other \n");
  });

  it("replaces the script's own lines after cloud-init rewrote /etc/hosts", () => {
    run();
    // cloud-init 22.4 to 26.1 writes lines in this form: a tab between names, no space before a
    // comment.
    machine.put("etc/hosts", "127.0.0.1\tlocalhost\n10.0.0.7\tapi.dev.internal# stackadm\n");
    const { calls } = machine.run(joinScripts, { ...values, API_ADDRESSES: "10.0.0.9" });
    assert.equal(
      machine.file("etc/hosts"),
      "127.0.0.1\tlocalhost\n10.0.0.9 api.dev.internal # stackadm\n",
    );
    assert.ok(calls.some((call) => call.startsWith("crictl ps")));
  });

  it("adds no line to /etc/hosts if the endpoint has no address", () => {
    machine.run(joinScripts, { ...values, API_ADDRESSES: "" });
    assert.equal(machine.file("etc/hosts"), "127.0.0.1 localhost\n");
  });

  it("resets the machine and joins again if the cluster's CA changed", () => {
    run();
    machine.stub("openssl", 'case "$*" in dgst*) echo "def456 *stdin" ;; *) cat ;; esac');
    machine.stub("ssh", 'case "$*" in *token) echo abcdef.0123456789abcdef sha256:abc124 ;; esac');
    const { calls } = machine.run(joinScripts, { ...values, CA_CERT_HASH: "sha256:abc124" });
    const deeds = calls.filter((call) => call.startsWith("kubeadm"));
    assert.match(deeds.join("\n"), /^kubeadm reset -f\nkubeadm join/);
  });

  it("refuses to join another cluster", () => {
    machine.stub("ssh", 'case "$*" in *token) echo abcdef.0123456789abcdef sha256:bad ;; esac');
    const { code, stderr, calls } = run();
    assert.equal(code, 1);
    assert.match(stderr, /the control plane at 10\.0\.0\.7 belongs to another cluster/);
    assert.ok(!calls.some((call) => call.startsWith("kubeadm")));
  });
});
