import { strict as assert } from "node:assert";
import { etcdQuorumScripts } from "../../../components/etcd/member-scripts.js";
import { Sandbox } from "../../support/machine/sandbox.js";

const values = { NODE_NAME: "dev-etcd-1", LEAVING_ADDRESS: "10.0.0.6" };
const line = (position: number, learner = false): string => {
  const [name, address] = [`dev-etcd-${String(position)}`, `10.0.0.${String(5 + position)}`];
  return `id${String(position)}, started, ${name}, https://${address}:2380, https://${address}:2379, ${String(learner)}`;
};

describe("check-etcd-quorum.sh", () => {
  /** Runs check-etcd-quorum.sh with these members; those in `ill` are unhealthy. */
  const leave = (members: readonly string[], ill: readonly string[] = []) => {
    const sick = ill.map((address) => `*"=https://${address}:2379"*"endpoint health"*) exit 1 ;;`);
    const machine = new Sandbox({
      crictl: `case "$*" in ps*) echo c0ffee ;; *"member list"*) printf '${members.join("\\n")}\\n' ;; ${sick.join(" ")} esac`,
    });
    try {
      const atOnce = etcdQuorumScripts.map((text) =>
        text.replace("poll 120 keeps_quorum", "keeps_quorum"),
      );
      return machine.run(atOnce, values);
    } finally {
      machine.close();
    }
  };
  const three = [0, 1, 2].map((position) => line(position));
  const changes = (calls: readonly string[]): readonly string[] =>
    calls.filter((call) => /member (remove|add|promote)/.test(call));

  it("allows the removal if the other healthy members keep the majority, and changes no member", () => {
    const { code, stdout, stderr, calls } = leave(three);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '\n@stackadm {"left": "dev-etcd-1"}\n');
    assert.deepEqual(changes(calls), []);
    assert.ok(
      !calls.some((call) => call.includes("=https://10.0.0.6:2379")),
      "no request goes to it",
    );
    assert.equal(leave([...three, line(3), line(4)], ["10.0.0.9"]).code, 0, "one of five is ill");
  });

  it("refuses the removal if the other healthy members would lose the majority", () => {
    for (const [members, ill] of [
      [three, ["10.0.0.7"]],
      [[line(0), line(1)], []],
      [[line(0), line(1), line(2, true)], []],
    ] as const) {
      const { code, stderr } = leave(members, ill);
      assert.equal(code, 1);
      assert.match(
        stderr,
        /reason: etcd would have no majority: of its [23] members 1 are well without it, so dev-etcd-1 keeps its server; bring its other members up and run up again\n$/,
      );
    }
  });

  it("allows the removal of a machine that is not a member", () => {
    assert.equal(leave([line(0), line(2)]).code, 0);
  });

  it("refuses the removal if etcd does not list the members", () => {
    const machine = new Sandbox({ crictl: 'case "$1" in ps) echo c0ffee ;; *) exit 1 ;; esac' });
    try {
      const atOnce = etcdQuorumScripts.map((text) =>
        text.replace("poll 120 keeps_quorum", "keeps_quorum"),
      );
      const { code, stderr } = machine.run(atOnce, values);
      assert.equal(code, 1);
      assert.match(stderr, /reason: etcd does not say who its members are, so dev-etcd-1 keeps/);
    } finally {
      machine.close();
    }
  });
});
