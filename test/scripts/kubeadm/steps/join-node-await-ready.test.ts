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
});
