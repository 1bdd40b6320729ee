import assert from "node:assert/strict";
import fc from "fast-check";
import { Failure } from "../../../../base/failures/failure.js";
import {
  findEntrySshTarget,
  findHostKey,
  getMachines,
  parseOutputs,
  findSshRoute,
  outputValues,
} from "../../../../automation/verify/cluster-outputs.js";

const node = { name: "c", role: "control plane", zone: "a", address: "10.0.0.10", serverId: "1" };
const outputs = {
  kubeconfig: "k",
  clusterName: "dev",
  apiEndpoint: "https://203.0.113.7:6443",
  nodes: [
    { ...node, sshHost: "203.0.113.7" },
    { ...node, name: "w" },
  ],
  hostKeys: ["203.0.113.7 ssh-ed25519 AAAA1", "10.0.0.11 ssh-ed25519 AAAA2"],
};

describe("parseOutputs", () => {
  it("accepts unknown fields of later versions", () => {
    const { clusterId } = parseOutputs({ ...outputs, clusterId: "x" });
    assert.equal(clusterId, "x");
  });

  it("returns values, secret or not", () => {
    const marked = { a: { value: [1], secret: false }, b: { value: "s", secret: true } };
    assert.deepEqual(outputValues(marked), { a: [1], b: "s" });
  });

  it("accepts outputs without samples", () => {
    assert.equal(parseOutputs({ ...outputs, samples: null }).samples, null);
    assert.equal(parseOutputs(outputs).samples, undefined);
  });

  const refusal = (value: unknown): Failure => {
    try {
      parseOutputs(value);
    } catch (error) {
      assert.ok(error instanceof Failure);
      return error;
    }
    return assert.fail("was accepted");
  };

  it("reports missing outputs in one sentence with the command that creates them", () => {
    const { code, message, hint } = refusal({});
    assert.equal(code, "NOT_READY");
    assert.equal(
      message,
      "The stack has no cluster yet: its outputs lack kubeconfig, clusterName, apiEndpoint, nodes, hostKeys.",
    );
    assert.match(hint, /`stackadm up`/);
  });

  it("reports incomplete outputs by name and without values, which may be secret", () => {
    const { message } = refusal({ ...outputs, clusterName: 7, kubeconfig: ["CANARY"] });
    assert.match(message, /kubeconfig, clusterName\.$/);
    assert.doesNotMatch(message, /CANARY|7/);
  });
});

describe("findHostKey", () => {
  it("returns the key of exactly this host, also among several names on a line", () => {
    const lines = ["dev-0,10.0.0.1 ssh-ed25519 AAAA1 comment", "10.0.0.10 ssh-ed25519 AAAA2"];
    assert.equal(findHostKey(lines, "10.0.0.1"), "ssh-ed25519 AAAA1");
    assert.equal(findHostKey(lines, "dev-0"), "ssh-ed25519 AAAA1");
    assert.equal(findHostKey(lines, "10.0.0.10"), "ssh-ed25519 AAAA2");
  });

  it("returns nothing for a host that is only a prefix of a known one", () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), (known, asked) => {
        const found = findHostKey([`${known} ssh-ed25519 KEY`], asked);
        return (found !== undefined) === (known === asked);
      }),
    );
  });

  it("finds the key in lines edited by the user", () => {
    assert.equal(findHostKey(["", "  h \t ssh-ed25519   K  "], "h"), "ssh-ed25519 K");
  });
});

describe("findEntrySshTarget", () => {
  const login = { user: "debian", agentSocket: "/agent" };

  it("returns the first machine with an SSH address, pinned to its key", () => {
    assert.deepEqual(findEntrySshTarget(parseOutputs(outputs), login), {
      host: "203.0.113.7",
      hostKey: "ssh-ed25519 AAAA1",
      ...login,
    });
  });

  it("uses the machine's user", () => {
    const own = { ...node, sshHost: "203.0.113.7", sshUser: "ubuntu" };
    const target = findEntrySshTarget(parseOutputs({ ...outputs, nodes: [own] }), login);
    assert.equal(target?.user, "ubuntu");
  });

  it("returns the bastion if the cluster has one", () => {
    const bastion = { ...node, name: "b", role: "bastion", sshHost: "203.0.113.7" };
    const etcd = [{ ...node, name: "e", role: "etcd" }];
    const behind = parseOutputs({ ...outputs, nodes: [node], bastion: [bastion], etcd });
    assert.equal(findEntrySshTarget(behind, login)?.host, "203.0.113.7");
    assert.deepEqual(
      getMachines(behind).map(({ name }) => name),
      ["c", "b", "e"],
    );
  });

  it("returns nothing without an address or a known key, and never trusts on first use", () => {
    assert.equal(findEntrySshTarget(parseOutputs({ ...outputs, nodes: [node] }), login), undefined);
    assert.equal(findEntrySshTarget(parseOutputs({ ...outputs, hostKeys: [] }), login), undefined);
  });
});

describe("findSshRoute", () => {
  const login = { user: "debian", agentSocket: "/agent" };
  const machines = [
    { ...node, sshHost: "203.0.113.7", sshUser: "debian" },
    { ...node, name: "d", address: "10.0.0.11", sshHost: "203.0.113.8", sshUser: "ubuntu" },
  ];
  const hostKeys = [
    "c,10.0.0.10,203.0.113.7 ssh-ed25519 AAAAc",
    "d,10.0.0.11,203.0.113.8 ssh-ed25519 AAAAd",
    "w,10.0.0.12 ssh-ed25519 AAAAw",
  ];
  const worker = { ...node, name: "w", address: "10.0.0.12" };
  const wayTo = (more: object, keys = hostKeys) => {
    const known = parseOutputs({
      ...outputs,
      hostKeys: keys,
      nodes: [...machines, { ...worker, ...more }],
    });
    return findSshRoute(known.nodes.at(-1) ?? assert.fail(), known, login);
  };

  it("leads through the jump host in the outputs, not through the first machine with an address", () => {
    assert.deepEqual(wayTo({ sshThrough: "d", sshUser: "core" }), {
      ...login,
      host: "10.0.0.12",
      hostKey: "ssh-ed25519 AAAAw",
      user: "core",
      proxy: { ...login, host: "203.0.113.8", hostKey: "ssh-ed25519 AAAAd", user: "ubuntu" },
    });
  });

  it("returns nothing if a machine on the route is missing or has no known key", () => {
    const without = (name: string): string[] => hostKeys.filter((line) => !line.startsWith(name));
    assert.equal(wayTo({ sshThrough: "d" }, without("w")), undefined);
    assert.equal(wayTo({ sshThrough: "d" }, without("d")), undefined);
    assert.equal(wayTo({ sshThrough: "gone" }), undefined);
  });
});
