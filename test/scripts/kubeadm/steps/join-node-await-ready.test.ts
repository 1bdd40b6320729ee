import { strict as assert } from "node:assert";
import { joinScripts } from "../../../../components/kubeadm/node-scripts.js";
import {
  nodeCommands,
  controlPlaneRequests,
  workerValues,
} from "../../../support/machine/join-stubs.js";
import { Sandbox } from "../../../support/machine/sandbox.js";

describe("the wait for a joined node", () => {
  let machine: Sandbox;
  const scripts = joinScripts.map((text) =>
    text.replace("poll 180 report_joined", "poll 10 report_joined"),
  );
  const run = () => machine.run(scripts, workerValues);
  const answer = (joined: string): void => {
    machine.stub(
      "ssh",
      `case "$*" in *token) echo abcdef.0123456789abcdef sha256:abc123 ;; *) ${joined} ;; esac`,
    );
  };
  beforeEach(() => {
    machine = new Sandbox({
      ...nodeCommands,
      kubeadm:
        'case "$1" in join) mkdir -p /etc/kubernetes/pki; echo CA >/etc/kubernetes/pki/ca.crt; touch /etc/kubernetes/kubelet.conf ;; esac',
      cp: 'exec /bin/cp "$@"',
    });
    machine.put("etc/hosts", "127.0.0.1 localhost\n");
  });
  afterEach(() => {
    machine.close();
  });

  for (const [code, what] of [
    [1, "does not see the node Ready yet"],
    [69, "has an API server that does not answer"],
    [124, "does not answer in time"],
    [255, "cannot be reached"],
  ] as const)
    it(`retries if a control plane ${what}`, () => {
      answer(`[[ -e $root/asked ]] || { touch $root/asked; exit ${code}; }`);
      const { code: ended, calls, stderr } = run();
      assert.equal(ended, 0, stderr);
      assert.equal(controlPlaneRequests(calls).filter((wish) => wish.includes("joined")).length, 2);
    });

  it("fails if no control plane answers", () => {
    answer("exit 255");
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(stderr, /no control plane says whether dev-general-0 is Ready/);
  });

  describe("of a node that a control plane keeps out of load balancers", () => {
    const keptOut = "printf 'kept-out\\n10.244.0.0\\n10.244.1.0\\n'";
    const requests = (calls: readonly string[]): string[] =>
      calls.filter((call) => call.startsWith("ip ") || / serve$/.test(call));
    beforeEach(() => {
      answer(`case "$*" in *joined*) ${keptOut} ;; esac`);
    });

    it("asks to add the node when it has a route to the pods of each other node", () => {
      machine.stub(
        "ip",
        'echo x >>$root/looks; [[ $(grep -c x $root/looks) != 2 ]] || { echo "RTNETLINK answers: Host is unreachable" >&2; exit 2; }',
      );
      const { code, calls, stderr } = run();
      assert.equal(code, 0, stderr);
      const asked = requests(calls);
      assert.deepEqual(asked.slice(0, -1), [
        "ip route get 10.244.0.0",
        "ip route get 10.244.1.0",
        "ip route get 10.244.0.0",
        "ip route get 10.244.1.0",
      ]);
      assert.match(asked.at(-1) ?? "", /stackadm-join@10\.0\.0\.7 serve$/);
      assert.doesNotMatch(stderr, /takes traffic nevertheless/);
    });

    it("adds the node after a minute without routes, and says so", () => {
      machine.stub("ip", "exit 2");
      const { code, calls, stderr } = run();
      assert.equal(code, 0, stderr);
      assert.match(stderr, /dev-general-0 has no route to the pods of all other nodes after 60 s/);
      assert.match(requests(calls).at(-1) ?? "", / serve$/);
    });

    it("looks for no routes if the pod network sets none", () => {
      const { code, calls } = machine.run(scripts, { ...workerValues, POD_ROUTES: "" });
      assert.equal(code, 0);
      assert.deepEqual(requests(calls).length, 1);
    });

    it("fails if no control plane adds the node, so that the next run asks again", () => {
      machine.stub("ip", "exit 0");
      answer(`case "$*" in *joined*) ${keptOut} ;; *serve*) exit 69 ;; esac`);
      const quick = scripts.map((text) => text.replace("poll 180 ask_peers", "poll 2 ask_peers"));
      const { code, stderr } = machine.run(quick, workerValues);
      assert.equal(code, 1);
      assert.match(
        stderr,
        /reason: \[KUBERNETES_UNREACHABLE\] no control plane adds dev-general-0 to the load balancers/,
      );
    });
  });
});
